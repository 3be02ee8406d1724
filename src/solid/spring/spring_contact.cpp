#include "solid/spring/spring_contact.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

namespace {

Box reach_of(const SpringBody& body) {
    const Vec3 room = Vec3{1, 1, 1} * body.net->contact_radius;
    Box box{body.position[0], body.position[0]};
    for (const Vec3 p : body.position) box = {min(box.low, p), max(box.high, p)};
    return {box.low - room, box.high + room};
}

bool overlap(const Box& a, const Box& b) {
    return a.low.x < b.high.x && a.high.x > b.low.x && a.low.y < b.high.y && a.high.y > b.low.y &&
           a.low.z < b.high.z && a.high.z > b.low.z;
}

// The nodes of a body inside a box.
std::vector<int> nodes_inside(const SpringBody& body, const Box& box) {
    std::vector<int> nodes;
    for (std::size_t i = 0; i < body.position.size(); ++i)
        if (box.contains(body.position[i])) nodes.push_back(int(i));
    return nodes;
}

// The impulse on node i of `a`; node j of `b` gets the opposite.
Vec3 part(SpringBody& a, int i, SpringBody& b, int j, double nearest, ContactLaw law) {
    const Vec3 apart = a.position[i] - b.position[j];
    const double d = length(apart);
    if (d >= nearest || d == 0) return {};
    const Vec3 normal = apart / d;
    const double wa = 1 / a.net->mass[i], wb = 1 / b.net->mass[j];
    const Vec3 push = normal * ((nearest - d) / (wa + wb));
    a.position[i] += push * wa;
    b.position[j] -= push * wb;
    const Vec3 relative = a.velocity[i] - b.velocity[j];
    const double approach = -dot(relative, normal);
    if (approach <= 0) return {};
    const double stop = (1 + law.restitution) * approach;
    Vec3 change = normal * stop;
    const Vec3 along = relative + approach * normal;
    if (const double sliding = length(along); sliding > 0)
        change -= along * std::min(1.0, law.friction * stop / sliding);
    const Vec3 impulse = change / (wa + wb);
    a.velocity[i] += impulse * wa;
    b.velocity[j] -= impulse * wb;
    return impulse;
}

}  // namespace

std::vector<Vec3> collide(std::vector<SpringBody>& bodies,
                          const std::function<ContactLaw(std::size_t, std::size_t)>& law) {
    std::vector<Vec3> impulse(bodies.size());
    std::vector<Box> reach;
    reach.reserve(bodies.size());
    for (const SpringBody& body : bodies) reach.push_back(reach_of(body));
    for (std::size_t m = 0; m < bodies.size(); ++m)
        for (std::size_t n = m + 1; n < bodies.size(); ++n) {
            if (!overlap(reach[m], reach[n])) continue;
            SpringBody &a = bodies[m], &b = bodies[n];
            const double nearest = a.net->contact_radius + b.net->contact_radius;
            const Vec3 room = Vec3{1, 1, 1} * nearest;
            // Only nodes near both bodies; sorted along x, so that few pairs are tested.
            std::vector<int> of_a = nodes_inside(a, {reach[n].low - room, reach[n].high + room}),
                             of_b = nodes_inside(b, {reach[m].low - room, reach[m].high + room});
            std::sort(of_b.begin(), of_b.end(), [&](int i, int j) {
                return std::pair(b.position[i].x, i) < std::pair(b.position[j].x, j);
            });
            std::vector<double> x;  // before anything is moved
            x.reserve(of_b.size());
            for (const int j : of_b) x.push_back(b.position[j].x);
            for (const int i : of_a) {
                const double from = a.position[i].x - 2 * nearest, to = a.position[i].x + 2 * nearest;
                for (auto at = std::lower_bound(x.begin(), x.end(), from); at != x.end() && *at < to; ++at) {
                    const Vec3 given = part(a, i, b, of_b[at - x.begin()], nearest, law(m, n));
                    impulse[m] += given;
                    impulse[n] -= given;
                }
            }
        }
    return impulse;
}

}  // namespace flotsam
