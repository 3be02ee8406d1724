#include "solid/spring/spring_body.h"

#include <Eigen/LU>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/mat3.h"
#include "solid/nodes.h"

namespace flotsam {

namespace {

// The force of a spring on its end a. Zero for ends that coincide: they have no direction.
Vec3 force_on_a(const Spring& spring, Vec3 apart, Vec3 approach) {
    const double d = length(apart);
    if (d == 0) return {};
    const Vec3 along = apart / d;
    return along * (-spring.stiffness * (d - spring.length) - spring.damping * dot(approach, along));
}

// Rebound of a node that has come too near to an obstacle with this normal.
void rebound(Vec3& velocity, Vec3 normal, const NodeConfines& confines) {
    const double approach = -dot(velocity, normal);
    if (approach <= 0) return;
    const double push = (1 + confines.restitution) * approach;
    Vec3 along = velocity + approach * normal;
    const double sliding = length(along);
    if (sliding > 0) along = along * std::max(0.0, 1 - confines.friction * push / sliding);
    velocity = along + normal * (push - approach);
}

void confine(Vec3& x, Vec3& v, double radius, const NodeConfines& confines) {
    for (int side = 0; side < 6; ++side) {
        if (!confines.closed[side]) continue;
        const int axis = side / 2;
        const double inwards = side % 2 ? -1 : 1;
        const double limit = (side % 2 ? confines.sides.high : confines.sides.low)[axis] + inwards * radius;
        if (inwards * (x[axis] - limit) >= 0) continue;
        x[axis] = limit;
        rebound(v, Vec3(unit(axis)) * inwards, confines);
    }
    for (const NodeConfines::Fixed& fixed : confines.fixed) {
        const Vec3 room = Vec3{1, 1, 1} * radius;
        if (!Box{fixed.reach.low - room, fixed.reach.high + room}.contains(x)) continue;
        const Vec3 local = fixed.pose.to_body(x);
        const double distance = fixed.shape->distance(local);
        if (distance >= radius) continue;
        const Vec3 normal = fixed.pose.rotation * fixed.shape->normal(local, 0.1 * radius);
        x += normal * (radius - distance);
        rebound(v, normal, confines);
    }
}

}  // namespace

double SpringNet::total_mass() const {
    double sum = 0;
    for (const double m : mass) sum += m;
    return sum;
}

SpringBody make_spring_body(int solid, const SpringProperties& properties, const Pose& start) {
    SpringBody body{solid, properties.net, {}, {}};
    for (const Vec3 p : body.net->rest) body.position.push_back(start.to_world(p));
    const Vec3 center = center_of_mass(body);
    for (const Vec3 p : body.position)
        body.velocity.push_back(properties.velocity + cross(properties.spin, p - center));
    return body;
}

void add_spring_forces(const SpringNet& net, std::span<const Vec3> position, std::span<const Vec3> velocity,
                       std::span<Vec3> force) {
    for (const Spring& spring : net.springs) {
        const Vec3 f = force_on_a(spring, position[spring.a] - position[spring.b],
                                  velocity[spring.a] - velocity[spring.b]);
        force[spring.a] += f;
        force[spring.b] -= f;
    }
}

double spring_energy(const SpringNet& net, std::span<const Vec3> position) {
    double energy = 0;
    for (const Spring& spring : net.springs) {
        const double stretch = length(position[spring.a] - position[spring.b]) - spring.length;
        energy += 0.5 * spring.stiffness * stretch * stretch;
    }
    return energy;
}

double stable_dt(const SpringNet& net) {
    // Gershgorin's theorem bounds the fastest vibration, row by row; the same sum over dampings bounds its
    // damping. Verlet with explicit damping zeta is stable below 2 (sqrt(1 + zeta^2) - zeta) / omega.
    std::vector<double> stiffness(net.mass.size(), 0.0), damping(net.mass.size(), 0.0);
    for (const Spring& spring : net.springs) {
        const double inverse_masses = 1 / net.mass[spring.a] + 1 / net.mass[spring.b];
        for (const int node : {spring.a, spring.b}) {
            stiffness[node] += spring.stiffness * inverse_masses;
            damping[node] += spring.damping * inverse_masses;
        }
    }
    double dt = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < stiffness.size(); ++i) {
        if (stiffness[i] == 0) continue;
        const double omega = std::sqrt(stiffness[i]), zeta = 0.5 * damping[i] / omega;
        dt = std::min(dt, 2 * (std::sqrt(1 + zeta * zeta) - zeta) / omega);
    }
    return dt;
}

