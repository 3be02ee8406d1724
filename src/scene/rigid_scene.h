// Scene files: what belongs to rigid solids and to the joints between solids.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "scene/schema.h"
#include "scene/toml_tree.h"
#include "solid/rigid/joint.h"
#include "solid/solid.h"

namespace flotsam {

// The table rules of [[joint]].
std::vector<TableRule> joint_tables();

// A two-dimensional scene: a slab of this depth [m]; the meshes of solids are `mesh_depth` deep.
struct Slab {
    double depth, mesh_depth;
};

// Reads the table of a shape; nothing when a mistake was found.
using ShapeReader = std::function<std::optional<SolidShape>(const TomlNode&)>;

// Mass, friction, locks and initial motion of a validated [[solid]]. Adds to `mistakes` what is missing, and
// what a solid that does not move by itself cannot have. `shape` may be null when it could not be read.
RigidProperties read_rigid(const TomlNode& entry, Motion motion, const SolidShape* shape,
                           const std::optional<Slab>& slab, const ShapeReader& read_shape,
                           Mistakes& mistakes);

// The [[joint]] tables of a validated file.
std::vector<Joint> read_joints(const TomlNode& root, const std::vector<Solid>& solids,
                               const std::optional<Slab>& slab, Mistakes& mistakes);

}  // namespace flotsam
