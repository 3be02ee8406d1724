// The validation cases of rigid bodies at their quick level.
#include "tests/validation_rows.h"

using namespace flotsam;

TEST_CASE("rigid bodies: every row at its own tolerance") { judge_cases(rigid_cases); }
