#include "scene/schema.h"

#include <fmt/format.h>

#include <cmath>

#include "core/check.h"
#include "coupling/scheme.h"
#include "scene/rigid_scene.h"
#include "scene/spring_scene.h"
#include "scene/suggest.h"
#include "sim/measure.h"

namespace flotsam {

namespace {

constexpr unsigned point = a_list;

std::vector<TableRule> make_tables() {
    const std::vector<std::string_view> solvers{"multigrid", "iccg"};
    // Shared by fills, emitters and sinks.
    const KeyRule box{.name = "box",
                      .types = a_table,
                      .unit = "m",
                      .meaning = "a box with faces along the axes",
                      .inner = "box"};
    const KeyRule sphere{.name = "sphere",
                         .types = a_table,
                         .unit = "m",
                         .meaning = "a sphere; in 2D a disc",
                         .inner = "sphere"};
    const KeyRule mesh{.name = "mesh",
                       .types = a_table,
                       .unit = "m",
                       .meaning = "the inside of a closed triangle mesh",
                       .inner = "mesh"};
    const KeyRule from{.name = "from",
                       .types = a_number,
                       .unit = "s",
                       .fallback = "0.0",
                       .meaning = "works from this time on",
                       .low = 0};
    const KeyRule until{.name = "until",
                        .types = a_number,
                        .unit = "s",
                        .meaning = "works until this time; otherwise to the end",
                        .low = 0};

    const auto side = [](std::string_view name, std::string_view meaning) {
        return KeyRule{.name = name,
                       .types = a_text | a_table,
                       .fallback = "\"closed\"",
                       .meaning = meaning,
                       .choices = {"closed", "open"},
                       .inner = "wall"};
    };
    const auto at_point = [](std::string_view name, std::string_view unit, std::string_view meaning) {
        return KeyRule{.name = name, .types = point, .unit = unit, .meaning = meaning, .min_count = 2};
    };
    const auto of_solid = [](std::string_view name, std::string_view unit, std::string_view meaning) {
        return KeyRule{.name = name, .types = a_text, .unit = unit, .meaning = meaning};
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
           .choices = solvers,
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
          {.name = "claim", .types = tables, .meaning = "something that must be seen", .inner = "claim"}}},

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
           .types = a_number | point,
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
           .meaning = "cells along the longest side",
           .low = 2,
           .high = 8192,
           .required = true},
          {.name = "walls",
           .types = a_table,
           .fallback = "{}",
           .meaning = "the six sides of the box",
           .inner = "walls"}}},

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
           .meaning = "closed: nothing passes; open: liquid may leave, the pressure outside is zero",
           .choices = {"closed", "open"}},
          {.name = "slip",
           .types = a_number,
           .meaning = "of this side; otherwise that of `walls`",
           .low = 0,
           .high = 1}}},

        {"liquid",
         "[liquid]",
         "The liquid.",
         {{.name = "density",
           .types = a_number,
           .unit = "kg/m^3",
           .fallback = "1000.0",
           .meaning = "mass per volume",
           .low = 0,
           .high = 1e9,
           .above_low = true},
          {.name = "viscosity",
           .types = a_number,
           .unit = "Pa s",
           .meaning = "dynamic; 0.001 for water; otherwise none. Not every method admits it",
           .low = 0,
           .high = 1e9},
          {.name = "carrier",
           .types = a_text,
           .meaning = "how velocity travels: apic (particles with gradients), flip (FLIP/PIC blend), markers "
                      "(massless, semi-Lagrangian); otherwise the method's own, apic for cut-cell",
           .choices = {"apic", "flip", "markers"}},
          {.name = "flip_share",
           .types = a_number,
           .fallback = "0.95",
           .meaning = "share of FLIP in the FLIP/PIC blend",
           .low = 0,
           .high = 1},
          {.name = "reseed",
           .types = a_boolean,
           .fallback = "true",
           .meaning = "keep the number of particles per cell near its rest value"},
          {.name = "seed",
           .types = an_integer,
           .fallback = "1",
           .meaning = "of the particles' random places",
           .low = 0},
          {.name = "fill", .types = tables, .meaning = "where liquid is at the start", .inner = "fill"},
          {.name = "emitter", .types = tables, .meaning = "where liquid comes in", .inner = "emitter"},
          {.name = "sink", .types = tables, .meaning = "where liquid is taken away", .inner = "sink"}}},

        {"fill",
         "[[liquid.fill]]",
         "A region that is full of liquid at the start.",
         {box,
          sphere,
          {.name = "level", .types = a_number, .unit = "m", .meaning = "everything below this height"},
          {.name = "wave",
           .types = a_table,
           .unit = "m",
           .meaning = "a cosine along x added to `level`",
           .inner = "wave"},
          mesh,
          {.name = "velocity",
           .types = point,
           .unit = "m/s",
           .fallback = "[0.0, 0.0, 0.0]",
           .meaning = "of the liquid at the start",
           .low = -1e6,
           .high = 1e6,
           .min_count = 2}},
         {"box", "sphere", "level", "mesh"}},

        {"emitter",
         "[[liquid.emitter]]",
         "A region that is kept full of liquid moving at `velocity`.",
         {box,
          sphere,
          mesh,
          {.name = "velocity",
           .types = point,
           .unit = "m/s",
           .fallback = "[0.0, 0.0, 0.0]",
           .meaning = "of the liquid that comes out",
           .low = -1e6,
           .high = 1e6,
           .min_count = 2},
          from,
          until},
         {"box", "sphere", "mesh"}},

        {"sink",
         "[[liquid.sink]]",
         "A region in which liquid vanishes.",
         {box, sphere, mesh, from, until},
         {"box", "sphere", "mesh"}},

        {"box",
         "box = { ... }",
         "A box with faces along the axes.",
         {{.name = "min",
           .types = point,
           .unit = "m",
           .meaning = "its low corner",
           .min_count = 2,
           .required = true},
          {.name = "max",
           .types = point,
           .unit = "m",
           .meaning = "its high corner",
           .min_count = 2,
           .required = true}}},
        {"sphere",
         "sphere = { ... }",
         "A sphere; in 2D a disc.",
         {{.name = "center",
           .types = point,
           .unit = "m",
           .meaning = "its centre",
           .min_count = 2,
           .required = true},
          {.name = "radius",
           .types = a_number,
           .unit = "m",
           .meaning = "its radius",
           .low = 0,
           .above_low = true,
           .required = true}}},
        {"wave",
         "wave = { ... }",
         "The surface is at level + amplitude cos(2 pi x / wavelength).",
         {{.name = "amplitude",
           .types = a_number,
           .unit = "m",
           .meaning = "highest rise above the level",
           .required = true},
          {.name = "wavelength",
           .types = a_number,
           .unit = "m",
           .meaning = "from crest to crest",
           .low = 0,
           .above_low = true,
           .required = true}}},
        {"mesh",
         "mesh = { ... }",
         "The inside of a closed triangle mesh.",
         {{.name = "file",
           .types = a_text,
           .meaning = ".obj, .ply or .stl; relative to the scene file",
           .required = true},
          {.name = "scale",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "metres per unit of the file",
           .low = 0,
           .above_low = true},
          {.name = "position",
           .types = point,
           .unit = "m",
           .fallback = "[0.0, 0.0, 0.0]",
           .meaning = "where the file's origin goes",
           .min_count = 2}}},

        {"solver",
         "[solver]",
         "The linear solver for the pressure.",
         {{.name = "name",
           .types = a_text,
           .fallback = "\"multigrid\"",
           .meaning =
               "multigrid: conjugate gradients with a V-cycle; iccg: with incomplete Cholesky, the yardstick",
           .choices = solvers},
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
           .high = 1e6}}},

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
           .meaning = "the surfaces of all solids with velocities, binary PLY, when the scene has any"},
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
           .high = 1}}},

        {"solid",
         "[[solid]]",
         "A solid body. Elastic solids and cloth are admitted by no method yet.",
         {{.name = "name", .types = a_text, .meaning = "letters, digits, - and _", .required = true},
          {.name = "motion",
           .types = a_text,
           .fallback = "\"static\"",
           .meaning = "how it moves",
           .choices = {"static", "scripted", "rigid", "spring", "elastic", "cloth"}},
          {.name = "shape",
           .types = a_table,
           .unit = "m",
           .meaning = "its shape, centred on `position`",
           .inner = "shape",
           .required = true},
          {.name = "position",
           .types = point,
           .unit = "m",
           .meaning = "of its centre (a mesh: of its origin)",
           .min_count = 2,
           .required = true},
          {.name = "rotation", .types = a_table, .meaning = "turns it about its centre", .inner = "rotation"},
          {.name = "density",
           .types = a_number,
           .unit = "kg/m^3",
           .meaning = "mass per volume; what moves by itself needs this or `mass`",
           .low = 0,
           .high = 1e9,
           .above_low = true},
          {.name = "mass",
           .types = a_number,
           .unit = "kg",
           .meaning = "of a rigid solid, instead of `density`; in 2D of the part within the slab",
           .low = 0,
           .high = 1e15,
           .above_low = true},
          {.name = "hollow",
           .types = a_number,
           .unit = "m",
           .meaning = "a rigid solid is a wall of this thickness around nothing; closed, no liquid enters",
           .low = 0,
           .above_low = true},
          {.name = "ballast",
           .types = a_table,
           .meaning = "a lump of mass inside a rigid solid, beside its `density` or `mass`",
           .inner = "ballast"},
          {.name = "release",
           .types = a_number,
           .unit = "s",
           .fallback = "0.0",
           .meaning = "a rigid solid is held where it is until this time",
           .low = 0},
          {.name = "velocity",
           .types = point,
           .unit = "m/s",
           .meaning =
               "of a scripted solid: constant; of a rigid or spring one's centre of mass: at the start",
           .min_count = 2},
          {.name = "spin",
           .types = a_list,
           .unit = "rad/s",
           .meaning =
               "of a scripted solid: constant angular velocity about its position; of a rigid or spring "
               "one: at the start",
           .min_count = 3,
           .max_count = 3},
          {.name = "friction",
           .types = a_number,
           .fallback = "0.5",
           .meaning = "Coulomb's coefficient where it touches solids; of two: the root of their product; a "
                      "wall has that of whatever touches it",
           .low = 0,
           .high = 100},
          {.name = "restitution",
           .types = a_number,
           .fallback = "0.2",
           .meaning = "rebound over approach speed; of two solids: the larger one",
           .low = 0,
           .high = 1},
          {.name = "lock",
           .types = words,
           .meaning = "motions that a rigid solid is denied, along and about the axes",
           .choices = {"x", "y", "z", "rotate_x", "rotate_y", "rotate_z"}},
          {.name = "smooth",
           .types = a_boolean,
           .fallback = "false",
           .meaning = "ease in and out between keyframes"},
          {.name = "keyframe",
           .types = tables,
           .meaning = "where a scripted solid is, and when",
           .inner = "keyframe"},
          {.name = "slip",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "as for a wall",
           .low = 0,
           .high = 1},
          {.name = "color",
           .types = a_list,
           .meaning = "in pictures: red, green and blue; otherwise one of a few in turn",
           .low = 0,
           .high = 1}}},
        {"ballast",
         "ballast = { ... }",
         "A lump of mass inside a rigid solid: it moves its centre of mass and counts in its inertia.",
         {{.name = "mass",
           .types = a_number,
           .unit = "kg",
           .meaning = "of the lump",
           .low = 0,
           .high = 1e15,
           .above_low = true,
           .required = true},
          {.name = "position",
           .types = point,
           .unit = "m",
           .meaning = "in the solid's own axes, from its `position`",
           .min_count = 2,
           .required = true}}},
        {"keyframe",
         "[[solid.keyframe]]",
         "Where a scripted solid is at a time. Before the first and after the last it stands still.",
         {{.name = "time", .types = a_number, .unit = "s", .meaning = "when", .required = true},
          {.name = "position",
           .types = point,
           .unit = "m",
           .meaning = "of its centre (a mesh: of its origin)",
           .min_count = 2,
           .required = true},
          {.name = "rotation", .types = a_table, .meaning = "from its own axes", .inner = "rotation"}}},
        {"shape",
         "shape = { ... }",
         "The shape of a solid.",
         {{.name = "box",
           .types = a_list,
           .unit = "m",
           .meaning = "edge lengths",
           .low = 0,
           .above_low = true,
           .min_count = 2},
          {.name = "sphere",
           .types = a_number,
           .unit = "m",
           .meaning = "radius",
           .low = 0,
           .above_low = true},
          {.name = "capsule",
           .types = a_list,
           .unit = "m",
           .meaning = "radius and length between the caps' centres, along y",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "cylinder",
           .types = a_list,
           .unit = "m",
           .meaning = "radius and length, along y",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "cone",
           .types = a_list,
           .unit = "m",
           .meaning = "radius and height, tip up",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "torus",
           .types = a_list,
           .unit = "m",
           .meaning = "radius of the ring and of its tube, about y",
           .low = 0,
           .above_low = true,
           .min_count = 2,
           .max_count = 2},
          {.name = "gear",
           .types = a_list,
           .meaning = "radius [m], thickness along y [m] and number of teeth (at least 4)",
           .low = 0,
           .above_low = true},
          {.name = "duck",
           .types = a_number,
           .unit = "m",
           .meaning = "length of a rubber duck that looks along x",
           .low = 0,
           .above_low = true},
          {.name = "boat",
           .types = a_list,
           .unit = "m",
           .meaning =
               "length, height and width of an open boat with its bow along x, and its shell's thickness",
           .low = 0,
           .above_low = true,
           .min_count = 4,
           .max_count = 4},
          {.name = "mesh",
           .types = a_table,
           .unit = "m",
           .meaning = "a triangle mesh",
           .inner = "solid mesh"},
          {.name = "mesh_sequence",
           .types = a_table,
           .unit = "m",
           .meaning = "an animated triangle mesh; the solid must be scripted",
           .inner = "mesh sequence"}},
         {"box", "sphere", "capsule", "cylinder", "cone", "torus", "gear", "duck", "boat", "mesh",
          "mesh_sequence"}},
        {"solid mesh",
         "shape.mesh = { ... }",
         "A triangle mesh as the shape of a solid.",
         {{.name = "file",
           .types = a_text,
           .meaning = ".obj, .ply or .stl; relative to the scene file",
           .required = true},
          {.name = "scale",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "metres per unit of the file",
           .low = 0,
           .above_low = true}}},
        {"mesh sequence",
         "shape.mesh_sequence = { ... }",
         "An animated mesh: files with the same vertices and triangles, of which only the places change. "
         "Vertices go straight from file to file, beside what the solid's script does.",
         {{.name = "files",
           .types = a_text,
           .meaning =
               "their name with # for each digit of their number: \"fin_####.obj\" is fin_0001.obj and "
               "all that follow without a gap; relative to the scene file",
           .required = true},
          {.name = "first",
           .types = an_integer,
           .fallback = "1",
           .meaning = "number of the file at time 0",
           .low = 0,
           .high = 1e9},
          {.name = "rate",
           .types = a_number,
           .unit = "1/s",
           .fallback = "24.0",
           .meaning = "files per second",
           .low = 0,
           .high = 1e6,
           .above_low = true},
          {.name = "loop",
           .types = a_boolean,
           .fallback = "false",
           .meaning = "go on from the last file to the first; otherwise the last one stays"},
          {.name = "scale",
           .types = a_number,
           .fallback = "1.0",
           .meaning = "metres per unit of the files",
           .low = 0,
           .above_low = true}}},
        {"rotation",
         "rotation = { ... }",
         "A turn.",
         {{.name = "axis",
           .types = a_list,
           .meaning = "direction of the axis; any length but zero",
           .required = true},
          {.name = "degrees",
           .types = a_number,
           .unit = "deg",
           .meaning = "counter-clockwise, seen against the axis",
           .required = true}}},

        {"probe",
         "[[probe]]",
         "A measurement at a point or of a solid, written to probes.csv every step. A claim can name it: "
         "`probe.NAME`.",
         {{.name = "name", .types = a_text, .meaning = "letters, digits, - and _", .required = true},
          {.name = "height",
           .types = a_number | a_list,
           .unit = "m",
           .meaning = "of the highest surface above [x, z] (2D: above x)",
           .min_count = 1,
           .max_count = 2},
          {.name = "width",
           .types = a_number,
           .unit = "m",
           .fallback = "0.0",
           .meaning = "a height is the mean over so much of x around its place",
           .low = 0},
          at_point("pressure", "Pa", "at a point"),
          at_point("speed", "m/s", "at a point"),
          at_point("velocity", "m/s", "at a point; its components are NAME.x, NAME.y and NAME.z"),
          at_point("velocity_x", "m/s", "at a point"),
          at_point("velocity_y", "m/s", "at a point"),
          at_point("velocity_z", "m/s", "at a point"),
          of_solid("force", "N", "of the liquid on the solid of this name: NAME.x, NAME.y and NAME.z"),
          of_solid("torque", "N m",
                   "of the liquid on a solid, about its position: NAME.x, NAME.y and NAME.z"),
          of_solid("wetted_area", "m^2", "of the solid of this name"),
          of_solid("position", "m", "of the solid of this name: NAME.x, NAME.y and NAME.z"),
          of_solid("tilt", "deg", "angle between the y axis of the solid of this name and the vertical"),
          of_solid("volume", "m^3", "inside the surface of the solid of this name")},
         {"height", "pressure", "speed", "velocity", "velocity_x", "velocity_y", "velocity_z", "force",
          "torque", "wetted_area", "position", "tilt", "volume"}},

        {"claim",
         "[[claim]]",
         "Something that must be seen; judged by `flotsam check`. Give `min` and/or `max`, or "
         "`relative_to_start`, or `near`.",
         {{.name = "what",
           .types = a_text,
           .meaning = "a quantity (see below) or `probe.NAME`",
           .required = true},
          {.name = "says", .types = a_text, .meaning = "the claim in words"},
          {.name = "min", .types = a_number, .meaning = "at least this, in the quantity's unit"},
          {.name = "max", .types = a_number, .meaning = "at most this, in the quantity's unit"},
          {.name = "relative_to_start",
           .types = a_table,
           .meaning = "bounds on the value divided by its value at the start",
           .inner = "bounds"},
          {.name = "near",
           .types = a_table,
           .meaning = "a value and how far from it is allowed",
           .inner = "near"},
          {.name = "at", .types = a_number, .unit = "s", .meaning = "only at this time", .low = 0},
          {.name = "from",
           .types = a_number,
           .unit = "s",
           .meaning = "from this time on; otherwise from the start",
           .low = 0},
          {.name = "until",
           .types = a_number,
           .unit = "s",
           .meaning = "until this time; otherwise to the end",
           .low = 0},
          {.name = "over",
           .types = a_text,
           .fallback = "\"every\"",
           .meaning = "every: at every step; or the mean, max, min, rms or final value of that time",
           .choices = {"every", "mean", "max", "min", "rms", "final"}}}},
        {"bounds",
         "relative_to_start = { ... }",
         "Bounds on a ratio.",
         {{.name = "min", .types = a_number, .meaning = "at least this"},
          {.name = "max", .types = a_number, .meaning = "at most this"}}},
        {"near",
         "near = { ... }",
         "A value and how far from it is allowed.",
         {{.name = "value", .types = a_number, .meaning = "in the quantity's unit", .required = true},
          {.name = "tolerance",
           .types = a_number,
           .meaning = "in the quantity's unit",
           .low = 0,
           .required = true}}},
    };
}

