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

void FrameExporter::on_start(const World& world, int frame) {
    if (world.step == 0) write(world, frame);
}

void FrameExporter::on_frame(World& world, int frame) { write(world, frame); }

void FrameExporter::write(const World& world, int frame) const {
    const LiquidState& liquid = world.liquid;
    const Domain& domain = scenario_.domain;
    if (output_.surface) {
        const SurfaceMesh mesh = extract_surface(liquid.phi, domain.h);
        write_ply(folder_ / name_of(surface_file, frame), mesh,
                  velocities_at(liquid.velocity, domain, mesh.vertices));
    }
    if (output_.volume)
        write_vdb(folder_ / name_of(volume_file, frame), liquid.phi, liquid.velocity, domain.h);
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
