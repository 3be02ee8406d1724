#include "geometry/cut_cells.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "core/check.h"
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

// A triangle cut by the six planes of a cell has at most nine corners.
struct Polygon {
    std::array<Vec3, 10> corner;
    int size = 0;
    void add(Vec3 p) { corner[size++] = p; }
};

// Divides a polygon at the plane coordinate `axis` = `plane`; either part may be empty.
void divide(const Polygon& in, int axis, double plane, Polygon& below, Polygon& above) {
    below.size = above.size = 0;
    for (int i = 0; i < in.size; ++i) {
        const Vec3 a = in.corner[i], b = in.corner[i + 1 < in.size ? i + 1 : 0];
        const bool a_below = a[axis] < plane, b_below = b[axis] < plane;
        (a_below ? below : above).add(a);
        if (a_below == b_below) continue;
        Vec3 cut = a + (b - a) * ((plane - a[axis]) / (b[axis] - a[axis]));
        cut[axis] = plane;
        below.add(cut);
        above.add(cut);
    }
}

struct Range {
    double low = 1e300, high = -1e300;
    void include(double x) { low = std::min(low, x), high = std::max(high, x); }
};
Range range_along(const Polygon& polygon, int axis) {
    Range range;
    for (int i = 0; i < polygon.size; ++i) range.include(polygon.corner[i][axis]);
    return range;
}

// Calls visit(index, piece) for the pieces of a polygon between integer planes along an axis, within [0,
// count), and visit(count, piece) for the part beyond.
template <class Visit>
void slice(Polygon polygon, int axis, int count, const Visit& visit) {
    const Range range = range_along(polygon, axis);
    if (range.high < 0) return;
    Polygon piece, rest;
    if (range.low < 0) {
        divide(polygon, axis, 0, piece, rest);
        polygon = rest;
    }
    int i = int(std::clamp(std::floor(range.low), 0.0, double(count)));
    for (; i < count && range.high >= i + 1; ++i) {
        divide(polygon, axis, i + 1, piece, rest);
        if (piece.size >= 3) visit(i, piece);
        polygon = rest;
    }
    if (polygon.size >= 3) visit(i, polygon);
}

// The triangles that reach each of `count` layers, in order; layers_of(triangle) gives the first and the
// last.
class Layers {
  public:
    template <class LayersOf>
    Layers(int count, std::size_t triangles, const LayersOf& layers_of) : first_(count + 1, 0) {
        for (std::size_t t = 0; t < triangles; ++t) {
            const auto [low, high] = layers_of(t);
            for (int i = std::max(0, low); i <= std::min(count - 1, high); ++i) ++first_[i + 1];
        }
        for (int i = 0; i < count; ++i) first_[i + 1] += first_[i];
        triangles_.resize(first_[count]);
        std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
        for (std::size_t t = 0; t < triangles; ++t) {
            const auto [low, high] = layers_of(t);
            for (int i = std::max(0, low); i <= std::min(count - 1, high); ++i)
                triangles_[next[i]++] = int(t);
        }
    }
    std::span<const int> operator[](std::int64_t i) const {
        return std::span(triangles_).subspan(first_[i], first_[i + 1] - first_[i]);
    }

  private:
    std::vector<std::size_t> first_;
    std::vector<int> triangles_;
};

// The first and the last layer that a range reaches, safe for numbers of any size.
std::pair<int, int> floors(Range r) {
    const auto bounded = [](double x) { return int(std::clamp(std::floor(x), -1e9, 1e9)); };
    return {bounded(r.low), bounded(r.high)};
}