std::string types_text(const KeyRule& key) {
    std::vector<std::string> kinds;
    if (key.types & a_text)
        kinds.push_back(key.choices.empty() ? "text"
                                            : fmt::format("\"{}\"", joined(key.choices, "\" or \"")));
    if (key.types & a_boolean) kinds.emplace_back("true or false");
    if (key.types & an_integer) kinds.emplace_back("a whole number");
    if (key.types & a_number) kinds.emplace_back("a number");
    if (key.types & a_list)
        kinds.push_back(key.min_count == key.max_count
                            ? fmt::format("{} numbers", key.max_count)
                            : fmt::format("{} or {} numbers", key.min_count, key.max_count));
    if (key.types & words) kinds.push_back(fmt::format("a list of \"{}\"", joined(key.choices, "\", \"")));
    if (key.types & a_table) kinds.emplace_back("a table");
    if (key.types & tables) kinds.emplace_back("any number of tables");
    return joined(kinds, " or ");
}

std::string range_text(const KeyRule& key) {
    if (std::isinf(key.low) && std::isinf(key.high)) return "";
    if (std::isinf(key.high)) return fmt::format("{} {:g}", key.above_low ? "above" : "at least", key.low);
    return key.above_low ? fmt::format("above {:g}, at most {:g}", key.low, key.high)
                         : fmt::format("{:g} to {:g}", key.low, key.high);
}

