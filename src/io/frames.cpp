#include "io/frames.h"

#include <fmt/format.h>

#include "core/parallel.h"
#include "fluid/grid/sample.h"
#include "geometry/surface_nets.h"
#include "io/ply.h"
#include "io/vdb.h"

namespace flotsam {

namespace {

struct FrameFile {
    std::string_view stem, extension;
};
constexpr FrameFile surface_file{"surface_", ".ply"}, volume_file{"volume_", ".vdb"},
    particles_file{"particles_", ".ply"}, solids_file{"solids_", ".ply"};

std::string name_of(FrameFile file, int frame) {
    return fmt::format("{}{:04}{}", file.stem, frame, file.extension);
}

std::vector<Vec3f> velocities_at(const MacGrid& u, const Domain& domain, const std::vector<Vec3f>& points) {
    std::vector<Vec3f> velocity(points.size());
    parallel_for(std::int64_t(points.size()), 1024,
                 [&](std::int64_t n) { velocity[n] = Vec3f(sample_velocity(u, domain, Vec3(points[n]))); });
    return velocity;
}

// Adds a solid's surface at a time, and the velocities of its vertices over the millisecond before.
void append_solid(const Solid& solid, double time, SurfaceMesh& mesh, std::vector<Vec3f>& velocity) {
    const TriangleMesh now = mesh_at(solid, time), before = mesh_at(solid, time - 1e-3);
    const auto first = static_cast<std::int32_t>(mesh.vertices.size());
    for (std::size_t v = 0; v < now.vertices.size(); ++v) {
        mesh.vertices.push_back(Vec3f(now.vertices[v]));
        velocity.push_back(Vec3f((now.vertices[v] - before.vertices[v]) / 1e-3));
    }
    for (const Int3 t : now.triangles) mesh.triangles.push_back({first + t.x, first + t.y, first + t.z});
}

}  // namespace

Field<double> surface_beside_solids(const World& world, const Scenario& scenario) {
    const Domain& domain = scenario.domain;
    Field<double> phi = world.liquid.phi;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const PlacedShape shape = shape_of(world, scenario, s);
        // Beyond the band in which distances are kept the solid changes nothing.
        Box reach = shape.bounds();
        const Vec3 band = Vec3{1, 1, 1} * outside_distance(domain);
        reach = {reach.low - band, reach.high + band};
        for_each_cell(phi.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
            const Vec3 p = domain.cell_center(c);
            if (reach.contains(p)) phi[n] = std::max(phi[n], -shape.distance(p));
        });
    }
    return phi;
}

void FrameExporter::on_start(const World& world, int frame) {
    if (world.step == 0) write(world, frame);
}

void FrameExporter::on_frame(World& world, int frame) { write(world, frame); }

void FrameExporter::write(const World& world, int frame) const {
    const LiquidState& liquid = world.liquid;
    const Domain& domain = scenario_.domain;
    const Field<double> phi =
        output_.surface || output_.volume ? surface_beside_solids(world, scenario_) : Field<double>{};
    if (output_.surface) {
        const SurfaceMesh mesh = extract_surface(phi, domain.h);
        write_ply(folder_ / name_of(surface_file, frame), mesh,
                  velocities_at(liquid.velocity, domain, mesh.vertices));
    }
    if (output_.volume) write_vdb(folder_ / name_of(volume_file, frame), phi, liquid.velocity, domain.h);
    if (output_.particles) {
        const Particles& particles = liquid.particles;
        const bool massless = particles.velocity.empty();  // markers move with the grid
        write_ply(folder_ / name_of(particles_file, frame), particles.position,
                  massless ? velocities_at(liquid.velocity, domain, particles.position) : particles.velocity);
    }
    if (output_.solids && !scenario_.solids.empty()) {
        SurfaceMesh mesh;
        std::vector<Vec3f> velocity;
        for (const Solid& solid : scenario_.solids) append_solid(solid, world.time, mesh, velocity);
        write_ply(folder_ / name_of(solids_file, frame), mesh, velocity);
    }
}

bool is_frame_file(const std::string& name) {
    for (const FrameFile file : {surface_file, volume_file, particles_file, solids_file}) {
        if (!name.starts_with(file.stem) || !name.ends_with(file.extension)) continue;
        if (name.size() < file.stem.size() + 4 + file.extension.size()) continue;
        const std::string number =
            name.substr(file.stem.size(), name.size() - file.stem.size() - file.extension.size());
        if (number.find_first_not_of("0123456789") == std::string::npos) return true;
    }
    return false;
}

}  // namespace flotsam
