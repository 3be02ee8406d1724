#include "apps/commands.h"

namespace flotsam {
int scoreboard_command(const ScoreboardOptions&) { return 0; }
}  // namespace flotsam
