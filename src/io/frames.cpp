#include "io/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/parallel.h"
#include "fluid/grid/box_index.h"
#include "fluid/grid/sample.h"
#include "fluid/grid/skin.h"
#include "io/ply.h"
#include "io/tet_vtk.h"
#include "io/vdb.h"

namespace flotsam {

namespace {

std::vector<Vec3f> velocities_at(const MacGrid& u, const Domain& domain, const std::vector<Vec3f>& points) {
    std::vector<Vec3f> velocity(points.size());
    parallel_for(std::int64_t(points.size()), 1024,
                 [&](std::int64_t n) { velocity[n] = Vec3f(sample_velocity(u, domain, Vec3(points[n]))); });
    return velocity;
}

}  // namespace

void append_solid(const World& world, const Scenario& scenario, std::size_t s, SurfaceMesh& mesh,
                  std::vector<Vec3f>& velocity) {
    const TriangleMesh now = mesh_of(world, scenario, s);
    std::vector<Vec3> own;
    if (!with_body(world, s, [&](const auto& body) { own = surface_velocity(body, now); })) {
        own = mesh_at(scenario.solids[s], world.time - 1e-3).vertices;
        for (std::size_t v = 0; v < own.size(); ++v) own[v] = (now.vertices[v] - own[v]) / 1e-3;
    }
    const auto first = static_cast<std::int32_t>(mesh.vertices.size());
    for (const Vec3 v : now.vertices) mesh.vertices.push_back(Vec3f(v));
    for (const Vec3 v : own) velocity.push_back(Vec3f(v));
    for (const Int3 t : now.triangles) mesh.triangles.push_back({first + t.x, first + t.y, first + t.z});
}

std::string FrameFile::name(int frame) const { return fmt::format("{}{:04}{}", stem, frame, extension); }

int FrameFile::frame_of(std::string_view file) const {
    if (!file.starts_with(stem) || !file.ends_with(extension)) return -1;
    if (file.size() < stem.size() + 4 + extension.size()) return -1;
    const std::string_view digits = file.substr(stem.size(), file.size() - stem.size() - extension.size());
    int frame = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), frame);
    return error == std::errc{} && end == digits.data() + digits.size() && frame >= 0 ? frame : -1;
}

std::vector<int> FrameFile::frames_in(const std::filesystem::path& folder) const {
    std::vector<int> frames;
    std::error_code error;  // a folder that cannot be read holds none
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (const int frame = frame_of(entry.path().filename().string()); frame >= 0) frames.push_back(frame);
    std::sort(frames.begin(), frames.end());
    return frames;
}

Field<double> pressure_in_liquid(const World& world, const Scenario& scenario) {
    const LiquidState& liquid = world.liquid;
    const Domain& domain = scenario.domain;
    Field<double> pressure(liquid.phi.shared_tiling(), 0);
    if (liquid.potential.empty()) return pressure;
    for_each_cell(pressure.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
        const bool solid = !liquid.open_volume.empty() && liquid.open_volume[n] == 0;
        // Cells that the liquid entered after the last solve have no pressure yet.
        if (liquid.phi[n] >= 0 || solid || liquid.potential[n] == 0) return;
        pressure[n] =
            liquid.potential[n] + scenario.liquid.density * dot(scenario.gravity, domain.cell_center(c));
    });
    return pressure;
}

void end_at_solids(Field<double>& phi, const Domain& domain, const World& world, const Scenario& scenario,
                   double overlap) {
    std::vector<PlacedShape> shapes;
    std::vector<Box> boxes;
    std::vector<double> depth;
    for (std::size_t s = 0; s < scenario.solids.size(); ++s) {
        shapes.push_back(shape_of(world, scenario, s));
        boxes.push_back(shapes[s].bounds());
        const Box body = shapes[s].shape->bounds();
        const Vec3 edges = body.high - body.low;
        depth.push_back(std::min(overlap, 0.2 * std::min({edges.x, edges.y, edges.z})));
    }
    // A solid changes nothing beyond the band in which distances are kept.
    const BoxIndex index(boxes, domain, outside_distance(domain));
    for_each_cell(phi.tiling(), domain.cells, [&](Int3 c, std::int64_t n) {
        for (const int s : index.near(c))
            phi[n] = std::max(phi[n], -shapes[s].distance(domain.cell_center(c)) - depth[s]);
    });
}

LiquidSurface liquid_surface(const World& world, const Scenario& scenario, int refinement) {
    const LiquidState& liquid = world.liquid;
    const Domain& domain = scenario.domain;
    // A slab has no room for finer cells across; it is shown from its volume.
    Skin skin = domain.flat() ? Skin{domain, liquid.phi, {}}
                              : make_skin(liquid.particles, liquid.phi, domain, refinement);
    // Half a cell into the solid, so that a picture finds no air between liquid and solid.
    end_at_solids(skin.phi, skin.domain, world, scenario, domain.flat() ? 0 : 0.5 * domain.h);
    LiquidSurface surface{extract_surface(skin.phi, skin.domain.h), {}, std::move(skin.spray)};
    surface.velocity = velocities_at(liquid.velocity, domain, surface.mesh.vertices);
    return surface;
}

std::vector<Vec3f> particle_velocities(const Particles& particles, const World& world,
                                       const Scenario& scenario) {
    const bool massless = particles.velocity.empty();  // markers move with the grid
    return massless ? velocities_at(world.liquid.velocity, scenario.domain, particles.position)
                    : particles.velocity;
}

void FrameExporter::on_start(const World& world, int frame) {
    if (world.step == 0) write(world, frame);
}

void FrameExporter::on_frame(World& world, int frame) { write(world, frame); }

void FrameExporter::write(const World& world, int frame) const {
    const LiquidState& liquid = world.liquid;
    const Domain& domain = scenario_.domain;
    if (output_.surface) {
        const LiquidSurface surface = liquid_surface(world, scenario_, output_.surface_refinement);
        write_ply(folder_ / surface_file.name(frame), surface.mesh, surface.velocity);
        write_ply(folder_ / spray_file.name(frame), surface.spray.position,
                  particle_velocities(surface.spray, world, scenario_));
    }
    if (output_.volume) {
        Field<double> phi = liquid.phi;
        end_at_solids(phi, domain, world, scenario_, 0);
        write_vdb(folder_ / volume_file.name(frame), phi, liquid.velocity,
                  pressure_in_liquid(world, scenario_), domain.h);
    }
    if (output_.particles)
        write_ply(folder_ / particles_file.name(frame), liquid.particles.position,
                  particle_velocities(liquid.particles, world, scenario_));
    if (output_.stress && !world.elastics.empty()) write_tet_vtk(folder_ / elastic_file.name(frame), world);
    if (output_.solids && !scenario_.solids.empty()) {
        SurfaceMesh mesh;
        std::vector<Vec3f> velocity;
        for (std::size_t s = 0; s < scenario_.solids.size(); ++s)
            append_solid(world, scenario_, s, mesh, velocity);
        write_ply(folder_ / solids_file.name(frame), mesh, velocity);
    }
}

bool is_frame_file(const std::string& name) {
    for (const FrameFile& file :
         {surface_file, spray_file, volume_file, particles_file, solids_file, elastic_file})
        if (file.frame_of(name) >= 0) return true;
    return false;
}

}  // namespace flotsam
