#include "fluid/grid/confines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace flotsam {

namespace {

// Ways up to this many cells are looked up by tile; for longer ones, beyond any stable step, every obstacle
// is asked.
constexpr double longest_way = 2;
// What may come near a particle that is pushed aside by something else, in cells.
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
            if (clear > length(b - a) + gap) continue;
            const auto normal = [&](Vec3 p) { return shape.normal(p, 0.01 * h); };
            // Walk along the way in steps that the distance shows to be free. What meets the surface slides
            // along it.
            bool arrived = false;
            for (int bounce = 0; bounce < 3; ++bounce) {
                const Vec3 way = b - a;
                const double total = length(way);
                double walked = 0;
                Vec3 p = a;
                while (clear > 0.5 * gap && walked < total) {
                    // Along a surface at the distance of the gap a walk would take a thousand steps; these
                    // are still shorter than the thinnest solid that place_obstacles sees.
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
            // In a corner it stays where it met the surface last: what lies ahead may be the other side of a
            // thin solid.
            if (!arrived) b = a;
            for (int push = 0; push < 4 && !arrived && clear < 0.5 * gap; ++push) {
                b += normal(b) * (gap - clear);
                clear = shape.distance(b);
            }
            to = hold(obstacle.after.to_world(b));
        }
        if (!moved) return to;
        // The next round starts when every obstacle has made its move.
        from = to;
    }
    // Pushed from one solid or side into another to the last: a corner that closes, or a film under something
    // that lands flat. The nearest free place will do that it could have gone to without passing through a
    // solid.
    const auto within_reach = [&](std::span<const int> asked, Vec3 p) {
        return std::all_of(asked.begin(), asked.end(), [&](int s) {
            const Obstacle& o = obstacles_[s];
            const auto body = [&](Vec3 x) { return o.after.to_body(x); };
            const Vec3 carried = o.after.to_world(o.moved_along(start));
            // A body that is pressed a little way through a side of the domain leaves no way between the two.
            // Behind the side there is one.
            const Vec3 behind = o.distance(to) < 0.25 * gap ? beyond_sides(to, 2 * gap) * (0.2 * h) : Vec3{};
            // It may start on a surface and graze it on its way out of a film; that is less than the thinnest
            // solid.
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
    // Between two faces that lie flat on each other the only ways out are along them, wherever they go.
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