std::string_view kind_text(TomlNode::Kind kind) {
    switch (kind) {
        case TomlNode::Kind::table:
            return "a table";
        case TomlNode::Kind::array:
            return "a list";
        case TomlNode::Kind::text:
            return "text";
        case TomlNode::Kind::integer:
            return "a whole number";
        case TomlNode::Kind::number:
            return "a number";
        case TomlNode::Kind::boolean:
            return "true or false";
        case TomlNode::Kind::date:
            break;
    }
    return "a date or time";
}

// An example of each type for the advice.
std::string example(const KeyRule& key) {
    if (key.types & tables) return fmt::format("write each of them below a line with [[...{}]]", key.name);
    if (key.types & words)
        return fmt::format("write for example {} = [\"{}\"]", key.name, key.choices.front());
    if (!key.choices.empty())
        return fmt::format("write for example {} = \"{}\"", key.name, key.choices.front());
    if (!key.fallback.empty() && key.fallback != "{}")
        return fmt::format("write for example {} = {}", key.name, key.fallback);
    if (key.types & a_text) return fmt::format("put it in quotes: {} = \"...\"", key.name);
    if (key.types & a_table)
        return fmt::format("write {} = {{ ... }}; its keys are in docs/scene_reference.md", key.name);
    if (key.types & a_list) {
        const std::vector<std::string_view> numbers(key.max_count, "0.5");
        return fmt::format("write for example {} = [{}]", key.name, joined(numbers, ", "));
    }
    return fmt::format("write for example {} = {}", key.name, key.types & an_integer ? "64" : "1.5");
}