// The motion of a triangle: velocities are linear on it.
class TriangleMotion {
  public:
    TriangleMotion(const std::array<Vec3, 3>& corner, const std::array<Vec3, 3>& velocity, double time)
        : corner_(corner), velocity_(velocity) {
        normal_ = cross(corner[1] - corner[0], corner[2] - corner[0]);
        const double square = dot(normal_, normal_);
        if (square == 0) return;
        inverse_square_ = 1 / square;
        // The area vector is quadratic in time, because the triangle turns and stretches: Simpson's rule
        // gives its exact mean.
        const auto area_at = [&](double t) {
            const Vec3 a = corner[0] + velocity[0] * t;
            return cross(corner[1] + velocity[1] * t - a, corner[2] + velocity[2] * t - a);
        };
        const Vec3 mean = (normal_ + 4.0 * area_at(0.5 * time) + area_at(time)) / 6.0;
        extra_ = dot((velocity[0] + velocity[1] + velocity[2]) / 3.0, mean - normal_) * inverse_square_;
    }
    // Volume per time swept by a part with this area vector and centre: at its initial velocity, plus its
    // share of what the turning and stretching of the triangle adds.
    double swept(Vec3 area, Vec3 center) const {
        const Vec3 from = center - corner_[0];
        const double b = dot(cross(from, corner_[2] - corner_[0]), normal_) * inverse_square_;
        const double c = dot(cross(corner_[1] - corner_[0], from), normal_) * inverse_square_;
        const Vec3 v = velocity_[0] + b * (velocity_[1] - velocity_[0]) + c * (velocity_[2] - velocity_[0]);
        return dot(v, area) + extra_ * dot(area, normal_);
    }

  private:
    std::array<Vec3, 3> corner_, velocity_;
    Vec3 normal_;
    double inverse_square_ = 0, extra_ = 0;
};

// Barycentric weights on a triangle.
class CornerWeights {
  public:
    explicit CornerWeights(const std::array<Vec3, 3>& corner) : corner_(corner) {
        normal_ = cross(corner[1] - corner[0], corner[2] - corner[0]);
        const double square = dot(normal_, normal_);
        inverse_square_ = square > 0 ? 1 / square : 0;
    }
    Vec3 at(Vec3 p) const {
        const Vec3 from = p - corner_[0];
        const double b = dot(cross(from, corner_[2] - corner_[0]), normal_) * inverse_square_;
        const double c = dot(cross(corner_[1] - corner_[0], from), normal_) * inverse_square_;
        return {1 - b - c, b, c};
    }

  private:
    std::array<Vec3, 3> corner_;
    Vec3 normal_;
    double inverse_square_;
};

// Divides a polygon of a triangle among the triangle's corners: exact integrals of products of linear
// functions.
SurfacePiece divide_among_corners(const CornerWeights& weights, const Polygon& polygon) {
    SurfacePiece piece;
    double all = 0;
    std::array<Vec3, 10> at;
    for (int v = 0; v < polygon.size; ++v) at[v] = weights.at(polygon.corner[v]);
    for (int v = 1; v + 1 < polygon.size; ++v) {
        const int corner[3] = {0, v, v + 1};
        const Vec3 part =
            0.5 * cross(polygon.corner[v] - polygon.corner[0], polygon.corner[v + 1] - polygon.corner[0]);
        const double size = length(part);
        piece.area += part;
        all += size;
        Vec3 weight, place;
        for (const int c : corner) weight += at[c], place += polygon.corner[c];
        piece.weight += weight * (size / 3);
        for (int k = 0; k < 3; ++k) {
            Vec3 sum = place * weight[k];
            for (const int c : corner) sum += polygon.corner[c] * at[c][k];
            piece.moment[k] += sum * (size / 12);
        }
    }
    if (all > 0) {
        piece.weight = piece.weight / all;
        for (Vec3& m : piece.moment) m = m / all;
    }
    return piece;
}

// The mesh that is cut, in units of cells from the corner of the solid's box.
struct CellMesh {
    const std::vector<Int3>& triangles;
    std::vector<Vec3> vertex, velocity;
    double time;

    std::array<Vec3, 3> corners(const std::vector<Vec3>& of, int t) const {
        const Int3 v = triangles[t];
        return {of[v.x], of[v.y], of[v.z]};
    }
    Range range(std::size_t t, int axis) const {
        Range range;
        for (const int v : {triangles[t].x, triangles[t].y, triangles[t].z}) range.include(vertex[v][axis]);
        return range;
    }
};

