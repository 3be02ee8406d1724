#include "io/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
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

// Linear between the faces around p [m]; beyond the outermost ones as on them.
double component_at(const Field<double>& u, int axis, Vec3 p, double h) {
    Int3 low;
    Vec3 share;
    for (int a = 0; a < 3; ++a) {
        const int last = u.tiling().cells()[a] - (a == axis ? 0 : 1);
        const double x = std::clamp(p[a] / h - (a == axis ? 0.0 : 0.5), 0.0, double(last));
        low[a] = std::min(int(x), std::max(last - 1, 0));
        share[a] = x - low[a];
    }
    double sum = 0;
    for (int corner = 0; corner < 8; ++corner) {
        const Int3 c{corner & 1, (corner >> 1) & 1, corner >> 2};
        const double weight =
            (c.x ? share.x : 1 - share.x) * (c.y ? share.y : 1 - share.y) * (c.z ? share.z : 1 - share.z);
        if (weight > 0) sum += weight * u(low + c);
    }
    return sum;
}

std::vector<Vec3f> velocities_at(const MacGrid& u, const std::vector<Vec3f>& points, double h) {
    std::vector<Vec3f> velocity(points.size());
    if (u[0].empty()) return velocity;
    parallel_for(std::int64_t(points.size()), 1024, [&](std::int64_t n) {
        for (int axis = 0; axis < 3; ++axis)
            velocity[n][axis] = float(component_at(u[axis], axis, Vec3(points[n]), h));
    });
    return velocity;
}

}  // namespace

void FrameExporter::on_start(const World& world, int frame) {
    if (world.step == 0) write(world, frame);
}

void FrameExporter::on_frame(World& world, int frame) { write(world, frame); }

void FrameExporter::write(const World& world, int frame) const {
    const LiquidState& liquid = world.liquid;
    const double h = scenario_.domain.h;
    if (output_.surface) {
        const SurfaceMesh mesh = extract_surface(liquid.phi, h);
        write_ply(folder_ / name_of(surface_file, frame), mesh,
                  velocities_at(liquid.velocity, mesh.vertices, h));
    }
    if (output_.volume) write_vdb(folder_ / name_of(volume_file, frame), liquid.phi, liquid.velocity, h);
    if (output_.particles) {
        const Particles& particles = liquid.particles;
        const bool massless = particles.velocity.empty();  // markers move with the grid
        write_ply(folder_ / name_of(particles_file, frame), particles.position,
                  massless ? velocities_at(liquid.velocity, particles.position, h) : particles.velocity);
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