class Validator {
  public:
    explicit Validator(Mistakes& mistakes) : mistakes_(mistakes) {}

    void check_table(const TomlNode& node, const TableRule& rule) {
        std::vector<std::string_view> known;
        for (const KeyRule& key : rule.keys) known.push_back(key.name);
        for (const auto& [name, place, value] : node.members) {
            const auto key = std::find_if(rule.keys.begin(), rule.keys.end(),
                                          [&name = name](const KeyRule& k) { return k.name == name; });
            if (key == rule.keys.end())
                mistakes_.add(place, fmt::format("unknown key '{}' in {}", name, rule.heading),
                              suggestion(name, known));
            else
                check_value(value, *key);
        }
        for (const KeyRule& key : rule.keys)
            if (key.required && !node.find(key.name))
                mistakes_.add(node.place,
                              fmt::format("{} needs '{}': {}", rule.heading, key.name, key.meaning),
                              rule.name == "file" ? fmt::format("add a table [{}]", key.name) : example(key));
        if (rule.exactly_one.empty()) return;
        const auto given = std::count_if(rule.exactly_one.begin(), rule.exactly_one.end(),
                                         [&](std::string_view k) { return node.find(k); });
        if (given != 1)
            mistakes_.add(node.place,
                          fmt::format("{} has {} of: {}", rule.heading, given == 0 ? "none" : "more than one",
                                      joined(rule.exactly_one, ", ")),
                          "give exactly one of them");
    }