// What lies in a side of the grid belongs to nobody: vertices on a side count as beyond it. Otherwise the low
// sides would push a solid that ends at them, and the high sides would not.
void leave_to_sides(CellMesh& mesh, Int3 low, Int3 cells) {
    // In cells: the coordinates of mesh files have seven digits.
    constexpr double touching = 1e-4;
    for (Vec3& v : mesh.vertex)
        for (int a = 0; a < 3; ++a) {
            const double to_low = v[a] + low[a], to_high = cells[a] - to_low;
            if (std::abs(to_low) < touching) v[a] = -low[a] - touching;
            if (std::abs(to_high) < touching) v[a] = cells[a] - low[a];
        }
}

// Sections of the mesh with each plane of a family, inside on the left seen from the high side.
void cover_faces(const CellMesh& mesh, int axis, CutSolid& cut) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    const Layers planes(cut.size[axis] + 1, mesh.triangles.size(),
                        [&](std::size_t t) { return floors(mesh.range(t, axis)); });
    parallel_for(cut.size[axis] + 1, 1, [&](std::int64_t plane) {
        if (planes[plane].empty()) return;
        Coverage coverage(cut.size[b], cut.size[c]);
        for (const int t : planes[plane]) {
            const int corner[3] = {mesh.triangles[t].x, mesh.triangles[t].y, mesh.triangles[t].z};
            Vec3 up, down;
            bool crossed = false;
            for (int e = 0; e < 3; ++e) {
                // Both triangles of an edge must find the same point to the last bit: start from the lower
                // index.
                const int from = corner[e], to = corner[(e + 1) % 3];
                const bool to_above = mesh.vertex[to][axis] >= double(plane);
                if ((mesh.vertex[from][axis] >= double(plane)) == to_above) continue;
                const Vec3 p = mesh.vertex[std::min(from, to)], q = mesh.vertex[std::max(from, to)];
                (to_above ? up : down) = p + (q - p) * ((double(plane) - p[axis]) / (q[axis] - p[axis]));
                crossed = true;
            }
            if (crossed) coverage.add(down[b], down[c], up[b], up[c]);
        }
        coverage.finish([&](int i, int j, double share) {
            Int3 at;
            at[axis] = int(plane);
            at[b] = i;
            at[c] = j;
            cut.face[axis][cut.index(at)] = share;
        });
    });
}

// Adds the integrals of x_d (x cross n) over a triangle, x counted from -`low`: the mean of x_d x over it is
// that of its corners and, three times as heavy, of its centre.
void add_turning(std::array<Vec3, 3>& turning, std::array<Vec3, 3> corner, Vec3 area, Vec3 low) {
    for (Vec3& x : corner) x += low;
    const Vec3 sum = corner[0] + corner[1] + corner[2];
    for (int d = 0; d < 3; ++d) {
        Vec3 mean = sum * sum[d];
        for (const Vec3 x : corner) mean += x * x[d];
        turning[d] += cross(mean / 12.0, area);
    }
}

