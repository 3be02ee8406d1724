// A scene's settings of an SPH liquid.
#pragma once

namespace flotsam {

// How the control forces at a body's contacts are found [Becker09 Eq. 10-18].
enum class BoundaryResponse {
    global,  // for all contacts of a body together: one small system per body
    local,   // for each contact as if it were alone
};

// Where a control force acts on a body: at the contact point as in the paper, or at the particle, which
// conserves angular momentum.
enum class TorqueArm { contact, particle };

struct SphSettings {
    double speed_of_sound = 0;          // [m/s]; 0: ten times the speed that the scene can reach
    double artificial_viscosity = 0.1;  // Monaghan's alpha, used where the liquid has no viscosity given
    BoundaryResponse response = BoundaryResponse::global;
    TorqueArm torque_arm = TorqueArm::contact;
};

}  // namespace flotsam