  private:
    void check_value(const TomlNode& node, const KeyRule& key) {
        using Kind = TomlNode::Kind;
        if (node.is(Kind::text) && key.types & a_text) {
            check_choice(node, key);
        } else if (node.is(Kind::boolean) && key.types & a_boolean) {
            return;
        } else if ((node.is(Kind::integer) && key.types & (an_integer | a_number)) ||
                   (node.is(Kind::number) && key.types & a_number)) {
            check_number(node, key);
        } else if (node.is(Kind::array) && key.types & a_list) {
            check_list(node, key);
        } else if (node.is(Kind::table) && key.types & a_table) {
            check_table(node, scene_table(key.inner));
        } else if (node.is(Kind::array) && key.types & words) {
            for (const TomlNode& item : node.items) {
                if (item.is(Kind::text))
                    check_choice(item, key);
                else
                    wrong_type(item, key);
            }
        } else if (node.is(Kind::array) && key.types & tables) {
            for (const TomlNode& item : node.items) {
                if (item.is(Kind::table))
                    check_table(item, scene_table(key.inner));
                else
                    wrong_type(item, key);
            }
        } else {
            wrong_type(node, key);
        }
    }

    void wrong_type(const TomlNode& node, const KeyRule& key) {
        mistakes_.add(node.place,
                      fmt::format("'{}' must be {}, not {}", key.name, types_text(key), kind_text(node.kind)),
                      example(key));
    }

