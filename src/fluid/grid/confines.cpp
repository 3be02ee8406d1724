#include "fluid/grid/confines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace flotsam {

namespace {

// Moves of up to this many cells use the tile index; longer ones, beyond any stable step, test every
// obstacle.
constexpr double longest_way = 2;
// Margin around the way, in cells: a particle pushed aside by one obstacle may meet another within it.
constexpr double room = 1;

bool overlap(const Box& a, const Box& b) {
    return a.low.x < b.high.x && a.high.x > b.low.x && a.low.y < b.high.y && a.high.y > b.low.y &&
           a.low.z < b.high.z && a.high.z > b.low.z;
}

}  // namespace

Confines::Confines(const Domain& domain, const std::vector<Obstacle>& obstacles)
    : domain_(domain), obstacles_(obstacles), all_(obstacles.size()) {
    // In single precision a particle on the side itself could round into a cell that does not exist.
    const double gap = this->gap(), infinity = std::numeric_limits<double>::infinity();
    for (int a = 0; a < 3; ++a) {
        sides_.low[a] = domain.open(2 * a) ? -infinity : gap;
        sides_.high[a] = domain.open(2 * a + 1) ? infinity : domain.size()[a] - gap;
    }
    const Vec3 touch = Vec3{1, 1, 1} * (0.1 * domain.h);
    for (const Obstacle& obstacle : obstacles) {
        const Box box = obstacle.reach();
        reach_.push_back({box.low - touch, box.high + touch});
    }
    std::iota(all_.begin(), all_.end(), 0);
    index_ = BoxIndex(reach_, domain, (longest_way + room) * domain.h);
}

Vec3 Confines::stop(Vec3 from, Vec3 to) const {
    if (!obstacles_.empty()) {
        const Int3 cell = domain_.cell_of(from);
        const bool looked_up = domain_.has_cell(cell) && length(to - from) < longest_way * domain_.h;
        const std::span<const int> near = looked_up ? index_.near(cell) : std::span<const int>(all_);
        const Box way{min(from, to), max(from, to)};
        // Most particles are nowhere near a solid.
        if (std::any_of(near.begin(), near.end(), [&](int s) { return overlap(way, reach_[s]); }))
            to = slide(near, from, to);
    }
    return held_by_sides(to);
}

Vec3 Confines::slide(std::span<const int> near, Vec3 from, Vec3 to) const {
    const double h = domain_.h, gap = this->gap();
    const auto hold = [&](Vec3 p) { return held_by_sides(p); };
    const Vec3 start = from, aside = Vec3{1, 1, 1} * (room * h);
    const Box around{min(from, to) - aside, max(from, to) + aside};
    to = hold(to);
    // Two solids may push a particle to and fro between them; a few rounds settle all but impossible gaps.
    for (int round = 0; round < 3; ++round) {
        bool moved = false;
        for (const int s : near) {
            if (!overlap(around, reach_[s])) continue;
            const Obstacle& obstacle = obstacles_[s];
            Vec3 a = round == 0 ? obstacle.moved_along(from) : obstacle.after.to_body(from),
                 b = obstacle.after.to_body(to);
            const Shape& shape = *obstacle.shape;
            double clear = shape.distance(a);
            // Distances that are interpolated between samples change a little faster than the way does.
            if (clear > 1.1 * length(b - a) + gap) continue;
            const auto normal = [&](Vec3 p) { return shape.normal(p, 0.01 * h); };
            // Sphere tracing: steps as long as the distance to the surface. A particle that meets the surface
            // slides along it.
            bool arrived = false;
            for (int bounce = 0; bounce < 3; ++bounce) {
                const Vec3 way = b - a;
                const double total = length(way);
                double walked = 0;
                Vec3 p = a;
                while (clear > 0.5 * gap && walked < total) {
                    // Least step: along a surface at the distance of the gap the walk would take a thousand
                    // steps. It is still shorter than the thinnest solid that place_obstacles sees.
                    walked = std::min(total, walked + std::max(clear, 0.01 * h));
                    p = a + way * (total > 0 ? walked / total : 0);
                    clear = shape.distance(p);
                }
                arrived = clear > 0.5 * gap;
                if (arrived) break;
                const Vec3 n = normal(p);
                const Vec3 rest = b - p;
                a = p + n * (gap - clear);
                b = a + (rest - n * std::min(0.0, dot(rest, n)));
                clear = shape.distance(a);
                moved = true;
            }
            // In a corner the particle stays where it last met the surface: ahead may be the other side of a
            // thin solid.
            if (!arrived) b = a;
            for (int push = 0; push < 4 && !arrived && clear < 0.5 * gap; ++push) {
                b += normal(b) * (gap - clear);
                clear = shape.distance(b);
            }
            to = hold(obstacle.after.to_world(b));
        }
        if (!moved) return to;
        // In the next rounds all obstacles are at the end of their move.
        from = to;
    }
    // The particle is still pushed from one solid or side into another: a corner that closes, or a film under
    // a body that lands flat. It goes to the nearest free place that it can reach without passing through a
    // solid.
    const auto within_reach = [&](std::span<const int> asked, Vec3 p) {
        return std::all_of(asked.begin(), asked.end(), [&](int s) {
            const Obstacle& o = obstacles_[s];
            const auto body = [&](Vec3 x) { return o.after.to_body(x); };
            const Vec3 carried = o.after.to_world(o.moved_along(start));
            // A body pressed slightly through a side of the domain leaves no way between the two; the way
            // behind the side is tested instead.
            const Vec3 behind = o.distance(to) < 0.25 * gap ? beyond_sides(to, 2 * gap) * (0.2 * h) : Vec3{};
            // The particle may start on a surface and graze it on its way out of a film; this tolerance is
            // less than the thinnest solid.
            const auto free = [&](Vec3 a, Vec3 b) {
                return !meets(*o.shape, body(a), body(b), -2 * gap, 0.005 * h);
            };
            return o.distance(p) > 0.25 * gap &&
                   (behind == Vec3{} ? free(carried, p)
                                     : free(carried, carried + behind) &&
                                           free(carried + behind, p + behind) && free(p + behind, p));
        });
    };
    if (within_reach(near, to)) return to;
    // Between two faces that lie flat on each other the only ways out are tangential, so these are tried too.
    double deepest = gap;
    Vec3 across, base = start;
    for (const int s : near)
        if (const Obstacle& o = obstacles_[s]; o.distance(to) < deepest) {
            deepest = o.distance(to);
            across = o.after.rotation * o.shape->normal(o.after.to_body(to), 0.01 * h);
            base = o.after.to_world(o.moved_along(start));
        }
    for (const double radius : {0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0})
        for (int direction = 0; direction < 27; ++direction) {
            const Vec3 way(Int3{direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1});
            for (const Vec3 along : {way, way - dot(way, across) * across}) {
                const Vec3 p = hold(base + along * (radius * h));
                if (within_reach(near, p) && within_reach(all_, p)) return p;
            }
        }
    return to;
}

}  // namespace flotsam
