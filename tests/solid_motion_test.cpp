// Solids that move as a script says, and what a run knows of solids however they move.
#include <doctest/doctest.h>

#include <cmath>

#include "saved_state.h"
#include "sim/measure.h"
#include "solid/script.h"
#include "worlds.h"

using namespace flotsam;

TEST_CASE("between keyframes a solid moves evenly, or eases in and out") {
    Script script;
    script.keyframes = {{1, {{0, 0, 0}, {}}}, {3, {{4, 0, -2}, Rotation::about({0, 1, 0}, 1.2)}}};
    const auto at = [&](double time) { return pose_at(script, {}, time); };
    CHECK(length(at(1.5).position - Vec3{1, 0, -0.5}) < 1e-12);
    CHECK(length(rotation_vector(at(1.5).rotation) - Vec3{0, 0.3, 0}) < 1e-12);
    script.smooth = true;
    // 3 s^2 - 2 s^3: half of the way at half of the time, mirrored about it.
    CHECK(length(at(2).position - Vec3{2, 0, -1}) < 1e-12);
    CHECK(length(at(1.5).position - Vec3{4, 0, -2} * (5.0 / 32)) < 1e-12);
    CHECK(length(at(2.5).position - Vec3{4, 0, -2} * (27.0 / 32)) < 1e-12);
    CHECK(length(rotation_vector(at(1.5).rotation) - Vec3{0, 1.2 * 5 / 32, 0}) < 1e-12);
    // It starts and ends at rest, and stays before and after.
    CHECK(length(at(1.001).position) < 1e-5);
    CHECK(length(at(2.999).position - Vec3{4, 0, -2}) < 1e-5);
    CHECK(length(at(0).position) == 0);
    CHECK(length(at(9).position - Vec3{4, 0, -2}) < 1e-12);
}

TEST_CASE("what the liquid did to a solid is restored with the rest of a world") {
    Scenario s = test::tank({8, 8, 8}, 0.5);
    Solid post;
    post.name = "post";
    post.shape = solid_box({0.2, 0.2, 0.2});
    s.solids.push_back(post);
    World world;
    world.loads = {{{1, 2, 3}, {4, 5, 6}, 7}};
    SavingVisitor save;
    world.visit_state(save, s);
    World again;
    RestoringVisitor restore(save.saved);
    again.visit_state(restore, s);
    REQUIRE(again.loads.size() == 1);
    CHECK(again.loads[0].force == Vec3{1, 2, 3});
    CHECK(again.loads[0].torque == Vec3{4, 5, 6});
    CHECK(again.loads[0].wetted_area == 7);
}
