#include "fluid/grid/obstacles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "fluid/grid/sample.h"

namespace flotsam {

namespace {

// Faces with a smaller open share are closed: hardly anything passes them, but the pressure hardly constrains
// their velocities either, and these would disturb particles nearby [Zarifi17 4.6]. It is also the least
// thickness of a film, in cells: thinner ones are treated as this thick, and so is the film under a body that
// touches a side. Without it, what lies flat would never rise.
constexpr double least_open_face = 0.01;
// Cells with a smaller open share are closed; solids aligned with the grid leave such slivers.
constexpr double least_open_volume = 1e-3;

}  // namespace

namespace {

// The point that stands for a cell: its centre, or the nearest open place when that lies in a solid.
Vec3 open_point(const Obstacle& obstacle, Vec3 center, double h) {
    for (int push = 0; push < 4; ++push) {
        const double d = obstacle.distance(center);
        if (d > 1e-3 * h) break;
        center += obstacle.normal(center, 0.01 * h) * (2e-3 * h - d);
    }
    return center;
}

// Whether the solid divides a cell: the line through its centre along the surface normal has open space on
// both sides of the solid.
bool divides(const Obstacle& obstacle, Vec3 center, double h) {
    const Vec3 n = obstacle.normal(center, 0.01 * h);
    const double half = 0.5 * h * (std::abs(n.x) + std::abs(n.y) + std::abs(n.z));
    if (std::abs(obstacle.distance(center)) > half) return false;
    bool open_before = false, solid_before = false;
    for (double s = -half; s <= half;) {
        const double d = obstacle.distance(center + n * s);
        if (d > 0 && solid_before) return true;
        if (d > 0) open_before = true;
        if (d <= 0 && open_before) solid_before = true;
        s += std::max(std::abs(d), 0.01 * h);  // no solid thinner than a hundredth of a cell is seen
    }
    return false;
}

// The solid's exact surface in a cell, or null.
const Patch* exact_patch(const CutSolid& cut, Int3 cell) {
    const auto before = [](const Patch& p, Int3 c) {
        return std::tie(p.cell.z, p.cell.y, p.cell.x) < std::tie(c.z, c.y, c.x);
    };
    const auto at = std::lower_bound(cut.patches.begin(), cut.patches.end(), cell, before);
    return at != cut.patches.end() && at->cell == cell ? &*at : nullptr;
}

}  // namespace

Vec3 Obstacle::normal(Vec3 p, double step) const {
    return after.rotation * shape->normal(after.to_body(p), step);
}

Box Obstacle::reach() const {
    Box body = shape->bounds();
    if (deformation) {
        const Box was = deformation->before->bounds();
        body = {min(body.low, was.low), max(body.high, was.high)};
    }
    Box box{{1e300, 1e300, 1e300}, {-1e300, -1e300, -1e300}};
    double radius = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const Vec3 p{corner & 1 ? body.high.x : body.low.x, corner & 2 ? body.high.y : body.low.y,
                     corner & 4 ? body.high.z : body.low.z};
        radius = std::max(radius, length(p));
        for (const Pose* pose : {&before, &after}) {
            box.low = min(box.low, pose->to_world(p));
            box.high = max(box.high, pose->to_world(p));
        }
    }
    // Turning from one pose to the other, a corner leaves the straight line by at most the height of its arc.
    const Rotation turn = after.rotation * before.rotation.inverse();
    const double cosine = std::clamp(0.5 * (turn.row[0].x + turn.row[1].y + turn.row[2].z - 1), -1.0, 1.0);
    const Vec3 room = Vec3{1, 1, 1} * (radius * (1 - std::sqrt(0.5 * (1 + cosine))));
    return {box.low - room, box.high + room};
}

int Obstacles::nearest(Int3 cell, Vec3 p) const {
    int nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const int s : index.near(cell))
        if (const double d = list[s].distance(p); d < least) least = d, nearest = s;
    return nearest;
}