Vec3 advance(SpringBody& body, Vec3 gravity, double dt, const NodeConfines& confines) {
    const SpringNet& net = *body.net;
    // Half of the limit: at the limit itself the fastest vibration is stable but wrong.
    const int steps = std::max(1, int(std::ceil(dt / (0.5 * stable_dt(net)))));
    const double h = dt / steps;
    std::vector<Vec3> force(body.position.size());
    Vec3 impulse;
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < force.size(); ++i) {
            body.position[i] += body.velocity[i] * (0.5 * h);
            force[i] = gravity * net.mass[i];
        }
        add_spring_forces(net, body.position, body.velocity, force);
        for (std::size_t i = 0; i < force.size(); ++i) {
            body.velocity[i] += force[i] * (h / net.mass[i]);
            body.position[i] += body.velocity[i] * (0.5 * h);
            const Vec3 before = body.velocity[i];
            confine(body.position[i], body.velocity[i], net.contact_radius, confines);
            impulse += net.mass[i] * (body.velocity[i] - before);
        }
    }
    return impulse;
}

TriangleMesh skin_of(const SpringNet& net, std::span<const Vec3> position) {
    // Rotation and stretch of each node's neighbourhood: the least-squares map from its springs at rest to
    // the present ones. A small multiple of the identity keeps it regular where all neighbours lie in a
    // plane.
    std::vector<Mat3> now(position.size()), then(position.size());
    for (const Spring& spring : net.springs) {
        const Vec3 a = (net.rest[spring.a] - net.rest[spring.b]) / spring.length,
                   b = (position[spring.a] - position[spring.b]) / spring.length;
        for (const int node : {spring.a, spring.b}) {
            then[node] = then[node] + Mat3::outer(a, a);
            now[node] = now[node] + Mat3::outer(b, a);
        }
    }
    const Mat3 trace = Mat3::diagonal({1e-6, 1e-6, 1e-6});
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = (now[i] + trace) * (then[i] + trace).inverse();
    TriangleMesh mesh = net.mesh;
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
        const Vec3 at_rest = mesh.vertices[v];
        Vec3 place;
        for (int n = 0; n < net.skin[v].count; ++n) {
            const int node = net.skin[v].node[n];
            place += net.skin[v].weight[n] * (position[node] + now[node] * (at_rest - net.rest[node]));
        }
        mesh.vertices[v] = place;
    }
    return mesh;
}

bool deforms(const SpringProperties& properties) {
    return properties.net && !properties.net->springs.empty();
}
bool deforms(const SpringBody& body) { return !body.net->springs.empty(); }

TriangleMesh surface_of(const SpringBody& body, const TriangleMesh&) { return skin_of(body); }

std::vector<Vec3> surface_velocity(const SpringBody& body, const TriangleMesh& surface) {
    // Vertices depend on the nodes nonlinearly: take their displacement over the previous millisecond.
    constexpr double time = 1e-3;
    std::vector<Vec3> before = body.position;
    for (std::size_t i = 0; i < before.size(); ++i) before[i] -= body.velocity[i] * time;
    std::vector<Vec3> velocity = skin_of(*body.net, before).vertices;
    for (std::size_t v = 0; v < velocity.size(); ++v)
        velocity[v] = (surface.vertices[v] - velocity[v]) / time;
    return velocity;
}

