// A run that tells on itself: what it counts, and what it says about that when it ends.
#include "run/health.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "geometry/solid_shape.h"
#include "io/atomic_file.h"
#include "io/audit.h"
#include "sim/measure.h"
#include "tests/program_says.h"
#include "tests/scratch_folder.h"
#include "worlds.h"

using namespace flotsam;

namespace {

constexpr std::size_t steps = 100;

// The audit of a run that is well: a cubic metre of liquid, steps of 10 ms.
NumberTable good_audit() {
    NumberTable audit;
    const auto add = [&](const char* name, double value) {
        audit.names.emplace_back(name);
        audit.columns.emplace_back(steps, value);
    };
    for (const char* name :
         {"time", "steps.repeated", "disagreement.contacts", "disagreement.newton", "disagreement.separation",
          "sealed.removed_volume", "liquid.particles_inside_solids", "particles.pushed_farthest",
          "particles.reseeded", "liquid.droplet_volume", "liquid.mach"})
        add(name, 0);
    add("dt", 0.01);
    add("liquid.particles", 8000);
    add("liquid.volume", 0.99);
    add("liquid.particle_volume", 1);
    add("liquid.density_ratio", 1);
    for (std::size_t row = 0; row < steps; ++row) audit.columns[0][row] = 0.01 * double(row + 1);
    return audit;
}

std::vector<double>& column(NumberTable& audit, std::string_view name) {
    return audit.columns[std::find(audit.names.begin(), audit.names.end(), name) - audit.names.begin()];
}

double quantity(std::string_view name, const World& world, const Scenario& s, const StepReport& report = {}) {
    for (const Quantity& q : quantities())
        if (q.name == name) return q.value(world, s, report);
    FAIL("no such quantity");
    return 0;
}

Solid solid_of(Motion motion, SolidShape shape, Vec3 position, double density = 500) {
    Solid solid;
    solid.name = "body";
    solid.motion = motion;
    solid.start.position = position;
    solid.rigid.mass = mass_properties(enclosed_moments(shape.mesh), density);
    solid.shape = std::move(shape);
    return solid;
}

// A box that is full to the brim, and a solid that moves in it as it is told.
Scenario full_box(SolidShape shape, Vec3 position, Vec3 velocity, double level = 2) {
    Scenario s = test::tank({16, 16, 16}, level);
    s.solids.push_back(solid_of(Motion::scripted, std::move(shape), position));
    s.solids.back().name = "piston";
    s.solids.back().script.velocity = velocity;
    return s;
}

// Why a run fails within its first steps.
std::string failure_of(const Scenario& s) {
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    try {
        for (int n = 0; n < 5; ++n) (void)driver.advance();
    } catch (const StepFailure& failure) {
        return failure.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a run that is well has nothing to report") {
    const Scenario s = test::tank({10, 10, 10}, 1);
    NumberTable audit = good_audit();
    CHECK(health_of(audit, s).empty());
    CHECK(health_text({}, steps) == "health: nothing to report in 100 steps\n");
    // What is in the nature of the methods is no trouble.
    column(audit, "disagreement.contacts")[3] = 0.01 * 9.81 * 0.01;
    column(audit, "particles.pushed_farthest")[3] = 0.1;
    column(audit, "particles.reseeded")[3] = 40;
    column(audit, "sealed.removed_volume")[3] = 1e-5;
    column(audit, "liquid.volume")[3] = 0.6;  // the rest is spray
    column(audit, "liquid.droplet_volume")[3] = 0.4;
    CHECK(health_of(audit, s).empty());
    CHECK(health_of(NumberTable{{"time"}, {{}}}, s).empty());  // it was stopped before the first step
}

TEST_CASE("each kind of trouble is told with how much of it there was, when, and what to do") {
    const Scenario s = test::tank({10, 10, 10}, 1);
    struct Kind {
        const char* column;
        double value;
        std::vector<std::string> said;
    };
    const std::vector<Kind> kinds{
        {"steps.repeated", 3, {"2 of 100 steps were repeated", "(4 attempts lost)", "t = 0.5 s"}},
        {"disagreement.contacts",
         0.2,
         {"contacts and pressure", "in 1 of 100 steps", "0.2 m/s", "t = 0.5 s"}},
        {"disagreement.newton", 0.3, {"Newton", "0.3 m/s", "t = 0.5 s", "newton_steps"}},
        {"disagreement.separation", 7, {"lets go", "7 cells", "t = 0.5 s"}},
        {"sealed.removed_volume", 0.02, {"0.02 m^3 (2 % of the liquid)", "t = 0.5 s"}},
        {"liquid.particles_inside_solids", 5, {"inside solids or outside the domain", "5 at t = 0.5 s"}},
        {"particles.pushed_farthest", 0.35, {"3.5 cells", "t = 0.5 s"}},
        {"particles.reseeded", 40000, {"5.0 % of the particles", "t = 0.5 s"}},
        {"liquid.volume", 0.9, {"10.0 % less", "t = 0.5 s"}},
        {"liquid.mach", 0.31, {"Mach 0.31 at t = 0.5 s", "speed_of_sound"}},
        {"liquid.density_ratio", 1.2, {"1.20 times its density at t = 0.5 s"}},
    };
    for (const Kind& kind : kinds) {
        CAPTURE(kind.column);
        NumberTable audit = good_audit();
        column(audit, kind.column)[49] = kind.value;
        if (kind.column == std::string("steps.repeated")) column(audit, kind.column)[7] = 1;
        const std::vector<HealthNote> notes = health_of(audit, s);
        REQUIRE(notes.size() == 1);
        const std::string text = health_text(notes, steps);
        CAPTURE(text);
        for (const std::string& part : kind.said) CHECK(contains(text, part));
        CHECK(!notes[0].advice.empty());
    }
}

TEST_CASE("the audit gives particles that were put elsewhere the momentum of that") {
    const ScratchFolder scratch;
    const Scenario s = test::tank({10, 10, 10}, 0.5);
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    const double dt = 0.02;
    StepReport report;
    report.ledger.pushed.add({0.03, -0.02, 0.01});
    report.ledger.pushed.add({0.01, 0, 0});
    report.ledger.reseeded.velocity = {1, 2, -3};
    Audit audit(scratch / "audit.csv", s);
    audit.on_start(driver.world(), 0);
    audit.on_step(driver.world(), report, dt);
    audit.on_finish(driver.world(), 0, true);
    const NumberTable table = read_number_table(scratch / "audit.csv");
    const auto vector = [&](const std::string& name) {
        return Vec3{table.find(name + ".x")->front(), table.find(name + ".y")->front(),
                    table.find(name + ".z")->front()};
    };
    const double mass = s.particle_mass();
    CHECK(table.find("particles.pushed")->front() == 2);
    CHECK(length(vector("particles.pushed_momentum") - Vec3{0.04, -0.02, 0.01} * (mass / dt)) < 1e-9 * mass);
    CHECK(length(vector("particles.reseeded_momentum") - Vec3{1, 2, -3} * mass) < 1e-9 * mass);
}

TEST_CASE("what ends a run ends with its health, over all of it, also after a stop in between") {
    const ScratchFolder scratch;
    const std::string scene = (scratch / "fast.toml").string();
    // Sound is so slow here that the falling liquid comes near to it.
    std::ofstream(scene) << R"([scene]
duration = 0.25
dimensions = 2
method = "direct-forcing"
[domain]
size = [0.5, 1]
resolution = 20
[liquid]
speed_of_sound = 8
[[liquid.fill]]
box = { min = [0.1, 0.5], max = [0.4, 0.9] }
[output]
surface = false
volume = false
)";
    const std::string out = " --out '" + (scratch / "run").string() + "'";
    const Said whole = flotsam_says("run --quiet '" + scene + "'" + out);
    CAPTURE(whole.text);
    REQUIRE(whole.code == 0);
    CHECK(contains(whole, "health:\n- "));
    CHECK(contains(whole, "Mach 0.31 at t = 0.25 s"));
    CHECK(contains(whole, "of 180 steps"));
    // Stopped while all is well and resumed, the run tells of all its steps.
    const std::string half = " --out '" + (scratch / "half").string() + "'";
    const Said first = flotsam_says("run '" + scene + "' --until 0.08" + half);
    CAPTURE(first.text);
    CHECK(contains(first, "health: nothing to report in 60 steps"));
    const Said rest = flotsam_says("run --quiet '" + scene + "' --resume" + half);
    CHECK(rest.text == whole.text);
    CHECK(!contains(flotsam_says("run --quiet '" + scene + "' --until 0.08 --overwrite" + half), "health"));
}

TEST_CASE("a piston that closes on a full box is an error that names it and says what to do") {
    // Its left half is outside the domain: what comes in at the left must go somewhere.
    const SolidShape piston = solid_box({0.5, 3, 3});
    const std::string why = failure_of(full_box(piston, {0, 0.5, 0.5}, {0.5, 0, 0}));
    CAPTURE(why);
    CHECK(contains(why, "'piston' closes on liquid that has no way out"));
    CHECK(contains(why, "Leave room for air"));
    CHECK(!contains(why, "retries"));
    // With air above it, pulled back, or as something that only moves about in there, it is welcome.
    CHECK(failure_of(full_box(piston, {0, 0.5, 0.5}, {0.5, 0, 0}, 0.8)) == "");
    CHECK(failure_of(full_box(piston, {0, 0.5, 0.5}, {-0.5, 0, 0})) == "");
    CHECK(failure_of(full_box(solid_sphere(0.2, 0.05), {0.4, 0.5, 0.5}, {0.5, 0, 0})) == "");
}

TEST_CASE("liquid squeezed in a pocket beside a free surface is removed and told, and no error") {
    // A plunger in a well, in a pool with a surface of its own: most of the liquid has a way out.
    Scenario s = test::tank({24, 16, 16}, 0.4);
    s.solids.push_back(solid_of(Motion::fixed, solid_box({0.1, 3, 3}), {0.3, 0.5, 0.5}));
    s.solids.push_back(solid_of(Motion::scripted, solid_box({0.5, 0.6, 3}), {0, 0.66, 0.5}));
    const auto removed = [&](double speed) {
        s.solids[1].script.velocity = {0, -speed, 0};
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        double sum = 0;
        while (driver.world().time < 0.25) sum += driver.advance().first.ledger.removed_volume;
        return sum;
    };
    // It comes down by 7.5 cm over 0.25 m x 0.67 m; crowded liquid then wants out, too.
    const double squeezed = removed(0.3);
    CHECK(squeezed > 0.075 * 0.25 * 0.667);
    CHECK(removed(0) < 0.01 * squeezed);
}

TEST_CASE("particles that left through a wall are counted, though outputs show them inside") {
    Scenario s = test::tank({16, 16, 1}, 0.3);
    s.method = "penalty";
    s.liquid.carrier = Carrier::sph;
    Driver driver(s, make_scheme("penalty"));
    driver.start();
    CHECK(quantity("liquid.particles_inside_solids", driver.world(), s) == 0);
    // So fast towards the floor that no penalty holds it, but slower than sound.
    SphLiquid& liquid = driver.world().sph;
    std::int64_t lowest = 0;
    for (std::int64_t i = 0; i < liquid.count(); ++i)
        if (liquid.position[i].y < liquid.position[lowest].y) lowest = i;
    liquid.position[lowest].y = 1e-4;
    liquid.velocity[lowest] = {0, -10, 0};
    double outside = 0;
    for (int n = 0; n < 3; ++n) {
        (void)driver.advance();
        outside = std::max(outside, quantity("liquid.particles_inside_solids", driver.world(), s));
    }
    CHECK(outside == 1);
    for (const Vec3f p : driver.world().liquid.particles.position) CHECK(p.y > 0);
}

TEST_CASE("the same load on a solid that is fixed, scripted to stay, or rigid and locked") {
    // A ball that pierces the surface while water rushes past it.
    const auto loads_on = [](Motion motion, double slip) {
        Scenario s = test::tank({24, 16, 16}, 0.35);
        s.liquid.fills[0].velocity = {0.8, 0, 0.3};
        s.solids.push_back(solid_of(motion, solid_sphere(0.15, 0.03), {0.52, 0.31, 0.3}));
        s.solids[0].slip = slip;
        s.solids[0].rigid.locked.fill(true);
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        std::vector<SolidLoad> loads;
        for (int n = 0; n < 8; ++n) {
            (void)driver.advance();
            loads.push_back(driver.world().loads[0]);
        }
        return loads;
    };
    for (const double slip : {1.0, 0.0}) {
        const std::vector<SolidLoad> fixed = loads_on(Motion::fixed, slip);
        for (const Motion motion : {Motion::scripted, Motion::rigid}) {
            const std::vector<SolidLoad> other = loads_on(motion, slip);
            for (std::size_t n = 0; n < fixed.size(); ++n) {
                CAPTURE(n);
                CHECK(length(fixed[n].force) > 10);
                CHECK(length(other[n].force - fixed[n].force) < 1e-6 * length(fixed[n].force));
                CHECK(length(other[n].torque - fixed[n].torque) < 1e-6 * 0.15 * length(fixed[n].force));
                CHECK(std::abs(other[n].wetted_area - fixed[n].wetted_area) < 1e-6 * fixed[n].wetted_area);
            }
        }
    }
}