namespace {

// Whether there is a film of water between an obstacle and a side that it lies on. None on a mirror behind
// which it goes on.
bool lies_on_film(const Obstacle& obstacle, const Domain& domain, int side) {
    return obstacle.underflowed && domain.closed(side) && !obstacle.mirrored[side];
}

// The side of the domain that the low face of cell c lies in, or -1.
int side_at(const Domain& domain, int axis, Int3 c) {
    return c[axis] == 0 ? 2 * axis : c[axis] == domain.cells[axis] ? 2 * axis + 1 : -1;
}

// Share of the low face of cell c that an obstacle takes from the liquid. Where solids overlap, as they may a
// little where they touch, the face belongs to the first one. Those with nodes come before all others and
// keep what they cover: the known part of the pressure acts on their exact surface.
double covered_share(const Obstacles& o, int number, const Domain& domain, int axis, Int3 c) {
    const int side = side_at(domain, axis, c);
    const auto cover = [&](const Obstacle& obstacle) {
        return side >= 0 && lies_on_film(obstacle, domain, side) ? 0 : obstacle.cut->face_cover(axis, c);
    };
    const double own = cover(o.list[number]);
    if (own == 0 || o.list[number].nodes) return own;
    double left = 1;
    for (const int s : o.index.near(c))
        if (s != number && (s < number || o.list[s].nodes)) left -= cover(o.list[s]);
    return std::clamp(left, 0.0, own);
}

// Makes the net flux of a rotating solid zero, as that of a translating one is to rounding. Cells that were
// closed because they were almost full leave a small sum; it is spread over the solid's surface in open
// cells. In a box without free surface a constant pressure would otherwise turn a body. In a closed cell all
// solids have one centre, so that those that fill it together, as jointed bodies do, do not turn each other.
void close_turning(Obstacles& o, const Domain& domain) {
    struct Sum {
        Vec3 area, turning;
        double all = 0;
    };
    std::vector<Sum> sums(o.list.size());
    for (ObstaclePatch& patch : o.patches) {
        const bool open = o.open_volume[patch.cell] > 0;
        if (!open) {
            const Vec3 middle = domain.cell_center(patch.at);
            for (int d = 0; d < 3; ++d) patch.turning[d] += cross(patch.center - middle, patch.moment[d]);
            patch.center = middle;
            patch.curl = {};
        }
        Sum& sum = sums[patch.obstacle];
        sum.area += patch.area;
        sum.turning += cross(patch.center - o.list[patch.obstacle].after.position, patch.area) + patch.curl;
        if (open) sum.all += length(patch.area);
    }
    for (ObstaclePatch& patch : o.patches) {
        if (o.open_volume[patch.cell] == 0) continue;
        const Sum& sum = sums[patch.obstacle];
        // Solids that a side of the domain cuts are left out: their areas do not sum to zero.
        if (sum.all == 0 || length(sum.area) > 1e-9 * sum.all) continue;
        patch.curl -= sum.turning * (length(patch.area) / sum.all);
    }
}

// Divides an elastic obstacle's patches among its nodes.
void divide_among_nodes(Obstacles& o, int number, const Domain& domain) {
    const Obstacle& obstacle = o.list[number];
    const double face = domain.h * domain.h;
    const Tiling& tiling = o.open_volume.tiling();
    const std::vector<Int3>& triangles = obstacle.deformation->after->mesh().triangles;
    struct Share {
        std::int64_t patch;
        int node;
        Vec3 area;
        std::array<Vec3, 3> moment{};
        double size = 0;
    };
    std::vector<Share> shares;
    const auto patch_at = [&](Int3 c) -> std::int64_t {
        if (!domain.has_cell(c)) return -1;
        const auto by_cell = [](const ObstaclePatch& p, std::int64_t n) { return p.cell < n; };
        auto at = std::lower_bound(o.patches.begin(), o.patches.end(), tiling.find(c), by_cell);
        for (; at != o.patches.end() && at->at == c; ++at)
            if (at->obstacle == number) return at - o.patches.begin();
        return -1;
    };
    const auto add = [&](std::int64_t patch, int corner, const Share& share) {
        for (int k = 0; k < 4; ++k)
            if (const double w = obstacle.nodes->weight[corner][k]; std::abs(w) > 1e-12) {
                shares.push_back(
                    {patch, obstacle.nodes->node[corner][k], share.area * w, {}, share.size * std::abs(w)});
                for (int d = 0; d < 3; ++d) shares.back().moment[d] = share.moment[d] * w;
            }
    };
    for (const SurfacePiece& piece : obstacle.cut->pieces) {
        const std::int64_t own = patch_at(piece.cell);
        if (own < 0) continue;
        std::array<std::int64_t, 3> owner{own, own, own};
        if (o.split[o.patches[own].cell])
            for (int a = 0; a < 3; ++a) {
                const bool facing = piece.area[a] > 0;
                const Int3 beyond = piece.cell + unit(a) * (facing ? 1 : -1);
                if (!domain.has_cell(beyond) || o.open_face[a](facing ? beyond : piece.cell) > 0) continue;
                if (const std::int64_t there = patch_at(beyond); there >= 0) owner[a] = there;
            }
        const Int3 corner = triangles[piece.triangle];
        for (int k = 0; k < 3; ++k)
            for (int a = 0; a < 3; ++a) {
                if (a > 0 && owner[a] == owner[0]) continue;
                if (a == 2 && owner[2] == owner[1]) continue;
                Vec3 area;  // the components that have this owner
                for (int b = a; b < 3; ++b)
                    if (owner[b] == owner[a]) area[b] = piece.area[b];
                Share share{
                    0, 0, area * (-piece.weight[k] / face), {}, length(area) * std::abs(piece.weight[k])};
                for (int d = 0; d < 3; ++d) share.moment[d] = area * piece.moment[k][d];
                add(owner[a], corner[k], share);
            }
    }
    std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
        return std::tie(a.patch, a.node) < std::tie(b.patch, b.node);
    });
    std::size_t next = 0;
    for (std::size_t p = 0; p < o.patches.size(); ++p) {
        const ObstaclePatch& patch = o.patches[p];
        if (patch.obstacle != number) continue;
        const std::size_t first = o.node_patches.size();
        std::vector<double> size;
        double all = 0;
        Vec3 rest = patch.area;
        for (; next < shares.size() && shares[next].patch == std::int64_t(p); ++next) {
            const Share& share = shares[next];
            if (o.node_patches.size() == first || o.node_patches.back().node != share.node) {
                o.node_patches.push_back({number, patch.cell, patch.at, share.node, {}, {}, {}, patch.piece});
                size.push_back(0);
            }
            NodePatch& entry = o.node_patches.back();
            entry.area += share.area;
            entry.exact += share.area;
            for (int d = 0; d < 3; ++d) entry.moment[d] += share.moment[d];
            size.back() += share.size;
            all += share.size;
            rest -= share.area;
        }
        if (obstacle.cut->by_distance) continue;  // the thesis leaves it open [Zarifi17 5.4]
        // Area that clamping added moves with the rest of the surface in this cell; a face closed because of
        // a solid in the next cell moves with the nearest point of the surface.
        for (std::size_t k = 0; all > 0 && k < size.size(); ++k)
            o.node_patches[first + k].area += rest * (size[k] / all);
        if (all > 0 || rest == Vec3{}) continue;
        const MeshSurface::Nearest place = obstacle.deformation->after->nearest(patch.center);
        const Int3 corner = triangles[place.triangle];
        for (int k = 0; k < 3; ++k)
            for (int n = 0; n < 4; ++n)
                if (const double w = place.weight[k] * obstacle.nodes->weight[corner[k]][n]; w != 0)
                    o.node_patches.push_back({number,
                                              patch.cell,
                                              patch.at,
                                              obstacle.nodes->node[corner[k]][n],
                                              rest * w,
                                              {},
                                              {},
                                              patch.piece});
    }
}

