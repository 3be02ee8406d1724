// What can be measured in a world: the numbers behind audit.csv, probes.csv and the claims of a scene.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "world/world.h"

namespace flotsam {

struct Probe {
    enum class Kind {
        height,
        pressure,
        speed,
        velocity_x,
        velocity_y,
        velocity_z,
        // Load of the liquid on a solid, over the last step: zero before the first.
        force_x,
        force_y,
        force_z,
        torque_x,
        torque_y,
        torque_z,
        wetted_area,
        // Position of a solid, whatever moves it.
        position_x,
        position_y,
        position_z,
        // Position of a material point of a solid.
        point_x,
        point_y,
        point_z,
        tilt,    // between its y axis and the vertical [deg]
        volume,  // inside its surface [m^3]
        // Root mean square distance, weighted by mass, from the closest rigid placement of its shape at rest.
        distortion,  // [m]
        distance,    // between the positions of two solids [m]
        filled,      // share of a box that particles fill
        // Of other probes, its `parts`.
        mean,
        largest,
        smallest,
        difference,  // the first less the second
    };
    std::string name;
    Kind kind = Kind::height;
    Vec3 point = {};      // [m]; a height ignores y; of a solid's point: at the start
    int solid = 0;        // index in the scenario; for loads and positions
    double width = 0;     // of the interval along x that a height is averaged over [m]
    BodyPoint tied = {};  // material point of a solid that deforms
    int other = -1;       // second solid of a distance; solid that the box of `filled` moves with, or -1
    Box box = {};
    std::vector<Probe> parts = {};
};
// Ties a probe of a solid's point to the material there at the start.
void tie_to_solid(Probe& probe, const World& start);

// A quantity that a claim can name: "liquid.volume".
struct Quantity {
    std::string_view name, unit, meaning;
    double (*value)(const World&, const Scenario&, const StepReport&);
};
const std::vector<Quantity>& quantities();

// Largest x that the surface reaches [m].
double liquid_front(const World& world, const Scenario& scenario);

double measure(const Probe& probe, const World& world, const Scenario& scenario);

}  // namespace flotsam
