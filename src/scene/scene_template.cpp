#include "scene/scene_template.h"

namespace flotsam {

namespace {

constexpr std::string_view dam_break =
    R"(# A column of water collapses. SI units, y up; every key is in docs/scene_reference.md.
[scene]
title = "My dam break"
duration = 2.0                  # s
frames_per_second = 24
method = "cut-cell"             # see: flotsam list methods
# gravity = 9.81                # m/s^2, down; or a vector [x, y, z]
# cfl = 2.0                     # cells that the fastest water may cross in a step
# time_step = 0.005             # s; fixed, instead of cfl

[domain]
size = [1.0, 0.6, 0.6]          # m: length, height, depth; the box begins at the origin
resolution = 40                 # cells along the longest side; twice as many cost about 16 times as much
walls = { top = "open" }        # left, right, bottom, top, back, front: closed (default) or open
                                # slip = 0..1 for all of them: 1 slides freely, 0 sticks

[liquid]
density = 1000.0                # kg/m^3
# carrier = "apic"              # apic | flip | markers

[[liquid.fill]]                 # box, sphere, level or mesh; as many as you like
box = { min = [0, 0, 0], max = [0.3, 0.4, 0.6] }
# velocity = [0, 0, 0]          # m/s at the start

# [[liquid.fill]]
# level = 0.05                  # m: everything below

# [[liquid.fill]]
# sphere = { center = [0.7, 0.4, 0.3], radius = 0.1 }

[output]
surface = true                  # frames/*.ply with velocities
volume = true                   # frames/*.vdb with distance and velocity
particles = false

[[probe]]                       # written to probes.csv every step
name = "far_wall"
height = [0.95, 0.3]            # of the surface above [x, z]

[[claim]]                       # judged by: flotsam check
says = "splashes aside, no water is lost or made"
what = "liquid.volume"          # see: flotsam list quantities
relative_to_start = { min = 0.9, max = 1.1 }
)";

constexpr std::string_view slab =
    R"(# A dam break in two dimensions: a slab one cell thick, seconds of computing. SI units, y up.
[scene]
title = "My slab"
duration = 2.0                  # s
frames_per_second = 24
dimensions = 2                  # points and vectors need only x and y

[domain]
size = [1.0, 0.6]               # m: length, height
resolution = 100                # cells along the longest side

[[liquid.fill]]
box = { min = [0, 0], max = [0.25, 0.4] }

[[probe]]                       # written to probes.csv every step
name = "far_wall"
height = 0.98                   # of the surface above x

[[claim]]                       # judged by: flotsam check
says = "splashes aside, no water is lost or made"
what = "liquid.volume"
relative_to_start = { min = 0.9, max = 1.1 }
)";

constexpr std::string_view fountain =
    R"(# A jet rises from a pool and drains away. SI units, y up; every key is in docs/scene_reference.md.
[scene]
title = "My fountain"
duration = 3.0                  # s
frames_per_second = 24

[domain]
size = [0.6, 0.6, 0.6]          # m
resolution = 36                 # cells along the longest side
walls = { top = "open" }        # what flies out is gone

[[liquid.fill]]
level = 0.08                    # m: everything below is water

[[liquid.emitter]]              # a region kept full of moving water: box, sphere or mesh
sphere = { center = [0.3, 0.1, 0.3], radius = 0.035 }
velocity = [0, 2.2, 0]          # m/s: rises by v^2 / 2g = 0.25 m
from = 0.0                      # s
until = 2.0                     # s

[[liquid.sink]]                 # a region in which water vanishes
box = { min = [0.55, 0.0, 0.0], max = [0.6, 0.05, 0.6] }

[[probe]]
name = "jet"
height = [0.3, 0.3]             # of the surface above [x, z]

[[claim]]                       # judged by: flotsam check
says = "the jet stands well above the pool"
what = "probe.jet"
from = 0.5
until = 1.5
over = "mean"
min = 0.2                       # m
)";

}  // namespace

const std::vector<SceneTemplate>& scene_templates() {
    static const std::vector<SceneTemplate> all = {
        {"dam-break", "a column of water collapses in a box", dam_break},
        {"slab", "the same in two dimensions, for quick trials", slab},
        {"fountain", "a jet from an emitter, drained by a sink", fountain},
    };
    return all;
}

}  // namespace flotsam