// The obstacle's surface in a cell, out of the liquid, in face areas.
Vec3 own_area(const Obstacles& o, int number, const Domain& domain, Int3 c) {
    Vec3 area;
    for (int a = 0; a < 3; ++a)
        area[a] = covered_share(o, number, domain, a, c + unit(a)) - covered_share(o, number, domain, a, c);
    return area;
}

// A cell that holds a film between two solids that face each other.
struct Film {
    Int3 cell;
    int solid, other;
    Vec3 area;  // of the first solid's surface
};

// The film in a cell that solids fill, if there is one. Solids whose motion is prescribed stand on each other
// without a film, unless there is a gap.
std::optional<Film> film_in(const Obstacles& o, const Domain& domain, Int3 c) {
    const std::span<const int> near = o.index.near(c);
    for (std::size_t i = 0; i < near.size(); ++i) {
        const Obstacle& solid = o.list[near[i]];
        const Vec3 area = own_area(o, near[i], domain, c);
        if (area == Vec3{} || solid.nodes) continue;
        for (std::size_t k = 0; k < i; ++k) {
            const Obstacle& other = o.list[near[k]];
            if (other.nodes || !(solid.underflowed || other.underflowed || o.open_volume(c) > 0)) continue;
            // Most of the cell's width: where edges meet there is no film.
            if (dot(area, own_area(o, near[k], domain, c)) < -0.5) return Film{c, near[i], near[k], area};
        }
    }
    return {};
}

// Keeps the films between solids open. A film goes on through the faces that both solids cover in part, and,
// where it lies in a plane of the grid, through all that are across that plane.
void keep_films_between_solids(Obstacles& o, const Domain& domain) {
    const Tiling& tiling = o.open_volume.tiling();
    std::vector<Film> films;
    for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot) {
        if (!o.touches[slot] || o.index.near(tiling.first_cell(slot)).size() < 2) continue;
        for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
            if (o.open_volume[n] >= least_open_face) return;
            if (const auto film = film_in(o, domain, c)) films.push_back(*film);
        });
    }
    for (const Film& film : films) {
        double& volume = o.open_volume.at(film.cell);
        volume = std::max(volume, least_open_volume);
    }
    for (const Film& film : films)
        for (int axis = 0; axis < 3; ++axis)
            for (const int direction : {0, 1}) {
                const Int3 beside = direction ? film.cell + unit(axis) : film.cell - unit(axis);
                const Int3 face = direction ? beside : film.cell;
                if (!domain.has_cell(beside) || tiling.find(beside) < 0 || o.open_volume(beside) == 0)
                    continue;
                const bool crossed = covered_share(o, film.solid, domain, axis, face) > 0 &&
                                     covered_share(o, film.other, domain, axis, face) > 0;
                if (!crossed && std::abs(film.area[axis]) > 0.1) continue;
                double& open = o.open_face[axis].at(face);
                open = std::max(open, least_open_face);
            }
}

