// The liquid's free surface as a signed distance at cell centres, found from the particles.
//
// Each particle's volume is spread over the cells around it by a smooth kernel, which gives a filling c
// between 0 and 1. For a flat surface c is a known function G of the distance to it, whatever the offset
// against the grid; the distance is therefore G^-1(c), exact for flat surfaces and smooth for others. At
// walls c is divided by its value in a full domain, so that a level surface stays level up to the wall.
#pragma once

#include "fluid/grid/obstacles.h"
#include "fluid/grid/particles.h"

namespace flotsam {

struct Surface {
    Field<double> phi;     // signed distance, negative inside, at least 4 cells deep and 3 cells out [m]
    Field<float> filling;  // c; 1 where particles are as dense as at rest
};

// The surface is extrapolated into obstacles, so that it meets them at the angle it has outside; cells that a
// thin obstacle divides take it from their own side. With `spheres`, the surface outside obstacles is a union
// of spheres around the particles [Zarifi17 4.5].
Surface surface_from_particles(const Particles& particles, const CellRanges& cells, const Domain& domain,
                               std::shared_ptr<const Tiling> tiling,
                               const Obstacles& obstacles = no_obstacles, bool spheres = false);

// Turns bubbles of a few cells beside solids that are not connected to the air outside into liquid: space
// that a solid has left behind it in a step and no particle has reached yet. A free surface there would hold
// the solid back. In a closed box that is full of liquid, of volume `liquid_volume` [m^3], every bubble
// becomes liquid.
void close_voids(Field<double>& phi, const Obstacles& obstacles, const Domain& domain, double liquid_volume);

// Cells that the pressure must act in although the smooth surface misses them: droplets, sheets and films
// thinner than a cell. A cell with particles in it that does not rest on liquid gets a small negative
// distance; without this, films would be pressed into the floor by gravity and droplets would not keep their
// volume.
void include_thin_liquid(Field<double>& phi, const CellRanges& cells, const Domain& domain, Vec3 gravity,
                         const Field<double>& open_volume = {});

// Particles in cells whose centre is half a cell outside the surface or more.
std::int64_t count_droplets(const Field<double>& phi, const CellRanges& cells, const Domain& domain);

// The divergence that lets crowded cells expand and, deep inside, sparse ones contract until particles are as
// dense as at rest [1/s]. Without it a moving liquid loses volume as its particles drift together. The
// deviation decays over `relaxation_time` [s]: a shorter one follows the noise of single particles and feeds
// energy to waves.
Field<double> crowding_source(const Surface& surface, const Domain& domain, double relaxation_time);

// Volume of a unit cube on the negative side of the plane at signed distance `d` from its centre (in edges),
// with `normal` pointing to the positive side (any length).
double cube_fraction_below(double d, Vec3 normal);

// Share of a cell that is liquid, from the distance and its slope.
double liquid_fraction(const Field<double>& phi, const Domain& domain, Int3 c);

// Volume inside the surface and outside solids [m^3].
double liquid_volume(const Field<double>& phi, const Domain& domain, const Field<double>& open_volume = {});

// Height of the topmost surface above (x, z) [m]; 0 where it is dry.
double surface_height(const Field<double>& phi, const Domain& domain, double x, double z);

}  // namespace flotsam
