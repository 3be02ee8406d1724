#include "solid/rigid/constraint_rows.h"

#include <algorithm>
#include <cmath>

namespace flotsam {

int RigidSystem::body_of(int solid) const {
    const auto at = std::lower_bound(bodies.begin(), bodies.end(), solid,
                                     [](const RigidBody& body, int s) { return body.solid < s; });
    return at != bodies.end() && at->solid == solid ? int(at - bodies.begin()) : -1;
}

Vec3 RigidSystem::center(int solid) const {
    if (solid == the_world) return {};
    const int body = body_of(solid);
    return body >= 0 ? bodies[body].center : placed[solid].pose.position;
}

Vec3 RigidSystem::velocity_at(int solid, Vec3 point) const {
    if (solid == the_world) return {};
    const int body = body_of(solid);
    return body >= 0 ? twist_of(bodies[body]).at(point - bodies[body].center)
                     : placed[solid].motion.at(point - placed[solid].pose.position);
}

Vec3 RigidSystem::last_velocity_at(int solid, Vec3 point) const {
    if (solid == the_world) return {};
    return placed[solid].motion.at(point - placed[solid].pose.position);
}

Vec3 RigidSystem::spin(int solid) const {
    if (solid == the_world) return {};
    const int body = body_of(solid);
    return body >= 0 ? spin_of(bodies[body]) : placed[solid].motion.spin;
}

Pose RigidSystem::pose(int solid) const {
    if (solid == the_world) return {};
    const int body = body_of(solid);
    return body >= 0 ? pose_of(bodies[body]) : placed[solid].pose;
}

namespace {

// A row about the relative velocity along `direction` of a point of a and a point of b.
Row linear_row(const RigidSystem& system, int a, int b, Vec3 point_a, Vec3 point_b, Vec3 direction) {
    Row row;
    row.a = system.body_of(a);
    row.b = system.body_of(b);
    row.linear = direction;
    row.angular_a = cross(point_a - system.center(a), direction);
    row.angular_b = cross(point_b - system.center(b), direction);
    if (row.a < 0) row.target -= dot(direction, system.velocity_at(a, point_a));
    if (row.b < 0) row.target += dot(direction, system.velocity_at(b, point_b));
    return row;
}

Row angular_row(const RigidSystem& system, int a, int b, Vec3 direction) {
    Row row;
    row.a = system.body_of(a);
    row.b = system.body_of(b);
    row.angular_a = row.angular_b = direction;
    if (row.a < 0) row.target -= dot(direction, system.spin(a));
    if (row.b < 0) row.target += dot(direction, system.spin(b));
    return row;
}

Row reversed(Row row) {
    row.linear = -row.linear;
    row.angular_a = -row.angular_a;
    row.angular_b = -row.angular_b;
    row.target = -row.target;
    return row;
}

// Builds the rows of one joint, whose axes in the world are those of `frame_a` and `frame_b`.
class JointRowBuilder {
  public:
    JointRowBuilder(const RigidSystem& system, const Joint& joint, double dt)
        : system_(system), joint_(joint), dt_(dt) {
        const auto in_world = [](const Pose& pose, const Pose& frame) {
            return Pose{pose.to_world(frame.position), pose.rotation * frame.rotation};
        };
        a_ = in_world(system.pose(joint.a), joint.frame_a);
        b_ = in_world(system.pose(joint.b), joint.frame_b);
    }

    JointRows build() {
        switch (joint_.kind) {
            case Joint::Kind::fixed:
                hold_point();
                hold_axes();
                break;
            case Joint::Kind::ball:
                hold_point();
                break;
            case Joint::Kind::hinge:
                hold_point();
                hold_axis();
                limit_angle();
                drive();
                break;
            case Joint::Kind::slider:
                hold_line();
                hold_axes();
                limit_slide();
                break;
            case Joint::Kind::spring:
                pull();
                break;
        }
        return std::move(result_);
    }

  private:
    Vec3 axis_a(int i) const { return a_.rotation * Vec3(unit(i)); }
    Vec3 axis_b(int i) const { return b_.rotation * Vec3(unit(i)); }
    void hold(const Row& row, double error) {
        result_.rows.push_back(row);
        result_.error.push_back(error);
    }