// Keeps the films between solids and closed sides open. A cell that solids fill although the side it lies at
// is bare holds a film, and so do the cells beside it along that side.
void keep_films_at_sides(Obstacles& o, const Domain& domain) {
    const Tiling& tiling = o.open_volume.tiling();
    const auto is_bare = [&](Int3 c, int side) {
        return o.open_face[side / 2](side % 2 ? c + unit(side / 2) : c) > 0;
    };
    for (int side = 0; side < 6; ++side) {
        if (!domain.closed(side)) continue;
        const int across = side / 2, layer = side % 2 ? domain.cells[across] - 1 : 0;
        std::vector<Int3> films;
        for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot) {
            const int first = tiling.first_cell(slot)[across];
            if (!o.touches[slot] || layer < first || layer >= first + Tiling::side) continue;
            for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
                if (c[across] == layer && o.open_volume[n] < least_open_face && is_bare(c, side))
                    films.push_back(c);
            });
        }
        for (const Int3 c : films) {
            double& volume = o.open_volume.at(c);
            volume = std::max(volume, least_open_volume);
        }
        for (const Int3 c : films)
            for (int axis = 0; axis < 3; ++axis)
                for (const int direction : {0, 1}) {
                    const Int3 beside = direction ? c + unit(axis) : c - unit(axis);
                    if (axis == across || !domain.has_cell(beside) || tiling.find(beside) < 0) continue;
                    if (!is_bare(beside, side)) continue;
                    double& open = o.open_face[axis].at(direction ? beside : c);
                    open = std::max(open, least_open_face);
                }
    }
}

// Finds the open share of every cell and face [Zarifi17 Eq. 4.33].
void cover_cells(Obstacles& o, const Domain& domain) {
    const Tiling& tiling = o.open_volume.tiling();
    for_each_tile(tiling, 1, [&](std::int64_t slot) {
        const Int3 first = tiling.first_cell(slot), last = first + Int3{8, 8, 8};
        for (const int s : o.index.near(first)) {
            const CutSolid& cut = *o.list[s].cut;
            bool near = true;
            for (int a = 0; a < 3; ++a) near &= first[a] <= cut.low[a] + cut.size[a] && last[a] >= cut.low[a];
            if (near) o.touches[slot] = 1;
        }
        if (!o.touches[slot]) return;
        for_each_cell_of_tile(tiling, slot, domain.cells + Int3{1, 1, 1}, [&](Int3 c, std::int64_t n) {
            double volume = 0;
            std::array<double, 3> face{};
            for (const int s : o.index.near(c)) {
                volume += o.list[s].cut->cell_cover(c);
                for (int a = 0; a < 3; ++a) face[a] += covered_share(o, s, domain, a, c);
            }
            o.open_volume[n] = volume > 1 - least_open_volume ? 0 : 1 - volume;
            for (int a = 0; a < 3; ++a) o.open_face[a][n] = face[a] > 1 - least_open_face ? 0 : 1 - face[a];
        });
    });
    keep_films_at_sides(o, domain);
    keep_films_between_solids(o, domain);
    // Closed cells have closed faces, on both sides.
    for (int a = 0; a < 3; ++a)
        for_each_cell(tiling, domain.cells + unit(a), [&](Int3 c, std::int64_t n) {
            if (!o.touches[n / Tiling::cells_per_tile]) return;
            if (o.open_volume(c) == 0 || o.open_volume(c - unit(a)) == 0) o.open_face[a][n] = 0;
        });
}

// A solid thinner than a cell may leave every face open and yet divide the liquid. Each cell that it divides
// stands for the side that its open_point is on; a face is closed where the solid blocks the straight line
// between the two cells' points. Liquid that is connected through open faces is then truly connected: nothing
// leaks, and each side has its own pressure.
void keep_sides_apart(Obstacles& o, const Domain& domain) {
    const Tiling& tiling = o.open_volume.tiling();
    o.split = Field<char>(o.open_volume.shared_tiling(), 0);
    for_each_cell(tiling, domain.cells, [&](Int3 c, std::int64_t n) {
        if (!o.touches[n / Tiling::cells_per_tile] || o.open_volume[n] == 0 || o.open_volume[n] == 1) return;
        for (const int s : o.index.near(c))
            if (o.list[s].cut->cell_cover(c) > 0 && !o.list[s].cut->by_distance &&
                divides(o.list[s], domain.cell_center(c), domain.h))
                o.split[n] = 1;
    });
    for (int a = 0; a < 3; ++a)
        for_each_cell(tiling, domain.cells, [&](Int3 c, std::int64_t n) {
            if (c[a] == 0 || o.open_face[a][n] == 0 || !(o.split[n] || o.split(c - unit(a)))) return;
            for (const int s : o.index.near(c)) {
                const Obstacle& obstacle = o.list[s];
                const Vec3 here = open_point(obstacle, domain.cell_center(c), domain.h);
                const Vec3 beside = open_point(obstacle, domain.cell_center(c - unit(a)), domain.h);
                if (meets(*obstacle.shape, obstacle.after.to_body(here), obstacle.after.to_body(beside),
                          0.5e-3 * domain.h, 0.5e-3 * domain.h))
                    o.open_face[a][n] = 0;
            }
        });
}