    void check_choice(const TomlNode& node, const KeyRule& key) {
        if (!key.choices.empty() &&
            std::find(key.choices.begin(), key.choices.end(), node.text) == key.choices.end())
            mistakes_.add(node.place, fmt::format("'{}' cannot be \"{}\"", key.name, node.text),
                          suggestion(node.text, key.choices));
    }

    void check_number(const TomlNode& node, const KeyRule& key) {
        const double value = node.number;
        if (!std::isfinite(value))
            mistakes_.add(node.place, fmt::format("'{}' must be a finite number, not {}", key.name, value),
                          example(key));
        else if (value < key.low || value > key.high || (key.above_low && value == key.low))
            mistakes_.add(
                node.place, fmt::format("'{}' is {}, out of range", key.name, value),
                fmt::format("allowed: {}{}{}", range_text(key), key.unit.empty() ? "" : " ", key.unit));
    }

    void check_list(const TomlNode& node, const KeyRule& key) {
        const auto count = static_cast<int>(node.items.size());
        if (count < key.min_count || count > key.max_count)
            mistakes_.add(node.place,
                          fmt::format("'{}' must be {}, not {}", key.name, types_text(key), count),
                          example(key));
        // A range beside a plain number is about that number: gravity's vector may point anywhere.
        const bool bounded = !(key.types & a_number);
        for (const TomlNode& item : node.items) {
            if (!item.is(TomlNode::Kind::integer) && !item.is(TomlNode::Kind::number))
                wrong_type(item, key);
            else if (bounded || !std::isfinite(item.number))
                check_number(item, key);
        }
    }

