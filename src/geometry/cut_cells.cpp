#include "geometry/cut_cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/parallel.h"

namespace flotsam {

namespace {

// Coverage of the pixels of a rectangle by closed outlines with the inside on their left.
class Coverage {
  public:
    Coverage(int width, int height)
        : width_(width),
          height_(height),
          local_(std::size_t(width) * height),
          cover_(std::size_t(width + 1) * height) {}

    void add(double x0, double y0, double x1, double y1) {
        const double low = std::max(0.0, std::min(y0, y1)),
                     high = std::min(double(height_), std::max(y0, y1));
        if (low >= high) return;
        const double slope = (x1 - x0) / (y1 - y0), sign = y1 > y0 ? 1 : -1;
        const auto x_at = [&](double y) { return x0 + (y - y0) * slope; };
        for (int row = int(low); row < height_ && row < high; ++row) {
            const double ya = std::max(low, double(row)), yb = std::min(high, double(row + 1));
            if (yb > ya) add_in_row(row, x_at(ya), x_at(yb), sign * (yb - ya));
        }
    }
    // Covered share of each pixel, row by row.
    template <class Visit>
    void finish(const Visit& visit) const {
        for (int row = 0; row < height_; ++row) {
            double right = cover_[row * (width_ + 1) + width_];
            for (int i = width_ - 1; i >= 0; --i) {
                visit(i, row, std::clamp(right + local_[row * width_ + i], 0.0, 1.0));
                right += cover_[row * (width_ + 1) + i];
            }
        }
    }

  private:
    // A piece of outline within one row, from xa to xb, that rises by dy.
    void add_in_row(int row, double xa, double xb, double dy) {
        const double left = std::min(xa, xb), right = std::max(xa, xb);
        if (right <= 0) return;
        if (left >= width_) {
            cover_[row * (width_ + 1) + width_] += dy;
            return;
        }
        const int first = std::max(0, int(std::floor(left))), last = std::min(width_, int(std::floor(right)));
        for (int i = std::min(first, width_); i <= last; ++i) {
            const double a = i == first ? left : double(i), b = i == last ? right : double(i + 1);
            const double share = right > left ? (b - a) / (right - left) : 1;
            if (share <= 0) continue;
            const double rise = dy * share;
            if (i < width_) local_[row * width_ + i] += rise * std::clamp(0.5 * (a + b) - i, 0.0, 1.0);
            cover_[row * (width_ + 1) + i] += rise;
        }
    }