// Finds the patches that close every cut cell: u = v = constant then has no divergence in any cell, to
// rounding.
void find_patches(Obstacles& o, const Domain& domain) {
    const Tiling& tiling = o.open_volume.tiling();
    // Whether a cell is deep inside a solid, and not just filled up to a surface that lies on a grid plane.
    const auto whole = [&](Int3 c) {
        for (const int s : o.index.near(c))
            if (o.list[s].cut->cell_cover(c) > 1 - 1e-12) return exact_patch(*o.list[s].cut, c) == nullptr;
        return false;
    };
    std::vector<std::vector<ObstaclePatch>> found(tiling.tile_count());
    for_each_tile(tiling, 1, [&](std::int64_t slot) {
        if (!o.touches[slot]) return;
        for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
            Vec3 open;  // open share of the high face less that of the low one
            for (int a = 0; a < 3; ++a) open[a] = o.open_face[a](c + unit(a)) - o.open_face[a][n];
            if (open == Vec3{} && (o.open_volume[n] == 1 || whole(c))) return;
            Vec3 rest = -open;
            std::int64_t largest = -1;
            for (const int s : o.index.near(c)) {
                const CutSolid& cut = *o.list[s].cut;
                const Vec3 own = own_area(o, s, domain, c);
                if (own == Vec3{} && cut.cell_cover(c) == 0) continue;
                rest -= own;
                found[slot].push_back({s, n, c, own, domain.cell_center(c), {}});
                if (largest < 0 ||
                    cut.cell_cover(c) > o.list[found[slot][largest].obstacle].cut->cell_cover(c))
                    largest = std::int64_t(found[slot].size()) - 1;
            }
            // Area that clamping took from the faces belongs to the solid that covers most of the cell.
            if (largest >= 0) {
                found[slot][largest].area += rest;
                return;
            }
            // A face closed by a thin solid in the next cell is a wall for this cell too.
            found[slot].push_back(
                {o.nearest(c, domain.cell_center(c)), n, c, rest, domain.cell_center(c), {}});
        });
    });
    for (const auto& tile : found) o.patches.insert(o.patches.end(), tile.begin(), tile.end());
}

// The obstacle's exact surface in a cell, with what lies on a film at a side; none where it has no surface.
std::optional<Patch> surface_in(const Obstacle& obstacle, const Domain& domain, Int3 cell) {
    const Patch* const inside = exact_patch(*obstacle.cut, cell);
    std::optional<Patch> surface;
    if (inside) surface = *inside;
    if (!obstacle.underflowed) return surface;
    for (int side = 0; side < 6; ++side) {
        const int a = side / 2;
        const Int3 face = side % 2 ? cell + unit(a) : cell;
        if (side_at(domain, a, face) != side || !lies_on_film(obstacle, domain, side)) continue;
        const double cover = obstacle.cut->face_cover(a, face);
        if (cover == 0) continue;
        const Vec3 area = Vec3(unit(a)) * ((side % 2 ? 1 : -1) * cover * domain.h * domain.h);
        const Vec3 place = domain.face_center(face, a);
        if (!surface) surface.emplace();
        surface->area += area;
        for (int d = 0; d < 3; ++d) {
            surface->moment[side % 2][d] += area * place[d];
            surface->turning[d] += cross(place, area) * place[d];
        }
    }
    return surface;
}

// Moments, centre and curl of every patch, from the exact surface inside its cell.
void place_patches(Obstacles& o, const Domain& domain) {
    const Tiling& tiling = o.open_volume.tiling();
    for (std::size_t i = 0; i < o.patches.size(); ++i) {
        ObstaclePatch& patch = o.patches[i];
        const std::optional<Patch> at = surface_in(o.list[patch.obstacle], domain, patch.at);
        if (!at) continue;
        for (int facing = 0; facing < 2; ++facing)
            for (int a = 0; a < 3; ++a) {
                // In a divided cell, surface towards a closed face is the far side of a thin solid: it
                // belongs to the cell beyond that face.
                ObstaclePatch* owner = &patch;
                const Int3 beyond = patch.at + unit(a) * (facing ? 1 : -1);
                if (o.split[patch.cell] && domain.has_cell(beyond) &&
                    o.open_face[a](facing ? beyond : patch.at) == 0) {
                    const auto by_cell = [](const ObstaclePatch& p, std::int64_t n) { return p.cell < n; };
                    auto there =
                        std::lower_bound(o.patches.begin(), o.patches.end(), tiling.find(beyond), by_cell);
                    for (; there != o.patches.end() && there->at == beyond; ++there)
                        if (there->obstacle == patch.obstacle) owner = &*there;
                }
                for (int d = 0; d < 3; ++d) owner->moment[d][a] += at->moment[facing][d][a];
            }
        if (o.split[patch.cell]) continue;
        // The centre of a curved patch, weighted by the component of its area that is largest.
        int a = 0;
        for (int b = 1; b < 3; ++b)
            if (std::abs(at->area[b]) > std::abs(at->area[a])) a = b;
        if (at->area[a] == 0) continue;
        Vec3 center;
        for (int d = 0; d < 3; ++d) center[d] = (at->moment[0][d][a] + at->moment[1][d][a]) / at->area[a];
        const Vec3 half = Vec3{1, 1, 1} * (0.5 * domain.h), middle = domain.cell_center(patch.at);
        patch.center = min(max(center, middle - half), middle + half);
        std::array<Vec3, 3> m;
        for (int d = 0; d < 3; ++d) m[d] = at->moment[0][d] + at->moment[1][d];
        const Vec3 about_origin{m[1].z - m[2].y, m[2].x - m[0].z, m[0].y - m[1].x};
        patch.curl = (cross(patch.center, at->area) - about_origin) / (domain.h * domain.h);
        for (int d = 0; d < 3; ++d) patch.turning[d] = at->turning[d] - cross(patch.center, m[d]);
    }
}