// One layer of cells along z: pieces of triangles within each cell; a piece adds its projection along x to
// all cells on its low side. Returns the extremes of the cells' shares.
Range cut_layer(const CellMesh& mesh, std::span<const int> triangles, int k, CutSolid& cut,
                std::vector<Patch>& patches, std::vector<SurfacePiece>* pieces) {
    const int nx = cut.size.x, ny = cut.size.y;
    std::vector<double> projected(std::size_t(nx + 1) * ny, 0.0);
    std::vector<int> patch_at(std::size_t(nx) * ny, -1);
    Polygon whole, lower, layer, higher;
    for (const int t : triangles) {
        const std::array<Vec3, 3> corner = mesh.corners(mesh.vertex, t);
        whole.size = 0;
        for (const Vec3 v : corner) whole.add(v);
        divide(whole, 2, k, lower, higher);
        divide(higher, 2, k + 1, layer, lower);
        if (layer.size < 3) continue;
        const bool moves = !mesh.velocity.empty();
        const TriangleMotion motion(corner, moves ? mesh.corners(mesh.velocity, t) : std::array<Vec3, 3>{},
                                    mesh.time);
        const CornerWeights weights(corner);
        slice(layer, 1, ny, [&](int j, const Polygon& row) {
            if (j == ny) return;
            // Along x nothing may be lost: parts beyond the box's high side still cover the cells before it.
            slice(row, 0, nx, [&](int i, const Polygon& piece) {
                Vec3 area;
                std::array<Vec3, 3> moment{}, turning{};
                double swept = 0;
                for (int v = 1; v + 1 < piece.size; ++v) {
                    const Vec3 part =
                        0.5 * cross(piece.corner[v] - piece.corner[0], piece.corner[v + 1] - piece.corner[0]);
                    const Vec3 center = (piece.corner[0] + piece.corner[v] + piece.corner[v + 1]) / 3.0;
                    area += part;
                    for (int d = 0; d < 3; ++d) moment[d] += part * center[d];
                    add_turning(turning, {piece.corner[0], piece.corner[v], piece.corner[v + 1]}, part,
                                Vec3(cut.low));
                    if (moves) swept += motion.swept(part, center);
                }
                projected[i + std::size_t(nx + 1) * j] += area.x;
                if (i == nx) return;
                if (pieces && length(area) > 0) {
                    pieces->push_back(divide_among_corners(weights, piece));
                    pieces->back().cell = {i, j, k};
                    pieces->back().triangle = t;
                }
                cut.volume[cut.index({i, j, k})] += moment[0].x - i * area.x;
                int& at = patch_at[i + std::size_t(nx) * j];
                if (at < 0) {
                    at = int(patches.size());
                    patches.push_back({});
                    patches.back().cell = {i, j, k};
                }
                Patch& patch = patches[at];
                patch.area += area;
                patch.swept += swept;
                for (int d = 0; d < 3; ++d) patch.turning[d] += turning[d];
                for (int d = 0; d < 3; ++d)
                    for (int a = 0; a < 3; ++a)
                        patch.moment[area[a] > 0][d][a] += moment[d][a] + area[a] * double(cut.low[d]);
            });
        });
    }
    Range shares;
    for (int j = 0; j < ny; ++j) {
        const double* row = projected.data() + std::size_t(nx + 1) * j;
        double right = row[nx];
        for (int i = nx - 1; i >= 0; --i) {
            double& share = cut.volume[cut.index({i, j, k})];
            shares.include(share + right);
            share = std::clamp(share + right, 0.0, 1.0);
            right += row[i];
        }
    }
    std::sort(patches.begin(), patches.end(), [](const Patch& a, const Patch& b) {
        return std::tie(a.cell.y, a.cell.x) < std::tie(b.cell.y, b.cell.x);
    });
    return shares;
}

}  // namespace

