#include "apps/commands.h"

namespace flotsam {

std::string version_text() { return "flotsam " FLOTSAM_VERSION " (" FLOTSAM_REVISION ")"; }

std::string revision_text() { return FLOTSAM_REVISION; }

}  // namespace flotsam