// Flux out of the open part of each cell through moving solids.
void find_outflow(Obstacles& o, const Domain& domain) {
    for (const ObstaclePatch& patch : o.patches) {
        const Obstacle& obstacle = o.list[patch.obstacle];
        Vec3 area = patch.area;
        // The volume that a deforming surface sweeps is known exactly; area that clamping added moves with
        // the patch's centre.
        if (const Patch* exact = obstacle.deformation ? exact_patch(*obstacle.cut, patch.at) : nullptr) {
            const double face = domain.h * domain.h;
            o.outflow[patch.cell] -= exact->swept / face;
            area += exact->area / face;
        }
        o.outflow[patch.cell] += dot(obstacle.velocity(patch.center), area);
    }
}

}  // namespace

std::vector<CellBox> film_cells(const std::vector<Obstacle>& list, const Domain& domain) {
    std::vector<CellBox> boxes;
    for (std::size_t s = 0; s < list.size(); ++s) {
        const CutSolid& cut = *list[s].cut;
        if (!list[s].underflowed || cut.size == Int3{}) continue;
        const CellBox around{cut.low - Int3{1, 1, 1}, cut.low + cut.size + Int3{1, 1, 1}};
        for (int side = 0; side < 6; ++side) {
            const int axis = side / 2, layer = side % 2 ? domain.cells[axis] - 1 : 0;
            if (!lies_on_film(list[s], domain, side)) continue;
            if (layer < cut.low[axis] || layer >= cut.low[axis] + cut.size[axis]) continue;
            boxes.push_back(around);
            boxes.back().low[axis] = boxes.back().high[axis] = layer;
        }
        for (std::size_t t = 0; t < list.size(); ++t) {
            const CutSolid& other = *list[t].cut;
            if (t == s || (t < s && list[t].underflowed)) continue;
            const CellBox both{max(around.low, other.low), min(around.high, other.low + other.size)};
            if (both.low.x <= both.high.x && both.low.y <= both.high.y && both.low.z <= both.high.z)
                boxes.push_back(both);
        }
    }
    return boxes;
}

Obstacles place_obstacles(std::vector<Obstacle> list, const Domain& domain,
                          const std::shared_ptr<const Tiling>& tiling, double reach) {
    Obstacles o;
    o.list = std::move(list);
    if (!o.any()) return o;
    for (auto& field : o.open_face) field = Field<double>(tiling, 1);
    o.open_volume = Field<double>(tiling, 1);
    o.outflow = Field<double>(tiling, 0);
    o.touches.assign(tiling->tile_count(), 0);
    std::vector<Box> boxes;
    for (const Obstacle& obstacle : o.list)
        boxes.push_back(
            {Vec3(obstacle.cut->low) * domain.h, Vec3(obstacle.cut->low + obstacle.cut->size) * domain.h});
    o.index = BoxIndex(boxes, domain, std::max(reach, 2 * domain.h));

    cover_cells(o, domain);
    keep_sides_apart(o, domain);
    find_patches(o, domain);
    place_patches(o, domain);
    close_turning(o, domain);
    for (std::size_t s = 0; s < o.list.size(); ++s)
        if (o.list[s].nodes) divide_among_nodes(o, int(s), domain);
    find_outflow(o, domain);
    return o;
}

namespace {

// Whether a face is closed or part of a slit.
bool in_slit(const Obstacles& obstacles, const Domain& domain, Int3 c, int axis, std::int64_t n) {
    constexpr double narrow = 0.2;
    const Field<double>& open = obstacles.open_face[axis];
    if (open[n] == 0) return true;
    if (open[n] >= narrow) return false;
    for (int across = 0; across < 3; ++across) {
        if (across == axis || domain.cells[across] == 1) continue;
        const auto shut = [&](Int3 beside) {
            return beside[across] < 0 || beside[across] >= domain.cells[across] || open(beside) < narrow;
        };
        if (shut(c - unit(across)) && shut(c + unit(across))) return true;
    }
    return false;
}

}  // namespace

void forget_slits(std::array<Field<char>, 3>& known, const Obstacles& obstacles, const Domain& domain) {
    if (!obstacles.any()) return;
    for (int axis = 0; axis < 3; ++axis)
        for_each_cell(known[axis].tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            if (obstacles.touches[n / Tiling::cells_per_tile] && in_slit(obstacles, domain, c, axis, n))
                known[axis][n] = 0;
        });
}

