// Settings and state of a liquid on a grid: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/state.h"
#include "core/tiles.h"
#include "core/vec.h"
#include "fluid/grid/domain.h"
#include "geometry/shape.h"

namespace flotsam {

// How the liquid's velocity is advected.
enum class Carrier {
    apic,     // particles carry velocity and its gradient (Jiang et al. 2015)
    flip,     // particles carry velocity and take up its change on the grid (Zhu & Bridson 2005)
    markers,  // massless particles; velocity stays on the grid, semi-Lagrangian midpoint [Zarifi17 4.3]
    sph,      // no grid: particles exert forces on each other (fluid/sph)
};

struct Fill {
    ShapePtr region;
    Vec3 velocity;  // at the start [m/s]
};

struct Emitter {
    ShapePtr region;
    Vec3 velocity;                                                     // of the liquid that comes out [m/s]
    double from = 0, until = std::numeric_limits<double>::infinity();  // [s]
};

struct Sink {
    ShapePtr region;
    double from = 0, until = std::numeric_limits<double>::infinity();  // [s]
};

struct LiquidSettings {
    double density = 1000;  // [kg/m^3]
    double viscosity = 0;   // dynamic [Pa s]
    Carrier carrier = Carrier::apic;
    double flip_share = 0.95;        // of FLIP in the FLIP/PIC blend; the rest is PIC
    bool faces_by_distance = false;  // cut faces from the distance as in [Zarifi17 Fig. 5.2], not exact
    bool spheres = false;            // the surface is a union of spheres around the particles [Zarifi17 4.5]
    bool separation = false;         // it may separate from solids and walls
    double slip_depth = 0;           // of the layer that rubs where slip is below 1; 0: a cell [m]
    bool reseed = true;              // keep the number of particles per cell near its rest value
    std::uint64_t seed = 1;          // of the particles' jitter
    std::vector<Fill> fills;
    std::vector<Emitter> emitters;
    std::vector<Sink> sinks;
};

// At rest: 2 x 2 x 2 in a cell, 2 x 2 in a slab, unless the scene wants more.
inline int particles_per_cell(const Domain& domain) {
    const int n = domain.particles_per_edge;
    return domain.flat() ? n * n : n * n * n;
}

// Every particle stands for the same volume of liquid. Sorted by tile and cell once a step.
struct Particles {
    std::vector<Vec3f> position;               // [m]
    std::vector<Vec3f> velocity;               // [m/s]; empty for massless markers
    std::array<std::vector<Vec3f>, 3> affine;  // gradient of each velocity component [1/s]; APIC only

    std::int64_t count() const { return static_cast<std::int64_t>(position.size()); }
    void visit_state(StateVisitor& visit);
};

// Value of the distance far from the liquid [m].
inline double outside_distance(const Domain& domain) { return 4 * domain.h; }

// Velocity components on the faces normal to them [m/s].
using MacGrid = std::array<Field<double>, 3>;

// Velocity of the faces in slits between solids, which particles do not carry from one step to the next: per
// axis, the cells whose low faces they are.
struct SlitFlow {
    std::array<std::vector<Int3>, 3> face;
    std::array<std::vector<double>, 3> velocity;  // [m/s]
    std::array<std::vector<double>, 3> open;      // open share of the face
};

struct LiquidState {
    std::shared_ptr<const Tiling> tiling = std::make_shared<Tiling>();
    Particles particles;
    MacGrid velocity;  // divergence-free in the liquid, extrapolated around it
    SlitFlow slits;    // in which `velocity` is that of the solids
    // As the last solve saw them, half a step ago; phi and open_volume are current when the step ends a
    // frame.
    Field<double> phi;  // distance to the free surface, negative in the liquid, accurate within 3 cells [m]
    Field<double> potential;    // pi = p + rho g y at liquid cell centres, 0 elsewhere [Pa]
    Field<double> open_volume;  // share of each cell that no solid covers; empty when there are no solids

    void visit_state(StateVisitor& visit, const Domain& domain);
};

}  // namespace flotsam