CutSolid cut_solid(const TriangleMesh& mesh, Int3 cells, double h, const SurfaceMotion& motion, bool pieces) {
    FLOTSAM_CHECK(motion.velocity.empty() || motion.velocity.size() == mesh.vertices.size(),
                  motion.velocity.size());
    CutSolid cut;
    const Box box = bounds(mesh);
    for (int a = 0; a < 3; ++a) {
        const auto cell = [&](double x) { return int(std::clamp(std::floor(x / h), -2.0, 1e9)); };
        cut.low[a] = std::clamp(cell(box.low[a]) - 1, 0, cells[a]);
        cut.size[a] = std::clamp(cell(box.high[a]) + 2, 0, cells[a]) - cut.low[a];
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

    CellMesh in_cells{mesh.triangles, mesh.vertices, motion.velocity, motion.time};
    for (Vec3& v : in_cells.vertex) v = v / h - Vec3(cut.low);
    for (Vec3& v : in_cells.velocity) v = v / h;
    leave_to_sides(in_cells, cut.low, cells);
    for (int axis = 0; axis < 3; ++axis) cover_faces(in_cells, axis, cut);

    const Layers layers(cut.size.z, mesh.triangles.size(),
                        [&](std::size_t t) { return floors(in_cells.range(t, 2)); });
    std::vector<std::vector<Patch>> patches(cut.size.z);
    std::vector<std::vector<SurfacePiece>> parts(cut.size.z);
    std::vector<Range> shares(cut.size.z);
    parallel_for(cut.size.z, 1, [&](std::int64_t k) {
        if (!layers[k].empty())
            shares[k] = cut_layer(in_cells, layers[k], int(k), cut, patches[k], pieces ? &parts[k] : nullptr);
    });
    for (const Range& layer : shares) {
        cut.least_volume = std::min(cut.least_volume, layer.low);
        cut.most_volume = std::max(cut.most_volume, layer.high);
    }
    for (std::vector<Patch>& layer : patches)
        for (Patch& patch : layer) {
            patch.cell = cut.low + patch.cell;
            patch.area *= h * h;
            patch.swept *= h * h * h;
            for (auto& facing : patch.moment)
                for (Vec3& row : facing) row *= h * h * h;
            for (Vec3& row : patch.turning) row *= h * h * h * h;
            cut.patches.push_back(patch);
        }
    for (std::vector<SurfacePiece>& layer : parts)
        for (SurfacePiece& piece : layer) {
            piece.cell = cut.low + piece.cell;
            piece.area *= h * h;
            for (int k = 0; k < 3; ++k)
                piece.moment[k] = h * (piece.moment[k] + Vec3(cut.low) * piece.weight[k]);
            cut.pieces.push_back(piece);
        }
    return cut;
}

void cover_by_distance(CutSolid& cut, double h, const std::function<double(Vec3)>& distance) {
    std::vector<double> at(cut.volume.size());
    const auto for_each = [](Int3 end, const auto& visit) {
        Int3 c;
        for (c.z = 0; c.z < end.z; ++c.z)
            for (c.y = 0; c.y < end.y; ++c.y)
                for (c.x = 0; c.x < end.x; ++c.x) visit(c);
    };
    for_each(cut.size + Int3{1, 1, 1}, [&](Int3 c) { at[cut.index(c)] = distance(Vec3(cut.low + c) * h); });
    for (int axis = 0; axis < 3; ++axis) {
        const Int3 along = unit((axis + 1) % 3), across = unit((axis + 2) % 3);
        for_each(cut.size + unit(axis), [&](Int3 c) {
            // Around the face; the side between two corners is covered as far as the distance is negative.
            const std::array<double, 4> corner{at[cut.index(c)], at[cut.index(c + along)],
                                               at[cut.index(c + along + across)], at[cut.index(c + across)]};
            const auto covered = [&](int i, int j) {  // share of the side, from corner i on
                return corner[i] / (corner[i] - corner[j]);
            };
            int inside = 0;
            for (const double d : corner) inside += d < 0;
            double cover = inside == 4 ? 1 : 0;
            for (int i = 0; i < 4; ++i) {
                const int next = (i + 1) % 4, opposite = (i + 2) % 4, last = (i + 3) % 4;
                const bool in = corner[i] < 0;
                // A corner that is cut off; two opposite corners are cut off separately.
                if (in != (corner[next] < 0) && in != (corner[last] < 0) &&
                    (inside != 2 || (in && corner[opposite] < 0))) {
                    const double triangle = 0.5 * covered(i, next) * covered(i, last);
                    cover += inside == 3 ? 1 - triangle : triangle;
                }
                // Two adjacent corners: a trapezoid.
                if (inside == 2 && in && corner[next] < 0)
                    cover = 0.5 * (covered(i, last) + covered(next, opposite));
            }
            cut.face[axis][cut.index(c)] = cover < 0.01 ? 0 : cover > 0.99 ? 1 : cover;
        });
    }
    cut.by_distance = true;
}

}  // namespace flotsam