SlitFlow flow_in_slits(const MacGrid& u, const std::array<Field<char>, 3>& known, const Obstacles& obstacles,
                       const Domain& domain) {
    SlitFlow slits;
    if (!obstacles.any()) return slits;
    for (int axis = 0; axis < 3; ++axis) {
        const Field<double>& open = obstacles.open_face[axis];
        const Tiling& tiling = open.tiling();
        for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot)
            if (obstacles.touches[slot])
                for_each_cell_of_tile(tiling, slot, domain.cells, [&](Int3 c, std::int64_t n) {
                    if (open[n] == 0 || !known[axis][n] || !in_slit(obstacles, domain, c, axis, n)) return;
                    slits.face[axis].push_back(c);
                    slits.velocity[axis].push_back(u[axis][n]);
                    slits.open[axis].push_back(open[n]);
                });
    }
    return slits;
}

void resume_slits(MacGrid& u, const SlitFlow& slits, const Obstacles& obstacles, const Domain& domain,
                  double dt) {
    for (int axis = 0; axis < 3; ++axis)
        for (std::size_t i = 0; i < slits.face[axis].size(); ++i) {
            const Int3 c = slits.face[axis][i];
            const std::int64_t n = u[axis].tiling().find(c);
            if (n < 0) continue;
            const double open = obstacles.open_face[axis][n];
            if (open == 0 || !in_slit(obstacles, domain, c, axis, n)) continue;
            const Obstacle& solid = obstacles.list[obstacles.nearest(c, domain.face_center(c, axis))];
            const Box box = solid.shape->bounds();
            const Vec3 size = min(box.high - box.low, domain.size());
            const double was = slits.velocity[axis][i], way = 0.5 * std::max({size.x, size.y, size.z});
            u[axis][n] =
                was / (1 + 0.5 * dt * std::abs(was) / way) * std::min(1.0, slits.open[axis][i] / open);
        }
}

namespace {

// The velocity at a place in an obstacle, at a depth below its surface, that continues the liquid's linearly.
// `u` is the liquid's velocity, extrapolated as a constant. Relative to the obstacle, what crosses the
// surface is mirrored in it and changes its sign there; what runs along it goes on changing as it does from
// the surface to the place, where the extrapolation has lost half of the slope. A mirror deeper than a cell
// would read beyond what the liquid is known for.
Vec3 continued_velocity(const MacGrid& u, const Obstacle& obstacle, const Domain& domain, Vec3 place,
                        Vec3 normal, double depth) {
    const auto relative = [&](Vec3 p) { return sample_velocity(u, domain, p) - obstacle.velocity(p); };
    const double mirrored = std::min(depth, domain.h);
    const Vec3 slides = 2.0 * relative(place) - relative(place + mirrored * normal);
    const double crosses = dot(relative(place + (depth + mirrored) * normal), normal);
    return obstacle.velocity(place) + slides - (dot(slides, normal) + mirrored / depth * crosses) * normal;
}

// Whether two solids are within a cell of a place. From the gap between them there is no slope to continue.
bool beside_two(const Obstacles& obstacles, const Domain& domain, Int3 cell, Vec3 place) {
    const std::span<const int> near = obstacles.index.near(cell);
    const auto is_close = [&](int s) { return obstacles.list[s].distance(place) < domain.h; };
    return near.size() > 1 && std::count_if(near.begin(), near.end(), is_close) > 1;
}

}  // namespace

void constrain_velocity(MacGrid& u, const Obstacles& obstacles, const Domain& domain, VelocityInSolids rule,
                        const Field<char>* letting_go) {
    if (!obstacles.any()) return;
    const MacGrid before = u;
    for (int axis = 0; axis < 3; ++axis)
        for_each_cell(u[axis].tiling(), domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            if (!obstacles.touches[n / Tiling::cells_per_tile] || !in_slit(obstacles, domain, c, axis, n))
                return;
            const Vec3 place = domain.face_center(c, axis);
            const Obstacle& nearest = obstacles.list[obstacles.nearest(c, place)];
            const Vec3 normal = nearest.normal(place, 0.1 * domain.h), solid = nearest.velocity(place);
            const Vec3 relative = sample_velocity(before, domain, place) - solid;
            const double leaving = dot(relative, normal);
            if (leaving > 0 && letting_go && ((*letting_go)(c) || (*letting_go)(c - unit(axis)))) return;
            const bool continued =
                rule == VelocityInSolids::linear && !beside_two(obstacles, domain, c, place);
            const double depth = continued ? -nearest.distance(place) : 0;
            u[axis][n] = depth > 0 ? continued_velocity(before, nearest, domain, place, normal, depth)[axis]
                                   : u[axis][n] - leaving * normal[axis];
        });
}

double Rubbing::lost_share(double slip) const { return 1 - std::pow(slip, 24 * dt); }

double Rubbing::share_of_cell(double distance, double h) const {
    if (depth == 0) return distance <= 0.5 * h ? 1 : 0;
    // Where the open part of the cell begins and ends, in cells from the surface.
    const double begin = std::max(0.0, distance / h - 0.5), end = distance / h + 0.5;
    if (end <= begin) return 1;
    return (std::clamp(depth / h, begin, end) - begin) / (end - begin);
}

