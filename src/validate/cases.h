// One function per validation case; numbers and their sources stand where they are used.
#pragma once

#include "validate/validation.h"

namespace flotsam {

void validate_rest(const ValidationRun& run);
void validate_standing_wave(const ValidationRun& run);
void validate_zalesak(const ValidationRun& run);
void validate_dam_break_front(const ValidationRun& run);
void validate_sloshing(const ValidationRun& run);

}  // namespace flotsam