SpringPoint follow(const SpringBody& body, Vec3 point) {
    return {std::make_shared<SpringNet>(with_skin(*body.net, {{pose_of(body).to_body(point)}, {}}))};
}
Vec3 place_of(const SpringBody& body, const SpringPoint& point) {
    return skin_of(*point.net, body.position).vertices[0];
}

double mass_of(const SpringBody& body) { return body.net->total_mass(); }
Vec3 velocity_of(const SpringBody& body) { return momentum(body) / body.net->total_mass(); }
std::span<Vec3> velocities(SpringBody& body) { return body.velocity; }
double distortion(const SpringBody& body) {
    return distortion(pose_of(body), body.position, body.net->rest, body.net->mass);
}

Vec3 center_of_mass(const SpringBody& body) {
    Vec3 sum;
    for (std::size_t i = 0; i < body.position.size(); ++i) sum += body.net->mass[i] * body.position[i];
    return sum / body.net->total_mass();
}

Vec3 momentum(const SpringBody& body) {
    Vec3 sum;
    for (std::size_t i = 0; i < body.velocity.size(); ++i) sum += body.net->mass[i] * body.velocity[i];
    return sum;
}

Vec3 angular_momentum(const SpringBody& body) {
    Vec3 sum;
    for (std::size_t i = 0; i < body.velocity.size(); ++i)
        sum += body.net->mass[i] * cross(body.position[i], body.velocity[i]);
    return sum;
}

double kinetic_energy(const SpringBody& body) {
    double sum = 0;
    for (std::size_t i = 0; i < body.velocity.size(); ++i)
        sum += 0.5 * body.net->mass[i] * dot(body.velocity[i], body.velocity[i]);
    return sum;
}

double largest_speed(const SpringBody& body) {
    double largest = 0;
    for (const Vec3 v : body.velocity) largest = std::max(largest, length(v));
    return largest;
}

Vec3 spin_of(const SpringBody& body) {
    if (body.position.size() < 2) return {};  // a single node does not turn
    const Vec3 center = center_of_mass(body);
    Mat3 inertia;
    Vec3 spin;
    for (std::size_t i = 0; i < body.position.size(); ++i) {
        const Vec3 r = body.position[i] - center;
        const double m = body.net->mass[i], square = m * dot(r, r);
        inertia = inertia + Mat3::diagonal({square, square, square}) - Mat3::outer(m * r, r);
        spin += m * cross(r, body.velocity[i]);
    }
    return inertia.inverse() * spin;
}

Pose pose_of(const SpringBody& body) {
    const SpringNet& net = *body.net;
    Vec3 rest_center;
    for (std::size_t i = 0; i < net.rest.size(); ++i) rest_center += net.mass[i] * net.rest[i];
    rest_center = rest_center / net.total_mass();
    const Vec3 center = center_of_mass(body);
    // The rotation nearest to the map from rest to now (Kabsch 1976).
    Eigen::Matrix3d map = Eigen::Matrix3d::Zero();
    for (std::size_t i = 0; i < net.rest.size(); ++i) {
        const Vec3 a = body.position[i] - center, b = net.rest[i] - rest_center;
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) map(r, c) += net.mass[i] * a[r] * b[c];
    }
    Rotation turn;
    if (net.rest.size() > 1) {
        const Eigen::JacobiSVD<Eigen::Matrix3d> svd(map, Eigen::ComputeFullU | Eigen::ComputeFullV);
        Eigen::Matrix3d mirror = Eigen::Matrix3d::Identity();
        mirror(2, 2) = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
        const Eigen::Matrix3d best = svd.matrixU() * mirror * svd.matrixV().transpose();
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) turn.row[r][c] = best(r, c);
    }
    return {center - turn * rest_center, turn};
}

void visit_state(std::vector<SpringBody>& bodies, StateVisitor& visit, const std::string& name) {
    for (SpringBody& body : bodies) {
        const std::string own = name + "/" + std::to_string(body.solid);
        visit.array(own + "/position", body.position);
        visit.array(own + "/velocity", body.velocity);
    }
}

}  // namespace flotsam
