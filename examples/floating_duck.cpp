// A duck falls into a pool: steps a scene, looks at it, saves it, and goes on from there twice.
#include <flotsam/flotsam.h>

#include <cstdio>

constexpr const char* scene = R"(
scene = { duration = 2.0, frames_per_second = 30 }
domain = { size = [0.6, 0.5, 0.4], resolution = 24 }
liquid = { fill = [{ level = 0.2 }] }
solid = [{ name = "duck", shape = { duck = 0.2 }, motion = "rigid", position = [0.3, 0.3, 0.2], density = 250 }]
probe = [{ name = "depth", height = [0.05, 0.05] }]
)";

int main(int, char** arguments) try {
    flotsam::Simulation pool = flotsam::Simulation::from_text(scene);
    while (pool.time() < 0.3) {
        pool.advance_frame();
        const flotsam::Body duck = pool.bodies()[0];
        std::printf("%.3f s: %s at %.3f m, %+.3f m/s\n", pool.time(), duck.name.c_str(), duck.position[1],
                    duck.velocity[1]);
    }
    std::printf("water: %.4f m^3, %zu particles, %zu triangles, %.3f m deep beside the wall\n",
                pool.liquid_volume(), pool.particles().positions.size(), pool.surface().triangles.size(),
                pool.measurements()[0].value);

    const std::string file = std::string(arguments[0]) + ".state";
    pool.save(file);
    pool.advance_to(0.45);
    flotsam::Simulation again = flotsam::Simulation::from_text(scene);
    again.restore(file);
    again.advance_to(0.45);
    const bool same = again.particles().positions == pool.particles().positions &&
                      again.bodies()[0].position == pool.bodies()[0].position;
    std::printf("restored and stepped on to %.2f s: %s\n", again.time(),
                same ? "the same bits" : "something else");
    return same ? 0 : 1;
} catch (const flotsam::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