    Mistakes& mistakes_;
};

void fill_in(TomlNode& node, const TableRule& rule) {
    for (const KeyRule& key : rule.keys) {
        if (!node.find(key.name) && !key.fallback.empty()) {
            TomlNode value = parse_toml_value(std::string(key.fallback), node.place.source);
            value.place = node.place;
            node.set(key.name, node.place, std::move(value));
        }
        TomlNode* value = node.find(key.name);
        if (!value || key.inner.empty()) continue;
        if (value->is(TomlNode::Kind::table)) fill_in(*value, scene_table(key.inner));
        for (TomlNode& item : value->items) fill_in(item, scene_table(key.inner));
    }
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
    return result;
}

}  // namespace

const std::vector<TableRule>& scene_tables() {
    static const std::vector<TableRule> all = [] {
        std::vector<TableRule> tables_of_file = make_tables();
        for (TableRule& table : tables_of_file)
            if (table.name == "solid")
                for (const KeyRule& key : spring_keys()) table.keys.push_back(key);
        tables_of_file.push_back(spring_table());
        for (TableRule& table : joint_tables()) tables_of_file.push_back(std::move(table));
        return tables_of_file;
    }();
    return all;
}

const TableRule& scene_table(std::string_view name) {
    for (const TableRule& table : scene_tables())
        if (table.name == name) return table;
    FLOTSAM_CHECK(!"a key names a table that does not exist");
    return scene_tables().front();
}

