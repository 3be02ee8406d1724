// The validation cases of elastic bodies at their quick level.
#include "tests/validation_rows.h"

using namespace flotsam;

TEST_CASE("elastic bodies: every row at its own tolerance") { judge_cases(elastic_cases); }
