// One function per validation case; numbers and their sources stand where they are used.
#pragma once

#include "validate/validation.h"

namespace flotsam {

void validate_rest(const ValidationRun& run);
void validate_rest_around_solids(const ValidationRun& run);  // a part of `rest`
void validate_standing_wave(const ValidationRun& run);
void validate_zalesak(const ValidationRun& run);
void validate_dam_break_front(const ValidationRun& run);
void validate_spheric_2(const ValidationRun& run);
void validate_free_slip(const ValidationRun& run);
void validate_moving_sphere(const ValidationRun& run);
void validate_added_mass(const ValidationRun& run);
void validate_kirchhoff_ellipse(const ValidationRun& run);
void validate_draft(const ValidationRun& run);
void validate_heave_cylinder(const ValidationRun& run);
void validate_cylinder_entry(const ValidationRun& run);
void validate_sloshing(const ValidationRun& run);
void validate_cantilever(const ValidationRun& run);
void validate_rigid_rotation(const ValidationRun& run);
void validate_cook(const ValidationRun& run);
void validate_turek_hron(const ValidationRun& run);
void validate_plate_column(const ValidationRun& run);
void validate_elastic_gate(const ValidationRun& run);
void validate_zarifi(const ValidationRun& run);
void validate_rigid_alone(const ValidationRun& run);

}  // namespace flotsam
