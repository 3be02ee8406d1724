#include "validate/known_failures.h"

namespace flotsam {

namespace {

// Why rows fail. More about them is in docs/validation.md.
constexpr std::string_view wave_luck =
    "both errors are below a fifth of what is allowed, and the coarser grid's is the smaller one by chance";
constexpr std::string_view ahead =
    "an inviscid liquid without a gate runs 5 to 10 % ahead of the experiment; the inviscid computation is "
    "met";
constexpr std::string_view spacing =
    "floats half a spacing too deep, which falls as 1/n: the cube has too few particles along its edge";
constexpr std::string_view h2 =
    "3.5 to 4 cm off, less with finer cells; where in the record was not looked at";
constexpr std::string_view film =
    "2 cm of water count as arrival, less than a cell; and the wave is late at the first gauge already, as "
    "if the experiment's clock started 20 ms after its gate";
constexpr std::string_view p1 =
    "the sensor is a third of a cell above the floor; with twice the cells it is within its limit";
constexpr std::string_view behind = "behind the container come sheets and drops thinner than a cell";
constexpr std::string_view crowds =
    "behind the sphere and where waves meet cells are overfull for a step or two; spreading them faster "
    "swells water at rest";
constexpr std::string_view level =
    "overfull cells hide water from the level, less so with finer cells: 64 are within the limit";
constexpr std::string_view edges =
    "the potential is singular at edges, so errors fall with the power 4/3 at best; the tolerance is that of "
    "bodies without edges";
constexpr std::string_view sphere_light =
    "a hundredth of water's density with 16 cells across is 1.01 % off where 1 % is allowed; 32 cells are "
    "within their limit";
constexpr std::string_view draft_order =
    "what is left, less than 1 % of the height, does not depend on the cells; why is not known";
constexpr std::string_view log_tilt =
    "a square log near the limits of its stability rocks, or lies a little off; why is not known";
constexpr std::string_view heave_coarse =
    "8 cells along the radius are too few: 24 were within all limits when they were last run";
constexpr std::string_view heave_12 =
    "12 cells along the radius are too few for the second swing: 24 are within all limits";
constexpr std::string_view heave_order =
    "the error comes from the length of the steps, which frames bound, rather than from the cells";
constexpr std::string_view late_entry =
    "late in the fall the boundary elements are off from the experiment by as much";
constexpr std::string_view stiff =
    "linear tetrahedra are stiff in bending: 16 layers are 3.6 % off, 32 layers within the limit";
constexpr std::string_view heavy =
    "shear takes 2 %; and the plate's surface lies in cells that are a tenth open, with whose pressure up to "
    "half "
    "a cell more water swings along: 0.4 % by estimate, the rest is not explained";
constexpr std::string_view gate =
    "after 0.08 s the real gate goes on where ours turns back: how stiff the rubber is when bent so far was "
    "not measured, and ours loses no energy of its own";

}  // namespace

const std::vector<KnownFailure>& known_failures() {
    using enum RunLevel;
    static const std::vector<KnownFailure> list{
        {"standing-wave", "", "marker-springs", 64, "order of period", full, wave_luck},
        {"dam-break-front", "experiment", "cut-cell", 32, "front speed / sqrt(2 g a)", full, ahead},
        {"dam-break-front", "experiment", "marker-springs", 32, "front speed / sqrt(2 g a)", full, ahead},
        {"sph-draft", "cube, s = 0.5", "direct-forcing", 12, "draft, off by / height", full, spacing},
        {"sph-draft", "cube, s = 0.5", "direct-forcing", 18, "draft, off by / height", full, spacing},
        {"spheric-2", "", "cut-cell", 50, "H2, RMS difference to 2 s [m]", both, h2},
        {"spheric-2", "", "cut-cell", 50, "arrival at H1 [s]", both, film},
        {"spheric-2", "", "cut-cell", 50, "arrival at H2 [s]", both, film},
        {"spheric-2", "", "cut-cell", 50, "arrival at H3 [s]", both, behind},
        {"spheric-2", "", "cut-cell", 50, "impulse of P1, 0.4 to 0.6 s [Pa s]", both, p1},
        {"spheric-2", "", "cut-cell", 100, "H2, RMS difference to 2 s [m]", full, h2},
        {"spheric-2", "", "cut-cell", 100, "arrival at H1 [s]", full, film},
        {"spheric-2", "", "cut-cell", 100, "arrival at H2 [s]", full, film},
        {"spheric-2", "", "cut-cell", 100, "arrival at H3 [s]", full, behind},
        {"spheric-2", "by particles", "cut-cell", 50, "arrival at H1 [s]", both, film},
        {"spheric-2", "by particles", "cut-cell", 50, "arrival at H2 [s]", both, film},
        {"spheric-2", "by particles", "cut-cell", 50, "arrival at H3 [s]", both, behind},
        {"spheric-2", "by particles", "cut-cell", 100, "arrival at H1 [s]", full, film},
        {"spheric-2", "by particles", "cut-cell", 100, "arrival at H2 [s]", full, film},
        {"spheric-2", "", "marker-springs", 50, "arrival at H1 [s]", both, film},
        {"spheric-2", "", "marker-springs", 50, "arrival at H2 [s]", both, film},
        {"spheric-2", "", "marker-springs", 50, "arrival at H3 [s]", both, behind},
        {"spheric-2", "", "marker-springs", 50, "impulse of P1, 0.4 to 0.6 s [Pa s]", both, p1},
        {"spheric-2", "", "marker-springs", 100, "arrival at H1 [s]", full, film},
        {"spheric-2", "", "marker-springs", 100, "arrival at H2 [s]", full, film},
        {"spheric-2", "", "marker-springs", 100, "arrival at H3 [s]", full, behind},
        {"spheric-2", "by particles", "marker-springs", 50, "arrival at H1 [s]", both, film},
        {"spheric-2", "by particles", "marker-springs", 50, "arrival at H2 [s]", both, film},
        {"spheric-2", "by particles", "marker-springs", 50, "arrival at H3 [s]", both, behind},
        {"spheric-2", "by particles", "marker-springs", 100, "arrival at H1 [s]", full, film},
        {"spheric-2", "by particles", "marker-springs", 100, "arrival at H2 [s]", full, film},
        {"spheric-2", "by particles", "marker-springs", 100, "arrival at H3 [s]", full, behind},
        {"moving-sphere", "", "cut-cell", 32, "fullest cell / rest density", both, crowds},
        {"moving-sphere", "", "cut-cell", 32, "fullest half-open cell / rest density", both, crowds},
        {"moving-sphere", "", "cut-cell", 32, "mean level after the last crossing [m]", both, level},
        {"moving-sphere", "", "cut-cell", 32, "mean level, worst crossing [m]", both, level},
        {"moving-sphere", "", "cut-cell", 64, "fullest cell / rest density", full, crowds},
        {"moving-sphere", "", "cut-cell", 64, "fullest half-open cell / rest density", full, crowds},
        {"added-mass", "cube", "cut-cell", 64, "worst error / (g / (s + Cm))", both, edges},
        {"added-mass", "cube, s = 0.01", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "cube, s = 0.1", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "cube, s = 0.5", "cut-cell", 64, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "cube, s = 8", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "cube, s = 100", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "cube", "cut-cell", 128, "worst error / (g / (s + Cm))", full, edges},
        {"added-mass", "cube, s = 0.01", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "cube, s = 0.1", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "cube, s = 0.5", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "cube, s = 2", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "cube, s = 8", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "cube, s = 100", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "sphere", "cut-cell", 64, "worst error / (g / (s + Cm))", full, sphere_light},
        {"added-mass", "sphere, s = 0.01", "cut-cell", 64, "error / (g / (s + Cm))", full, sphere_light},
        {"added-mass", "square", "cut-cell", 64, "worst error / (g / (s + Cm))", both, edges},
        {"added-mass", "square, s = 0.01", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "square, s = 0.1", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "square, s = 8", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "square, s = 100", "cut-cell", 64, "error / (g / (s + Cm))", both, edges},
        {"added-mass", "square", "cut-cell", 128, "worst error / (g / (s + Cm))", full, edges},
        {"added-mass", "square, s = 0.01", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "square, s = 0.1", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "square, s = 8", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"added-mass", "square, s = 100", "cut-cell", 128, "error / (g / (s + Cm))", full, edges},
        {"draft", "box", "cut-cell", 32, "order of worst draft", full, draft_order},
        {"draft", "cube", "cut-cell", 16, "order of worst draft", full, draft_order},
        {"draft", "sphere", "cut-cell", 16, "order of worst draft", full, draft_order},
        {"draft", "log, s = 0.1", "cut-cell", 16, "largest tilt / 45 deg (started with 3)", full, log_tilt},
        {"draft", "log, s = 0.7", "cut-cell", 32, "mean tilt [deg]", full, log_tilt},
        {"heave-cylinder", "", "cut-cell", 8, "worst extremum, off by / y0", quick, heave_coarse},
        {"heave-cylinder", "", "cut-cell", 8, "worst zero, share of its time", quick, heave_coarse},
        {"heave-cylinder", "", "cut-cell", 12, "worst extremum, off by / y0", full, heave_12},
        {"heave-cylinder", "", "cut-cell", 24, "order of worst zero", full, heave_order},
        {"heave-cylinder", "", "cut-cell", 24, "order of worst extremum", full, heave_order},
        {"heave-cylinder", "extremum 2", "cut-cell", 8, "y/y0, off from 0.3045", quick, heave_coarse},
        {"heave-cylinder", "extremum 2", "cut-cell", 12, "y/y0, off from 0.3045", full, heave_12},
        {"heave-cylinder", "zero 3", "cut-cell", 8, "t sqrt(g/a)", quick, heave_coarse},
        {"cylinder-entry", "experiment", "cut-cell", 16, "depth / D at t* = 1.131, off by", both, late_entry},
        {"cylinder-entry", "experiment", "cut-cell", 16, "worst depth, off by / D", both, late_entry},
        {"cylinder-entry", "experiment", "cut-cell", 32, "depth / D at t* = 1.131, off by", full, late_entry},
        {"cylinder-entry", "experiment", "cut-cell", 32, "worst depth, off by / D", full, late_entry},
        {"plate-column", "", "cut-cell", 16, "static deflection [m]", both, stiff},
        {"plate-column", "", "cut-cell", 16, "wet frequency [Hz]", both, heavy},
        {"elastic-gate", "E = 12 MPa", "cut-cell", 6, "its time is off by [s], as a share of 1 s", full,
         gate},
        {"elastic-gate", "E = 12 MPa", "cut-cell", 6, "largest way along x [mm]", full, gate},
        {"elastic-gate", "E = 12 MPa", "cut-cell", 6, "lower end, RMS distance to 0.2 s [m]", full, gate},
        {"elastic-gate", "E = 12 MPa", "cut-cell", 12, "its time is off by [s], as a share of 1 s", full,
         gate},
        {"elastic-gate", "E = 12 MPa", "cut-cell", 12, "largest way along x [mm]", full, gate},
        {"elastic-gate", "E = 12 MPa", "cut-cell", 12, "lower end, RMS distance to 0.2 s [m]", full, gate},
        {"elastic-gate", "E = 7.8 MPa", "cut-cell", 6, "its time is off by [s], as a share of 1 s", both,
         gate},
        {"elastic-gate", "E = 7.8 MPa", "cut-cell", 6, "largest way along x [mm]", both, gate},
        {"elastic-gate", "E = 7.8 MPa", "cut-cell", 6, "lower end, RMS distance to 0.2 s [m]", both, gate},
        {"elastic-gate", "E = 7.8 MPa", "cut-cell", 12, "its time is off by [s], as a share of 1 s", full,
         gate},
        {"elastic-gate", "E = 7.8 MPa", "cut-cell", 12, "largest way along x [mm]", full, gate},
        {"elastic-gate", "E = 7.8 MPa", "cut-cell", 12, "lower end, RMS distance to 0.2 s [m]", full, gate},
    };
    return list;
}

}  // namespace flotsam