    int width_, height_;
    std::vector<double> local_, cover_;
};

using Polygon = std::vector<Vec3>;

// The part of a polygon with coordinate `axis` below (or not below) `plane`.
void clip(const Polygon& in, int axis, double plane, bool below, Polygon& out) {
    out.clear();
    for (std::size_t i = 0; i < in.size(); ++i) {
        const Vec3 a = in[i], b = in[(i + 1) % in.size()];
        const bool a_in = (a[axis] < plane) == below, b_in = (b[axis] < plane) == below;
        if (a_in) out.push_back(a);
        if (a_in != b_in) {
            Vec3 cut = a + (b - a) * ((plane - a[axis]) / (b[axis] - a[axis]));
            cut[axis] = plane;
            out.push_back(cut);
        }
    }
}

// Calls visit(index, piece) for the pieces of a polygon between integer planes along an axis, within [low,
// high).
template <class Visit>
void slice(Polygon polygon, int axis, int low, int high, const Visit& visit) {
    double least = 1e300, most = -1e300;
    for (const Vec3 v : polygon) least = std::min(least, v[axis]), most = std::max(most, v[axis]);
    Polygon piece, rest;
    const int first = std::max(low, int(std::floor(least))), last = std::min(high - 1, int(std::floor(most)));
    if (least < low) clip(polygon, axis, low, false, rest), polygon.swap(rest);
    for (int i = first; i <= last && polygon.size() >= 3; ++i) {
        clip(polygon, axis, i + 1, true, piece);
        clip(polygon, axis, i + 1, false, rest);
        if (piece.size() >= 3) visit(i, piece);
        polygon.swap(rest);
    }
}

struct Section {
    double x0, y0, x1, y1;
};

}  // namespace

CutSolid cut_solid(const TriangleMesh& mesh, Int3 cells, double h) {
    CutSolid cut;
    const Box box = bounds(mesh);
    for (int a = 0; a < 3; ++a) {
        cut.low[a] = std::clamp(int(std::floor(box.low[a] / h)) - 1, 0, cells[a]);
        cut.size[a] = std::clamp(int(std::floor(box.high[a] / h)) + 2, 0, cells[a]) - cut.low[a];
    }
    if (mesh.triangles.empty() || cut.size.x <= 0 || cut.size.y <= 0 || cut.size.z <= 0) {
        cut.size = {0, 0, 0};
        for (auto& f : cut.face) f.assign(1, 0.0);
        cut.volume.assign(1, 0.0);
        return cut;
    }
    const std::size_t values = cut.index({0, 0, cut.size.z + 1});
    for (auto& f : cut.face) f.assign(values, 0.0);
    cut.volume.assign(values, 0.0);

    std::vector<Vec3> vertex(mesh.vertices.size());  // in cells, from the corner of the box
    for (std::size_t v = 0; v < vertex.size(); ++v) vertex[v] = mesh.vertices[v] / h - Vec3(cut.low);

    // Faces: sections of the mesh with each family of grid planes, inside on the left seen from the high
    // side.
    for (int axis = 0; axis < 3; ++axis) {
        const int b = (axis + 1) % 3, c = (axis + 2) % 3;
        std::vector<std::vector<Section>> sections(cut.size[axis] + 1);
        for (const Int3 t : mesh.triangles) {
            const int corner[3] = {t.x, t.y, t.z};
            double least = 1e300, most = -1e300;
            for (const int v : corner)
                least = std::min(least, vertex[v][axis]), most = std::max(most, vertex[v][axis]);
            for (int plane = std::max(0, int(std::ceil(least)));
                 plane <= std::min(double(cut.size[axis]), std::floor(most)); ++plane) {
                Vec3 up, down;
                bool crossed = false;
                for (int e = 0; e < 3; ++e) {
                    // Both triangles of an edge must find the same point to the last bit: go from the lower
                    // index.
                    const int from = corner[e], to = corner[(e + 1) % 3];
                    const bool from_above = vertex[from][axis] >= plane, to_above = vertex[to][axis] >= plane;
                    if (from_above == to_above) continue;
                    const Vec3 p = vertex[std::min(from, to)], q = vertex[std::max(from, to)];
                    (to_above ? up : down) = p + (q - p) * ((plane - p[axis]) / (q[axis] - p[axis]));
                    crossed = true;
                }
                if (crossed) sections[plane].push_back({down[b], down[c], up[b], up[c]});
            }
        }
        parallel_for(cut.size[axis] + 1, 1, [&](std::int64_t plane) {
            if (sections[plane].empty()) return;
            Coverage coverage(cut.size[b], cut.size[c]);
            for (const Section& s : sections[plane]) coverage.add(s.x0, s.y0, s.x1, s.y1);
            coverage.finish([&](int i, int j, double share) {
                Int3 at;
                at[axis] = int(plane);
                at[b] = i;
                at[c] = j;
                cut.face[axis][cut.index(at)] = share;
            });
        });
    }

    // Cells: pieces of triangles within each; a piece adds its projection along x to all cells on its low
    // side.
    std::vector<double> projected(values, 0.0);
    std::map<std::tuple<int, int, int>, Patch> patches;
    Polygon triangle;
    for (const Int3 t : mesh.triangles) {
        triangle.assign({vertex[t.x], vertex[t.y], vertex[t.z]});
        slice(triangle, 2, 0, cut.size.z, [&](int k, const Polygon& in_z) {
            slice(in_z, 1, 0, cut.size.y, [&](int j, const Polygon& in_y) {
                // Along x nothing may be lost: what lies beyond the box's high side still covers the cells
                // before it.
                slice(in_y, 0, -(1 << 28), 1 << 28, [&](int i, const Polygon& piece) {
                    Vec3 area;
                    std::array<Vec3, 3> moment{};
                    for (std::size_t v = 1; v + 1 < piece.size(); ++v) {
                        const Vec3 part = 0.5 * cross(piece[v] - piece[0], piece[v + 1] - piece[0]);
                        const Vec3 center = (piece[0] + piece[v] + piece[v + 1]) / 3.0;
                        area += part;
                        for (int d = 0; d < 3; ++d) moment[d] += part * center[d];
                    }
                    if (i < 0) return;
                    if (i >= cut.size.x) {
                        projected[cut.index({cut.size.x, j, k})] += area.x;
                        return;
                    }
                    const std::size_t n = cut.index({i, j, k});
                    projected[n] += area.x;
                    cut.volume[n] += moment[0].x - i * area.x;
                    Patch& patch = patches[{k, j, i}];
                    patch.area += area;
                    for (int d = 0; d < 3; ++d)
                        for (int a = 0; a < 3; ++a)
                            patch.moment[area[a] > 0][d][a] += moment[d][a] + area[a] * double(cut.low[d]);
                });
            });
        });
    }
    for (int k = 0; k < cut.size.z; ++k)
        for (int j = 0; j < cut.size.y; ++j) {
            double right = projected[cut.index({cut.size.x, j, k})];
            for (int i = cut.size.x - 1; i >= 0; --i) {
                double& share = cut.volume[cut.index({i, j, k})];
                share = std::clamp(share + right, 0.0, 1.0);
                right += projected[cut.index({i, j, k})];
            }
        }
    for (auto& [key, patch] : patches) {
        patch.cell = cut.low + Int3{std::get<2>(key), std::get<1>(key), std::get<0>(key)};
        patch.area *= h * h;
        for (auto& facing : patch.moment)
            for (Vec3& row : facing) row *= h * h * h;
        cut.patches.push_back(patch);
    }
    return cut;
}

}  // namespace flotsam