void validate(const TomlNode& root, Mistakes& mistakes) {
    Validator(mistakes).check_table(root, scene_tables().front());
}

void fill_in_defaults(TomlNode& root) { fill_in(root, scene_tables().front()); }

std::string scene_reference() {
    std::string text =
        "# Scene reference\n\n"
        "Every key of a scene file. This page is generated from the table that the loader itself uses\n"
        "(`src/scene/schema.cpp`); write it anew with `./flotsam docs docs/scene_reference.md`.\n\n"
        "Scenes are [TOML](https://toml.io), in SI units, y up. A key without default may be left out unless "
        "it is\n"
        "required. In 2D (`scene.dimensions = 2`) points and vectors may have two numbers. On the command "
        "line\n"
        "`--set domain.resolution=50` overrides a key, `--set liquid.fill.0.level=0.3` one of an array of "
        "tables, and\n"
        "`--scale 0.5` multiplies the resolution.\n";
    for (const TableRule& table : scene_tables()) {
        text += fmt::format("\n## `{}`\n\n{}", table.heading, table.meaning);
        if (!table.exactly_one.empty())
            text += fmt::format(" Exactly one of `{}`.", joined(table.exactly_one, "`, `"));
        text += "\n\n| key | value | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n";
        for (const KeyRule& key : table.keys) {
            const std::string range = range_text(key);
            text += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name,
                                escaped(types_text(key) + (range.empty() ? "" : ", " + range)), key.unit,
                                key.required ? "required"
                                : key.fallback.empty() || key.fallback == "{}"
                                    ? ""
                                    : fmt::format("`{}`", key.fallback),
                                escaped(key.meaning));
        }
    }
    text +=
        "\n## Quantities\n\nWhat a claim's `what` can name, beside `probe.NAME`.\n\n| quantity | unit | "
        "meaning |\n| --- | --- | --- |\n";
    for (const Quantity& quantity : quantities())
        text += fmt::format("| `{}` | {} | {} |\n", quantity.name, escaped(quantity.unit),
                            escaped(quantity.meaning));
    text +=
        "\n## Methods\n\nWhat `scene.method` and `--method` can name.\n\n| method | summary |\n| --- | --- "
        "|\n";
    for (const SchemeEntry& scheme : schemes())
        text += fmt::format("| `{}` | {} |\n", scheme.name, escaped(scheme.summary));
    return text;
}

std::string key_list() {
    std::string text;
    for (const TableRule& table : scene_tables()) {
        text += fmt::format("{}{}\n", text.empty() ? "" : "\n", table.heading);
        for (const KeyRule& key : table.keys) {
            const std::string unit = key.unit.empty() ? "" : fmt::format(" [{}]", key.unit);
            const std::string fallback = key.fallback.empty() || key.fallback == "{}"
                                             ? ""
                                             : fmt::format(" (default {})", key.fallback);
            text += fmt::format("  {:<18} {}{}{}\n", key.name, key.meaning, unit, fallback);
        }
    }
    return text;
}

}  // namespace flotsam