    void hold_point() {
        for (int i = 0; i < 3; ++i) {
            const Vec3 direction(unit(i));
            hold(linear_row(system_, joint_.a, joint_.b, a_.position, b_.position, direction),
                 dot(direction, a_.position - b_.position));
        }
    }
    // The point of a moves along b's axis: b carries it where it is now.
    void hold_line() {
        for (const int i : {1, 2})
            hold(linear_row(system_, joint_.a, joint_.b, a_.position, a_.position, axis_b(i)),
                 dot(axis_b(i), a_.position - b_.position));
    }
    void hold_axes() {
        const Vec3 off = rotation_vector(a_.rotation * b_.rotation.inverse());
        for (int i = 0; i < 3; ++i) hold(angular_row(system_, joint_.a, joint_.b, Vec3(unit(i))), off[i]);
    }
    void hold_axis() {
        const Vec3 off = cross(axis_b(0), axis_a(0));
        for (const int i : {1, 2})
            hold(angular_row(system_, joint_.a, joint_.b, axis_b(i)), dot(axis_b(i), off));
    }

    // Both limits may be near: a row for each. Like a contact, a limit brakes no more than it must.
    void limit(const Row& row, double value) {
        const auto at_least = [&](Row one_sided, double room) {
            one_sided.target += -std::max(room, 0.0) / dt_;
            one_sided.low = 0;
            result_.rows.push_back(one_sided);
        };
        if (std::isfinite(joint_.low)) at_least(row, value - joint_.low);
        if (std::isfinite(joint_.high)) at_least(reversed(row), joint_.high - value);
    }
    void limit_angle() {
        const double angle = std::atan2(dot(axis_b(2), axis_a(1)), dot(axis_b(1), axis_a(1)));
        limit(angular_row(system_, joint_.a, joint_.b, axis_b(0)), angle);
    }
    void limit_slide() {
        limit(linear_row(system_, joint_.a, joint_.b, a_.position, a_.position, axis_b(0)),
              dot(axis_b(0), a_.position - b_.position));
    }

    void drive() {
        if (joint_.motor_torque <= 0) return;
        Row row = angular_row(system_, joint_.a, joint_.b, axis_b(0));
        row.target += joint_.motor_speed;
        row.high = joint_.motor_torque * dt_;
        row.low = -row.high;
        result_.rows.push_back(row);
    }

    // Stable at any stiffness, and dissipates energy by its damping alone: the force follows from the mean of
    // the lengths a step ago, now and a step ahead, the damping from the new velocity.
    void pull() {
        const double soft = dt_ * joint_.stiffness / 3 + joint_.damping;
        if (soft <= 0) return;
        const Vec3 span = a_.position - b_.position;
        const double now = length(span);
        // A spring of zero length has no direction; any will do.
        const Vec3 direction = now > 0 ? span / now : Vec3{1, 0, 0};
        Row row = linear_row(system_, joint_.a, joint_.b, a_.position, b_.position, direction);
        const double last_rate = dot(direction, system_.last_velocity_at(joint_.a, a_.position) -
                                                    system_.last_velocity_at(joint_.b, b_.position));
        const double mean_stretch =
            now - joint_.rest_length - dt_ / 3 * last_rate;  // but for the new velocity
        row.target -= joint_.stiffness * mean_stretch / soft;
        row.softness = 1 / (dt_ * soft);
        result_.rows.push_back(row);
    }

    const RigidSystem& system_;
    const Joint& joint_;
    double dt_;
    Pose a_, b_;
    JointRows result_;
};

}  // namespace

ContactRows contact_rows(const RigidSystem& system, const Contact& c) {
    // Two tangential directions, from the axis that is farthest from the normal.
    int axis = 0;
    for (int i = 1; i < 3; ++i)
        if (std::abs(c.normal[i]) < std::abs(c.normal[axis])) axis = i;
    Vec3 first = cross(c.normal, Vec3(unit(axis)));
    first = first / length(first);
    ContactRows rows{linear_row(system, c.a, c.b, c.point, c.point, c.normal),
                     {linear_row(system, c.a, c.b, c.point, c.point, first),
                      linear_row(system, c.a, c.b, c.point, c.point, cross(c.normal, first))}};
    rows.normal.low = 0;
    return rows;
}

JointRows joint_rows(const RigidSystem& system, const Joint& joint, double dt) {
    return JointRowBuilder(system, joint, dt).build();
}

}  // namespace flotsam
