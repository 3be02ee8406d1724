#include "solid/elastic/elastic_body.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/parallel.h"
#include "solid/nodes.h"

namespace flotsam {

namespace {

constexpr std::int64_t grain = 1024;

// Finds the element entries that sum to each node and each block of the matrix, in the elements' order. Each
// sum is gathered by one thread, so that no two threads write to one place and the order never changes.
void find_pattern(ElasticMesh& mesh) {
    const std::size_t nodes = mesh.rest.nodes.size();
    const std::vector<Tet>& tets = mesh.rest.tets;
    mesh.node_begin.assign(nodes + 1, 0);
    for (const Tet& t : tets)
        for (const int n : t) ++mesh.node_begin[n + 1];
    for (std::size_t n = 0; n < nodes; ++n) mesh.node_begin[n + 1] += mesh.node_begin[n];
    mesh.node_source.resize(4 * tets.size());
    std::vector<std::int64_t> next(mesh.node_begin.begin(), mesh.node_begin.end() - 1);
    for (std::size_t t = 0; t < tets.size(); ++t)
        for (int a = 0; a < 4; ++a) mesh.node_source[next[tets[t][a]]++] = std::int64_t(4 * t + a);

    BlockMatrix& pattern = mesh.pattern;
    mesh.block_begin = {0};
    std::vector<std::pair<int, std::int64_t>> entries;  // column, source
    for (std::size_t n = 0; n < nodes; ++n) {
        entries.clear();
        for (std::int64_t k = mesh.node_begin[n]; k < mesh.node_begin[n + 1]; ++k) {
            const std::int64_t t = mesh.node_source[k] / 4, a = mesh.node_source[k] % 4;
            for (int b = 0; b < 4; ++b) entries.emplace_back(tets[t][b], 16 * t + 4 * a + b);
        }
        std::sort(entries.begin(), entries.end());
        for (std::size_t k = 0; k < entries.size(); ++k) {
            if (k == 0 || entries[k].first != entries[k - 1].first) {
                if (k > 0) mesh.block_begin.push_back(std::ssize(mesh.block_source));
                if (entries[k].first == int(n)) pattern.diagonal.push_back(int(pattern.column.size()));
                pattern.column.push_back(entries[k].first);
            }
            mesh.block_source.push_back(entries[k].second);
        }
        mesh.block_begin.push_back(std::ssize(mesh.block_source));
        pattern.row_begin.push_back(int(pattern.column.size()));
    }
}

}  // namespace

double ElasticMesh::total_mass() const {
    double sum = 0;
    for (const double m : mass) sum += m;
    return sum;
}

ElasticMesh make_elastic_mesh(TetMesh rest, const ElasticMaterial& material, TriangleMesh skin) {
    ElasticMesh mesh;
    mesh.rest = std::move(rest);
    mesh.material = material;
    mesh.batches = make_batches(mesh.rest);
    mesh.edge = quality(mesh.rest).mean_edge;
    const std::vector<Vec3>& x = mesh.rest.nodes;
    mesh.mass.assign(x.size(), 0.0);
    for (const Tet& t : mesh.rest.tets) {
        const double quarter = material.density * tet_volume(x[t[0]], x[t[1]], x[t[2]], x[t[3]]) / 4;
        for (const int n : t) mesh.mass[n] += quarter;
    }
    mesh.triangles = surface_of(mesh.rest);
    mesh.skin_area.assign(x.size(), 0.0);
    for (const Int3 t : mesh.triangles) {
        const double third = length(cross(x[t.y] - x[t.x], x[t.z] - x[t.x])) / 6;
        for (int c = 0; c < 3; ++c) mesh.skin_area[t[c]] += third;
    }
    for (std::size_t n = 0; n < x.size(); ++n)
        if (mesh.skin_area[n] > 0) mesh.skin_nodes.push_back(int(n));
    find_pattern(mesh);
    if (skin.vertices.empty()) {
        // Only the nodes of the surface, numbered anew.
        std::vector<int> number(x.size(), -1);
        for (std::size_t n = 0; n < mesh.skin_nodes.size(); ++n) {
            number[mesh.skin_nodes[n]] = int(n);
            skin.vertices.push_back(x[mesh.skin_nodes[n]]);
        }
        for (const Int3 t : mesh.triangles) skin.triangles.push_back({number[t.x], number[t.y], number[t.z]});
    }
    mesh.skin_place = places_in(mesh.rest, skin.vertices);
    mesh.skin = std::move(skin);
    return mesh;
}

ElasticBody make_elastic_body(int solid, const ElasticProperties& properties, const Pose& start) {
    ElasticBody body{solid, properties.mesh, {}, {}};
    const std::vector<Vec3>& rest = properties.mesh->rest.nodes;
    const double mass = properties.mesh->total_mass();
    Vec3 center;
    for (std::size_t n = 0; n < rest.size(); ++n) center += rest[n] * (properties.mesh->mass[n] / mass);
    for (const Vec3 p : rest) {
        Vec3 arm = p - center;
        for (int a = 0; a < 3; ++a) arm[a] *= properties.squeeze[a];
        body.position.push_back(start.to_world(center + arm));
        body.velocity.push_back(properties.velocity + cross(properties.spin, start.rotation * arm));
    }
    return body;
}

Pin hold_flat(const ElasticMesh& mesh) {
    Pin pin;
    for (std::size_t n = 0; n < mesh.rest.nodes.size(); ++n) pin.nodes.push_back(int(n));
    pin.axes = {false, false, true};
    return pin;
}

TriangleMesh skin_of(const ElasticMesh& mesh, const std::vector<Vec3>& position) {
    TriangleMesh skin{std::vector<Vec3>(mesh.skin.vertices.size()), mesh.skin.triangles};
    parallel_for(std::ssize(skin.vertices), grain, [&](std::int64_t v) {
        const TetPlace& place = mesh.skin_place[v];
        for (int a = 0; a < 4; ++a)
            skin.vertices[v] += place.weight[a] * position[mesh.rest.tets[place.tet][a]];
    });
    return skin;
}

std::vector<Vec3> skin_velocity(const ElasticBody& body) {
    return skin_of(*body.mesh, body.velocity).vertices;
}

bool deforms(const ElasticBody&) { return true; }

TriangleMesh surface_of(const ElasticBody& body, const TriangleMesh&) { return skin_of(body); }

std::vector<Vec3> surface_velocity(const ElasticBody& body, const TriangleMesh&) {
    return skin_velocity(body);
}

ElasticPoint follow(const ElasticBody& body, Vec3 point) {
    return {places_in({body.position, body.mesh->rest.tets}, {point}).front()};
}
Vec3 place_of(const ElasticBody& body, const ElasticPoint& point) {
    Vec3 place;
    for (int a = 0; a < 4; ++a)
        place += point.place.weight[a] * body.position[body.mesh->rest.tets[point.place.tet][a]];
    return place;
}

double mass_of(const ElasticBody& body) { return body.mesh->total_mass(); }
Vec3 velocity_of(const ElasticBody& body) { return momentum(body) / body.mesh->total_mass(); }
std::span<Vec3> velocities(ElasticBody& body) { return body.velocity; }
double distortion(const ElasticBody& body) {
    return distortion(pose_of(body), body.position, body.mesh->rest.nodes, body.mesh->mass);
}

TriangleMesh node_surface(const ElasticBody& body) { return {body.position, body.mesh->triangles}; }

Vec3 center_of_mass(const ElasticBody& body) {
    return fixed_sum<Vec3>(std::ssize(body.position), grain,
                           [&](std::int64_t n) { return body.mesh->mass[n] * body.position[n]; }) /
           body.mesh->total_mass();
}
Vec3 momentum(const ElasticBody& body) {
    return fixed_sum<Vec3>(std::ssize(body.position), grain,
                           [&](std::int64_t n) { return body.mesh->mass[n] * body.velocity[n]; });
}
Vec3 angular_momentum(const ElasticBody& body) {
    return fixed_sum<Vec3>(std::ssize(body.position), grain, [&](std::int64_t n) {
        return body.mesh->mass[n] * cross(body.position[n], body.velocity[n]);
    });
}
Mat3 inertia_about(const ElasticMesh& mesh, std::span<const Vec3> x, Vec3 center) {
    Mat3 inertia;
    for (std::size_t n = 0; n < x.size(); ++n) {
        const Vec3 arm = x[n] - center;
        for (int i = 0; i < 3; ++i) {
            inertia.row[i][i] += mesh.mass[n] * dot(arm, arm);
            inertia.row[i] -= mesh.mass[n] * arm[i] * arm;
        }
    }
    return inertia;
}
Vec3 spin_of(const ElasticBody& body) {
    const Vec3 center = center_of_mass(body);
    return inertia_about(*body.mesh, body.position, center).inverse() *
           (angular_momentum(body) - cross(center, momentum(body)));
}
double kinetic_energy(const ElasticBody& body) {
    return fixed_sum<double>(std::ssize(body.position), grain, [&](std::int64_t n) {
        return 0.5 * body.mesh->mass[n] * dot(body.velocity[n], body.velocity[n]);
    });
}
double elastic_energy(const ElasticBody& body) {
    std::vector<double> energy;
    evaluate_elements(body.mesh->batches, body.mesh->material, body.position, {.energy = &energy});
    return fixed_sum<double>(std::ssize(energy), grain, [&](std::int64_t e) { return energy[e]; });
}
double volume(const ElasticBody& body) {
    return fixed_sum<double>(std::ssize(body.mesh->rest.tets), grain, [&](std::int64_t t) {
        const Tet& n = body.mesh->rest.tets[t];
        return tet_volume(body.position[n[0]], body.position[n[1]], body.position[n[2]], body.position[n[3]]);
    });
}
double largest_speed(const ElasticBody& body) {
    return parallel_max(std::ssize(body.velocity), grain, 0,
                        [&](std::int64_t n) { return length(body.velocity[n]); });
}

double smallest_determinant(const ElasticBody& body) {
    const ElasticMesh& mesh = *body.mesh;
    return -parallel_max(std::ssize(mesh.rest.tets), grain, -1e300, [&](std::int64_t t) {
        const Tet& n = mesh.rest.tets[t];
        const ElementBatch& batch = mesh.batches[t / ElementBatch::lanes];
        return -tet_volume(body.position[n[0]], body.position[n[1]], body.position[n[2]],
                           body.position[n[3]]) /
               batch.volume[t % ElementBatch::lanes];
    });
}

std::vector<Mat3> stresses(const ElasticBody& body) {
    const ElasticMesh& mesh = *body.mesh;
    std::vector<Mat3> all(mesh.rest.tets.size());
    parallel_for(std::ssize(all), 256, [&](std::int64_t t) {
        constexpr int lanes = ElementBatch::lanes;
        all[t] = cauchy_stress(deformation_gradient(mesh.batches[t / lanes], int(t % lanes), body.position),
                               mesh.material);
    });
    return all;
}

double von_mises(const Mat3& s) {
    const double a = s.row[0].x - s.row[1].y, b = s.row[1].y - s.row[2].z, c = s.row[2].z - s.row[0].x;
    const double shear = s.row[0].y * s.row[0].y + s.row[1].z * s.row[1].z + s.row[2].x * s.row[2].x;
    return std::sqrt(0.5 * (a * a + b * b + c * c) + 3 * shear);
}

Pose pose_of(const ElasticBody& body) {
    const ElasticMesh& mesh = *body.mesh;
    const Vec3 center = center_of_mass(body);
    const Vec3 rest_center = center_of_mass({0, body.mesh, mesh.rest.nodes, {}});
    Mat3 spread;
    for (std::size_t n = 0; n < body.position.size(); ++n)
        spread =
            spread + Mat3::outer(body.position[n] - center, mesh.rest.nodes[n] - rest_center) * mesh.mass[n];
    const Rotation turn{nearest_rotation(spread * (1 / (mesh.total_mass() * mesh.edge * mesh.edge))).row};
    return {center - turn * rest_center, turn};
}

void visit_state(std::vector<ElasticBody>& bodies, StateVisitor& visit, const std::string& name) {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        const std::string own = name + "/" + std::to_string(b);
        visit.array(own + "/position", bodies[b].position);
        visit.array(own + "/velocity", bodies[b].velocity);
    }
}

}  // namespace flotsam