namespace {

bool rubs(const Obstacle& obstacle) { return obstacle.slip < 1; }

// The faces of a tile where liquid rubs on an obstacle: visit(axis, n, place, normal, share), n the face's
// index, `share` the part of its cell that rubs.
template <class Visit>
void for_each_rubbed_face(const Obstacle& obstacle, const Obstacles& obstacles, const Field<double>& phi,
                          const Tiling& tiling, std::int64_t slot, const Domain& domain,
                          const Rubbing& rubbing, const Visit& visit) {
    for (int axis = 0; axis < 3; ++axis)
        for_each_cell_of_tile(tiling, slot, domain.cells + unit(axis), [&](Int3 c, std::int64_t n) {
            if (obstacles.open_face[axis][n] == 0 || (phi(c) >= 0 && phi(c - unit(axis)) >= 0)) return;
            const Vec3 place = domain.face_center(c, axis);
            const double share = rubbing.share_of_cell(obstacle.distance(place), domain.h);
            if (share > 0) visit(axis, n, place, obstacle.normal(place, 0.1 * domain.h), share);
        });
}

}  // namespace

std::optional<Drag> obstacle_drag(const MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                                  int number, Vec3 center, const Domain& domain, const Rubbing& rubbing) {
    const Obstacle& obstacle = obstacles.list[number];
    if (!rubs(obstacle)) return {};
    const Tiling& tiling = u[0].tiling();
    const double mass = rubbing.density * domain.cell_volume() * rubbing.lost_share(obstacle.slip);
    std::vector<Drag> parts(tiling.tile_count());
    for_each_tile(tiling, 1, [&](std::int64_t slot) {
        const std::span<const int> near = obstacles.index.near(tiling.first_cell(slot));
        if (std::find(near.begin(), near.end(), number) == near.end()) return;
        Drag& part = parts[slot];
        for_each_rubbed_face(
            obstacle, obstacles, phi, tiling, slot, domain, rubbing,
            [&](int axis, std::int64_t n, Vec3 place, Vec3 normal, double share) {
                const Vec3 along(unit(axis)), arm = place - center;
                const Vec3 slides = along - normal[axis] * normal;  // row `axis` of the tangential projection
                const Vec3 slide = sample_velocity(u, domain, place) - obstacle.velocity(place);
                const double weight = mass * share * obstacles.open_face[axis][n];
                const Vec3 turn = cross(arm, along), sensed = cross(arm, slides);
                const double given[6] = {along.x, along.y, along.z, turn.x, turn.y, turn.z};
                const double felt[6] = {slides.x, slides.y, slides.z, sensed.x, sensed.y, sensed.z};
                for (int i = 0; i < 6; ++i) {
                    part.impulse[i] += weight * dot(slides, slide) * given[i];
                    for (int j = 0; j < 6; ++j) part.less[i][j] += weight * given[i] * felt[j];
                }
            });
    });
    Drag sum;
    for (const Drag& part : parts)
        for (int i = 0; i < 6; ++i) {
            sum.impulse[i] += part.impulse[i];
            for (int j = 0; j < 6; ++j) sum.less[i][j] += part.less[i][j];
        }
    return sum;
}

Vec3 apply_obstacle_friction(MacGrid& u, const Field<double>& phi, const Obstacles& obstacles,
                             const Domain& domain, const Rubbing& rubbing,
                             std::vector<SolidImpulse>& impulse) {
    const double mass = rubbing.density * domain.cell_volume();
    if (std::none_of(obstacles.list.begin(), obstacles.list.end(), rubs)) return {};
    // Impulses on the obstacles near each tile, summed in the order of the tiles.
    const Tiling& tiling = u[0].tiling();
    std::vector<std::vector<SolidImpulse>> received(tiling.tile_count());
    const MacGrid before = u;
    for_each_tile(tiling, 1, [&](std::int64_t slot) {
        const std::span<const int> near = obstacles.index.near(tiling.first_cell(slot));
        received[slot].resize(near.size());
        for (std::size_t i = 0; i < near.size(); ++i) {
            const Obstacle& obstacle = obstacles.list[near[i]];
            if (!rubs(obstacle)) continue;
            const double lost = rubbing.lost_share(obstacle.slip);
            for_each_rubbed_face(
                obstacle, obstacles, phi, tiling, slot, domain, rubbing,
                [&](int axis, std::int64_t n, Vec3 place, Vec3 normal, double share) {
                    Vec3 slide = sample_velocity(before, domain, place) - obstacle.velocity(place);
                    slide -= dot(slide, normal) * normal;
                    const double dv = -lost * share * slide[axis];
                    u[axis][n] += dv;
                    const Vec3 taken = Vec3(unit(axis)) * (-mass * dv * obstacles.open_face[axis][n]);
                    received[slot][i].linear += taken;
                    received[slot][i].angular += cross(place - obstacle.after.position, taken);
                });
        }
    });
    Vec3 on_liquid;
    for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot) {
        const std::span<const int> near = obstacles.index.near(tiling.first_cell(slot));
        for (std::size_t i = 0; i < received[slot].size(); ++i) {
            impulse[near[i]].linear += received[slot][i].linear;
            impulse[near[i]].angular += received[slot][i].angular;
            on_liquid -= received[slot][i].linear;
        }
    }
    return on_liquid;
}

}  // namespace flotsam
