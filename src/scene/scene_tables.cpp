#include "core/check.h"
#include "scene/claim_scene.h"
#include "scene/liquid_scene.h"
#include "scene/rigid_scene.h"
#include "scene/schema.h"
#include "scene/solid_scene.h"

namespace flotsam {

namespace {

std::vector<std::string_view> solver_choices() { return {solver_names.begin(), solver_names.end()}; }

// The file itself, and what happens where and for how long.
std::vector<TableRule> domain_tables() {
    const auto side = [](std::string_view name, std::string_view meaning) {
        return KeyRule{.name = name,
                       .types = a_text | a_table,
                       .fallback = "\"closed\"",
                       .meaning = meaning,
                       .choices = {"closed", "open", "mirror"},
                       .inner = "wall"};
    };

    return {
        {"file",
         "the file",
         "The tables of a scene.",
         {{.name = "scene",
           .types = a_table,
           .meaning = "what is simulated, for how long and how",
           .inner = "scene",
           .required = true},
          {.name = "domain",
           .types = a_table,
           .meaning = "the box that everything happens in",
           .inner = "domain",
           .required = true},
          {.name = "liquid", .types = a_table, .fallback = "{}", .meaning = "the liquid", .inner = "liquid"},
          {.name = "solver",
           .types = a_text | a_table,
           .fallback = "{}",
           .meaning = "the linear solver for the pressure: its name, or a table",
           .choices = solver_choices(),
           .inner = "solver"},
          {.name = "output",
           .types = a_table,
           .fallback = "{}",
           .meaning = "what a run writes",
           .inner = "output"},
          {.name = "view",
           .types = a_table,
           .fallback = "{}",
           .meaning = "how pictures are taken",
           .inner = "view"},
          {.name = "solid", .types = tables, .meaning = "a solid body", .inner = "solid"},
          {.name = "joint", .types = tables, .meaning = "holds two solids together", .inner = "joint"},
          {.name = "probe",
           .types = tables,
           .meaning = "a measurement at a point, written every step",
           .inner = "probe"},
          {.name = "claim", .types = tables, .meaning = "something that must be seen", .inner = "claim"},
          {.name = "check",
           .types = a_table,
           .meaning = "how coarse the claims are judged every day",
           .inner = "check"}}},

        {"scene",
         "[scene]",
         "What is simulated, for how long and how.",
         {{.name = "title",
           .types = a_text,
           .meaning = "shown in lists and in the run folder; otherwise the file's name"},
          {.name = "duration",
           .types = a_number,
           .unit = "s",
           .meaning = "simulated time",
           .low = 0,
           .high = 1e6,
           .above_low = true,
           .required = true},
          {.name = "frames_per_second",
           .types = a_number,
           .unit = "1/s",
           .fallback = "24.0",
           .meaning = "frames written per second of simulated time",
           .low = 0,
           .high = 1e6,
           .above_low = true},
          {.name = "method",
           .types = a_text,
           .fallback = "\"cut-cell\"",
           .meaning = "the method that couples fluid and solids; see `flotsam list methods`"},
          {.name = "dimensions",
           .types = an_integer,
           .fallback = "3",
           .meaning = "2 makes a slab one cell thick with free-slip front and back; z is ignored everywhere",
           .low = 2,
           .high = 3},
          {.name = "gravity",
           .types = a_number | a_list,
           .unit = "m/s^2",
           .fallback = "9.81",
           .meaning = "a number points down; a vector points where it says",
           .low = 0,
           .high = 1e6,
           .min_count = 2},
          {.name = "cfl",
           .types = a_number,
           .fallback = "2.0",
           .meaning = "cells that the fastest liquid may cross in a step",
           .low = 0,
           .high = 20,
           .above_low = true},
          {.name = "time_step",
           .types = a_number,
           .unit = "s",
           .meaning = "a fixed time step; otherwise it follows from `cfl`",
           .low = 0,
           .above_low = true},
          {.name = "retry",
           .types = a_boolean,
           .fallback = "true",
           .meaning = "repeat a failed step with half the time step"}}},

        {"domain",
         "[domain]",
         "The box that everything happens in: from the origin to `size`, y up, in cubic cells.",
         {{.name = "size",
           .types = a_list,
           .unit = "m",
           .meaning = "length, height and depth (2D: length and height); sides are rounded to whole cells",
           .low = 1e-6,
           .high = 1e6,

           .min_count = 2,
           .required = true},
          {.name = "resolution",
           .types = an_integer,
           .meaning = "cells along the longest side, be it the length, the height or the depth",
           .low = 2,
           .high = most_cells},
          {.name = "cell",
           .types = a_number,
           .unit = "m",
           .meaning = "edge of a cell",
           .low = 0,
           .above_low = true},
          {.name = "walls",
           .types = a_table,
           .fallback = "{}",
           .meaning = "the six sides of the box",
           .inner = "walls"}},
         {"resolution", "cell"}},

        {"walls",
         "domain.walls",
         "The sides of the box: `\"closed\"`, `\"open\"`, or a table with `kind` and `slip`.",
         {side("left", "low x"),
          side("right", "high x"),
          side("bottom", "low y"),
          side("top", "high y"),
          side("back", "low z; not in 2D"),
          side("front", "high z; not in 2D"),
          {.name = "slip",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "for sides that do not say their own: share of its tangential speed that liquid at the "
                      "wall keeps over 1/24 s; 1 slides freely, 0 sticks",
           .low = 0,
           .high = 1}}},

        {"wall",
         "domain.walls.left = { ... }",
         "One side of the box.",
         {{.name = "kind",
           .types = a_text,
           .fallback = "\"closed\"",
           .meaning =
               "closed: nothing passes; open: liquid may leave, the pressure outside is zero; mirror: a "
               "plane of symmetry, along which liquid slides freely. A rigid solid may be cut by it, in "
               "its own plane of symmetry: `mass`, `density` and `inertia` are those of the whole, it "
               "moves as the symmetry allows, and forces and momenta that a run writes are those of the "
               "part inside the domain",
           .choices = {"closed", "open", "mirror"}},
          {.name = "slip",
           .types = a_number,
           .meaning = "of this side; otherwise that of `walls`",
           .low = 0,
           .high = 1}}}};
}

// How it is computed, written and shown.
std::vector<TableRule> run_tables() {
    return {
        {"solver",
         "[solver]",
         "The linear solver for the pressure.",
         {{.name = "name",
           .types = a_text,
           .fallback = "\"multigrid\"",
           .meaning =
               "multigrid: conjugate gradients with a V-cycle; iccg: with incomplete Cholesky, the "
               "yardstick. "
               "To compare with, for elastic solids in liquid without rigid ones, the forms of Zarifi 2017: "
               "spd (what iccg stands for there), factored, indefinite-bicgstab and indefinite-minres "
               "([solver.md](solver.md))",
           .choices = solver_choices()},
          {.name = "tolerance",
           .types = a_number,
           .fallback = "1e-8",
           .meaning = "residual relative to the right-hand side",
           .low = 1e-15,
           .high = 0.1},
          {.name = "max_iterations",
           .types = an_integer,
           .fallback = "2000",
           .meaning = "a step that needs more has failed",
           .low = 1,
           .high = 1e6},
          {.name = "alpha",
           .types = a_number | a_text,
           .fallback = "0.001",
           .meaning = "scale of velocities against pressures in the form spd, or \"auto\"",
           .low = 0,
           .high = 1e12,
           .above_low = true,
           .choices = {"auto"}}}},

        {"output",
         "[output]",
         "What a run writes.",
         {{.name = "surface",
           .types = a_boolean,
           .fallback = "true",
           .meaning =
               "the liquid's surface and, as points, the spray beside it; both with velocities, binary PLY"},
          {.name = "surface_refinement",
           .types = an_integer,
           .fallback = "2",
           .meaning = "cells that the surface is drawn with along each cell of the grid; 1 loses thin "
                      "sheets; not in "
                      "2D",
           .low = 1,
           .high = 3},
          {.name = "volume",
           .types = a_boolean,
           .fallback = "true",
           .meaning = "distance and velocity, OpenVDB"},
          {.name = "particles", .types = a_boolean, .fallback = "false", .meaning = "particles, binary PLY"},
          {.name = "solids",
           .types = a_boolean,
           .fallback = "true",
           .meaning = "the surfaces of all solids with velocities, binary PLY, and their animation "
                      "(`solids.glb`, `solids.pc2`), when the scene has any"},
          {.name = "stress",
           .types = a_boolean,
           .fallback = "false",
           .meaning = "tetrahedra of elastic solids with stress and velocity, text VTK"},
          {.name = "checkpoint_every",
           .types = an_integer,
           .fallback = "10",
           .meaning = "frames between checkpoints; 0 only on Ctrl-C and at the end",
           .low = 0,
           .high = 1e9}}},

        {"view",
         "[view]",
         "How `flotsam render` and `run --render` take pictures. It changes nothing in a simulation. 2D "
         "scenes are "
         "drawn flat: camera and light do not count there.",
         {{.name = "camera",
           .types = a_list,
           .unit = "m",
           .meaning = "where the picture is taken from; otherwise so that the tank fills it"},
          {.name = "target",
           .types = a_list,
           .unit = "m",
           .meaning = "what the camera looks at; otherwise the middle of the tank"},
          {.name = "follow",
           .types = a_text,
           .meaning =
               "a solid that the camera goes along with: `camera` and `target` are then those of the start; "
               "the camera keeps its height"},
          {.name = "field_of_view",
           .types = a_number,
           .unit = "deg",
           .fallback = "30.0",
           .meaning = "angle that the picture's height covers",
           .low = 1,
           .high = 150},
          {.name = "light",
           .types = a_list,
           .fallback = "[-0.45, 1.0, 0.35]",
           .meaning = "direction towards the sun, above the horizon; any length"},
          {.name = "liquid_color",
           .types = a_list,
           .fallback = "[0.25, 0.66, 0.80]",
           .meaning = "red, green and blue that are left of white light after half the tank's longest side",
           .low = 0,
           .high = 1}}}};
}

}  // namespace

const std::vector<TableRule>& scene_tables() {
    static const std::vector<TableRule> all = [] {
        std::vector<TableRule> list;
        for (auto* part :
             {domain_tables, liquid_tables, run_tables, solid_tables, claim_tables, joint_tables})
            for (TableRule& table : part()) list.push_back(std::move(table));
        return list;
    }();
    return all;
}

const TableRule& scene_table(std::string_view name) {
    for (const TableRule& table : scene_tables())
        if (table.name == name) return table;
    FLOTSAM_CHECK(!"a key names a table that does not exist");
    return scene_tables().front();
}

}  // namespace flotsam
