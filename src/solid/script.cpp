#include "solid/script.h"

#include <algorithm>

namespace flotsam {

namespace {

// Interpolates from a to b: the share `s` of the rotation between them, about one axis.
Rotation between(const Rotation& a, const Rotation& b, double s) {
    const Vec3 turn = rotation_vector(b * a.inverse());
    const double angle = length(turn);
    return angle > 0 ? Rotation::about(turn, s * angle) * a : a;
}

}  // namespace

Pose pose_at(const Script& script, const Pose& start, double time) {
    if (!script.keyframes.empty()) {
        const std::vector<Keyframe>& keys = script.keyframes;
        std::size_t next = 0;
        while (next < keys.size() && keys[next].time <= time) ++next;
        const Keyframe& a = keys[next == 0 ? 0 : next - 1];
        const Keyframe& b = keys[std::min(next, keys.size() - 1)];
        double s = b.time > a.time ? (time - a.time) / (b.time - a.time) : 0;
        if (script.smooth) s = s * s * (3 - 2 * s);
        return {a.pose.position + (b.pose.position - a.pose.position) * s,
                between(a.pose.rotation, b.pose.rotation, s)};
    }
    Pose pose = start;
    pose.position += script.velocity * time;
    if (const double rate = length(script.spin); rate > 0)
        pose.rotation = Rotation::about(script.spin, rate * time) * pose.rotation;
    return pose;
}

}  // namespace flotsam
