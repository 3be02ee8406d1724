// The solids in the pressure solve: interface maps J from the patches that close every cut cell, and the part
// of the pressure's impulse that is known before the solve. Maps and impulses use the patches' exact area
// vectors; nothing is spread by volume.
#pragma once

#include <vector>

#include "core/mat3.h"
#include "core/rotation.h"
#include "fluid/grid/pressure_system.h"
#include "linalg/solid_system.h"

namespace flotsam {

// The pressure unknown that a patch bounds: a listed piece, or its cell; -1 where there is no liquid.
template <class AnyPatch>
std::int64_t bounded_unknown(const PressureSystem& system, const AnyPatch& patch) {
    if (patch.piece >= 0) return system.network.first_listed() + patch.piece;
    return system.phi[patch.cell] < 0 ? system.network.tiling().find(patch.at) : -1;
}

// The unknown whose pressure acts on a patch, or -1: the one it bounds, or a neighbouring cell's where the
// patch's own cell is closed.
template <class AnyPatch>
std::int64_t felt_unknown(const PressureSystem& system, const AnyPatch& patch) {
    const std::int64_t own = bounded_unknown(system, patch);
    if (own >= 0 || system.obstacles->open_volume[patch.cell] > 0) return own;
    for (int side = 0; side < 6; ++side) {
        const Int3 beside = patch.at + unit(side / 2) * (side % 2 ? 1 : -1);
        if (system.domain->has_cell(beside) && system.phi(beside) < 0)
            return system.network.tiling().find(beside);
    }
    return -1;
}

// The hydrostatic part of p = pi + rho g.x, integrated over a patch exactly [N].
template <class AnyPatch>
Vec3 hydrostatic_force(const PressureSystem& system, const AnyPatch& patch) {
    Vec3 force;
    for (int d = 0; d < 3; ++d) force -= system.density * system.gravity[d] * patch.moment[d];
    return force;
}

// Its torque about the patch's centre [N m].
inline Vec3 hydrostatic_torque(const PressureSystem& system, const ObstaclePatch& patch) {
    Vec3 torque;
    for (int d = 0; d < 3; ++d) torque -= system.density * system.gravity[d] * patch.turning[d];
    return torque;
}

// A rigid body that the pressure moves. Its obstacle has no prescribed motion.
struct BodyInertia {
    int obstacle = 0;
    Vec3 center;           // of mass [m]
    Vec3 inverse_mass;     // along each axis; zero where it is held [1/kg]
    Mat3 inverse_inertia;  // about the centre, in world axes [1/(kg m^2)]
};

inline Six<double> as_six(const Twist& t) {
    return {t.velocity.x, t.velocity.y, t.velocity.z, t.spin.x, t.spin.y, t.spin.z};
}
inline Twist as_twist(const Six<double>& v) { return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}; }

// The bodies' blocks [Zarifi17 5.2.3; Batty 2007]: `push` is the impulse of the known part of the pressure,
// `from` is left to the caller. `joints` hold bodies together. Pockets whose liquid can push a body aside are
// removed from `sealed`.
RigidBlocks rigid_blocks(const PressureSystem& system, const std::vector<BodyInertia>& bodies,
                         std::vector<ConstraintRow> joints, double dt, std::vector<Pocket>& sealed);

// The interface map of the nodes, from the obstacles' node patches [Zarifi17 5.1], and the impulse of the
// known part of the pressure on each node [kg m/s].
struct NodeInterface {
    InterfaceMap map;
    std::vector<Vec3> known;
};
NodeInterface node_interface(const PressureSystem& system, std::int64_t nodes, double dt);
// Removes the pockets that touch a surface of these nodes from `sealed`.
void open_to(const InterfaceMap& map, std::vector<Pocket>& sealed);

// Turns x times face areas into impulses [kg].
double impulse_scale(const PressureSystem& system);

}  // namespace flotsam
