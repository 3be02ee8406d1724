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
    particles_file{"particles_", ".ply"};

std::string name_of(FrameFile file, int frame) {
    return fmt::format("{}{:04}{}", file.stem, frame, file.extension);
}

std::vector<Vec3f> velocities_at(const MacGrid& u, const Domain& domain, const std::vector<Vec3f>& points) {
    std::vector<Vec3f> velocity(points.size());
    parallel_for(std::int64_t(points.size()), 1024,
                 [&](std::int64_t n) { velocity[n] = Vec3f(sample_velocity(u, domain, Vec3(points[n]))); });
    return velocity;
}

}  // namespace

Field<double> surface_beside_solids(const World& world, const Scenario& scenario) {
    const Domain& domain = scenario.domain;
    Field<double> phi = world.liquid.phi;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        const Solid& solid = scenario.solids[s];
        const Pose pose = pose_of(world, scenario, s);
        // Beyond the band in which distances are kept the solid changes nothing.
        const Box body = bounds(solid.shape.mesh);
        Box reach{pose.to_world(body.low), pose.to_world(body.low)};
        for (int corner = 1; corner < 8; ++corner) {
            const Vec3 p =
                pose.to_world({corner & 1 ? body.high.x : body.low.x, corner & 2 ? body.high.y : body.low.y,
                               corner & 4 ? body.high.z : body.low.z});
            reach = {min(reach.low, p), max(reach.high, p)};
        }
        const Vec3 band = Vec3{1, 1, 1} * outside_distance(domain);
        reach = {reach.low - band, reach.high + band};
        for_each_cell(phi.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
            const Vec3 p = domain.cell_center(c);
            if (reach.contains(p))
                phi[n] = std::max(phi[n], -solid.shape.distance->distance(pose.to_body(p)));
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
}

bool is_frame_file(const std::string& name) {
    for (const FrameFile file : {surface_file, volume_file, particles_file}) {
        if (!name.starts_with(file.stem) || !name.ends_with(file.extension)) continue;
        if (name.size() < file.stem.size() + 4 + file.extension.size()) continue;
        const std::string number =
            name.substr(file.stem.size(), name.size() - file.stem.size() - file.extension.size());
        if (number.find_first_not_of("0123456789") == std::string::npos) return true;
    }
    return false;
}

}  // namespace flotsam
