// The driver with a scheme that fails when told to: what is not physics must hold whatever the physics does.
#include "sim/driver.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <tuple>

#include "core/state_hash.h"
#include "coupling/grid_liquid.h"
#include "near.h"
#include "worlds.h"

using namespace flotsam;

namespace {

std::uint64_t hash_of(World world, const Scenario& scenario) {  // a copy: listing state is not const
    return state_hash([&](StateVisitor& visit) { world.visit_state(visit, scenario); });
}
std::uint64_t hash_of(Driver& driver) {
    return state_hash([&](StateVisitor& visit) { driver.visit_state(visit); });
}

struct Attempt {
    std::int64_t step;
    double time, dt;
    std::uint64_t state;  // hash of what the step was given
    bool accepted;
};

// Leaves a particle behind at every step, and rubbish in `next` at every failure.
class FakeScheme final : public Scheme {
  public:
    double largest_dt = 1;                                          // [s]
    std::function<bool(const StepContext&)> fails;                  // may be empty
    std::vector<Attempt>* attempts = nullptr;                       // outlives the scheme
    bool hopeless = false;                                          // how it fails
    std::function<double(const World&, const Scenario&)> stable{};  // instead of largest_dt

    Capabilities capabilities() const override { return {}; }
    double stable_dt(const World& world, const Scenario& scenario) const override {
        return stable ? stable(world, scenario) : largest_dt;
    }
    void start(World& world, const Scenario&) override { world.liquid.particles.position = {{1, 2, 3}}; }
    StepReport step(const World& now, World& next, const StepContext& ctx) override {
        const bool fail = fails && fails(ctx);
        attempts->push_back({ctx.step, ctx.time, ctx.dt, hash_of(now, ctx.scenario), !fail});
        next = now;
        next.liquid.particles.position.push_back({float(ctx.time), float(ctx.dt), 0});
        StepReport report;
        if (fail) {
            next.liquid.particles.position.assign(100, {-1, -1, -1});
            next.time = -1;
            next.step = -1;
            return hopeless ? report.give_up("told to fail") : report.reject("told to fail");
        }
        next.time = (ctx.time + ctx.dt) * (1 + 1e-15);  // schemes round; the driver puts frames right
        next.step = ctx.step + 1;
        report.largest_divergence = double(ctx.step);  // recognised by the observers
        return report;
    }
};

struct Run {
    Scenario scenario;
    std::vector<Attempt> attempts;
    std::unique_ptr<FakeScheme> scheme = std::make_unique<FakeScheme>();
    std::unique_ptr<Driver> driver;

    Run() {
        scenario.time.duration = 0.5;
        scenario.time.frames_per_second = 10;
        scheme->attempts = &attempts;
    }
    Driver& start() {
        driver = std::make_unique<Driver>(scenario, std::move(scheme));
        driver->start();
        return *driver;
    }
};

// Writes down what it is told, prefixed with its name.
class Diary final : public Observer {
  public:
    Diary(std::string name, std::vector<std::string>& lines) : name_(std::move(name)), lines_(lines) {}
    std::atomic<bool>* stop_at_step_2 = nullptr;

    void on_start(const World& world, int frame) override {
        lines_.push_back(name_ + " start " + std::to_string(frame) + " step " + std::to_string(world.step));
    }
    void on_step(const World& world, const StepReport& report, double dt) override {
        CHECK(report.accepted);
        CHECK(report.largest_divergence == double(world.step - 1));  // the report of this very step
        CHECK(dt > 0);
        lines_.push_back(name_ + " step " + std::to_string(world.step));
        if (stop_at_step_2 && world.step == 2) *stop_at_step_2 = true;
    }
    void on_frame(World& world, int frame) override {
        CHECK(world.time == frame / 10.0);
        lines_.push_back(name_ + " frame " + std::to_string(frame));
    }
    void on_finish(World&, int frame, bool completed) override {
        lines_.push_back(name_ + (completed ? " done " : " stopped ") + std::to_string(frame));
    }

  private:
    std::string name_;
    std::vector<std::string>& lines_;
};

// What the next step says when it fails for good.
std::string failure_of(Driver& driver) {
    try {
        (void)driver.advance();
    } catch (const StepFailure& failure) {
        return failure.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a failed step is tried again with half the time step, from the same state") {
    Run run;
    int failures = 3;
    run.scheme->fails = [&](const StepContext& ctx) { return ctx.step == 2 && failures-- > 0; };
    Driver& driver = run.start();
    for (int n = 0; n < 2; ++n) (void)driver.advance();
    const std::uint64_t before = hash_of(driver.world(), run.scenario);
    const auto [report, dt] = driver.advance();
    CHECK(report.accepted);
    CHECK(report.repeats == 3);
    CHECK(report.repeated_because == "told to fail");
    CHECK(dt == near(0.1 / 8).relative(1e-12));
    CHECK(driver.world().step == 3);
    CHECK(driver.world().time == near(0.2 + 0.1 / 8).relative(1e-12));
    CHECK(driver.world().liquid.particles.count() == 4);
    CHECK(driver.frame() == 2);
    REQUIRE(run.attempts.size() == 6);
    for (int n = 0; n < 4; ++n) {
        const Attempt& attempt = run.attempts[2 + n];
        CHECK(attempt.step == 2);
        CHECK(attempt.time == run.attempts[2].time);
        CHECK(attempt.dt == run.attempts[2].dt / (1 << n));
        CHECK(attempt.state == before);
        CHECK(attempt.accepted == (n == 3));
    }
}

TEST_CASE("after a retry the rest of the frame is planned anew and its end is hit exactly") {
    Run run;
    run.scheme->fails = [](const StepContext& ctx) { return ctx.dt > 0.04 && ctx.time > 0.15; };
    Driver& driver = run.start();
    while (driver.frame() < 3) (void)driver.advance();
    CHECK(driver.world().time == 0.3);
    for (const Attempt& attempt : run.attempts) CHECK(attempt.time + attempt.dt <= 0.3 + 1e-12);
}

TEST_CASE("after the last halving the run fails with a message, and the last good state is kept") {
    Run run;
    run.scheme->fails = [](const StepContext& ctx) { return ctx.step == 3; };
    Driver& driver = run.start();
    for (int n = 0; n < 3; ++n) (void)driver.advance();
    const std::uint64_t before = hash_of(driver);
    const std::string message = failure_of(driver);
    CAPTURE(message);
    CHECK(message.find("step 3") != std::string::npos);
    CHECK(message.find("t = 0.3 s") != std::string::npos);
    CHECK(message.find("told to fail") != std::string::npos);
    CHECK(message.find("retries are off") == std::string::npos);
    CHECK(run.attempts.size() == 3 + 11);  // the planned step and ten halvings
    CHECK(run.attempts.back().dt == near(0.1 / 1024).relative(1e-12));
    CHECK(hash_of(driver) == before);
    CHECK(driver.frame() == 3);
}

TEST_CASE("without retries a failed step ends the run at once") {
    Run run;
    run.scenario.time.retry = false;
    run.scheme->fails = [](const StepContext& ctx) { return ctx.step == 1; };
    Driver& driver = run.start();
    (void)driver.advance();
    const std::uint64_t before = hash_of(driver);
    const std::string message = failure_of(driver);
    CHECK(message.find("retries are off") != std::string::npos);
    CHECK(run.attempts.size() == 2);
    CHECK(hash_of(driver) == before);
}

TEST_CASE("a step that no shorter one would save ends the run at once") {
    Run run;
    run.scheme->fails = [](const StepContext& ctx) { return ctx.step == 1; };
    run.scheme->hopeless = true;
    Driver& driver = run.start();
    CHECK(driver.advance().first.repeats == 0);
    const std::string message = failure_of(driver);
    CHECK(message.find("told to fail") != std::string::npos);
    CHECK(message.find("retries are off") == std::string::npos);
    CHECK(run.attempts.size() == 2);
}

TEST_CASE("steps end exactly on frames and are never longer than planned") {
    for (const double fps : {24.0, 30.0, 7.0})
        for (const double largest : {1.0, 0.0417, 0.03, 0.001234, 1.0 / 24}) {
            Run run;
            run.scenario.time.frames_per_second = fps;
            run.scenario.time.duration = 1;
            run.scheme->largest_dt = largest;
            Driver& driver = run.start();
            CAPTURE(fps);
            CAPTURE(largest);
            int frames = 0;
            while (driver.frame() < driver.last_frame()) {
                const int before = driver.frame();
                const auto [report, dt] = driver.advance();
                CHECK(dt <= largest * (1 + 1e-8));
                if (driver.frame() == before) continue;
                ++frames;
                CHECK(driver.frame() == before + 1);
                CHECK(driver.world().time == driver.frame() / fps);
            }
            CHECK(frames == int(fps));
            // No step is wasted: each frame takes the fewest equal steps that are short enough.
            CHECK(double(run.attempts.size()) == fps * std::ceil(1 / fps / largest - 1e-6));
        }
}

TEST_CASE("a fixed time step overrides what the scheme would choose") {
    Run run;
    run.scenario.time.time_step = 0.02;
    run.scheme->stable = [](const World&, const Scenario&) -> double {
        FAIL("the scheme was asked although the step is fixed");
        return 0;
    };
    Driver& driver = run.start();
    while (driver.frame() < 1) CHECK(driver.advance().second == near(0.02).relative(1e-12));
    CHECK(run.attempts.size() == 5);
}

TEST_CASE("a duration that is no whole number of frames ends on the frame after it") {
    for (const auto& [duration, frames] : {std::pair{0.5, 5}, {0.51, 6}, {0.3, 3}, {0.01, 1}}) {
        Run run;
        run.scenario.time.duration = duration;
        CHECK(run.start().last_frame() == frames);
    }
}

TEST_CASE("rounding of duration times frame rate adds no frame") {
    for (const auto& [duration, fps, frames] :
         {std::tuple{2.2, 25.0, 55}, {8.3, 30.0, 249}, {8.3, 60.0, 498}}) {
        CHECK(duration * fps > frames);  // by rounding
        Run run;
        run.scenario.time.duration = duration;
        run.scenario.time.frames_per_second = fps;
        CHECK(run.start().last_frame() == frames);
    }
}

TEST_CASE("observers hear of start, every step, every frame and the end, in their order") {
    Run run;
    run.scenario.time.duration = 0.2;
    run.scheme->largest_dt = 0.05;
    Driver& driver = run.start();
    std::vector<std::string> lines;
    Diary a("a", lines), b("b", lines);
    const std::atomic<bool> stop = false;
    CHECK(driver.run({&a, &b}, stop));
    const std::vector<std::string> expected{"a start 0 step 0", "b start 0 step 0", "a step 1",  "b step 1",
                                            "a step 2",         "b step 2",         "a frame 1", "b frame 1",
                                            "a step 3",         "b step 3",         "a step 4",  "b step 4",
                                            "a frame 2",        "b frame 2",        "a done 2",  "b done 2"};
    CHECK(lines == expected);
}

TEST_CASE("the stop flag ends a run between steps; going on gives the run that was never stopped") {
    Run whole, stopped;
    for (Run* run : {&whole, &stopped}) run->scheme->largest_dt = 0.04;
    std::atomic<bool> stop = false;
    CHECK(whole.start().run({}, stop));

    std::vector<std::string> lines;
    Diary diary("a", lines);
    diary.stop_at_step_2 = &stop;
    Driver& driver = stopped.start();
    CHECK_FALSE(driver.run({&diary}, stop));
    CHECK(driver.world().step == 2);
    CHECK(lines == std::vector<std::string>{"a start 0 step 0", "a step 1", "a step 2", "a stopped 0"});
    stop = false;
    lines.clear();
    CHECK(driver.run({&diary}, stop));
    CHECK(lines.front() == "a start 0 step 2");
    CHECK(hash_of(driver) == hash_of(*whole.driver));
    // A stop that is already there when the run begins takes no step at all.
    Run never;
    stop = true;
    CHECK_FALSE(never.start().run({}, stop));
    CHECK(never.attempts.empty());
}

TEST_CASE("a step of still water is shorter than its shortest wave takes for a radian") {
    const Scenario s = test::tank({16, 16, 16}, 0.5);
    Driver driver(s, make_scheme("cut-cell"));
    driver.start();
    const double frequency = std::sqrt(3.14159265 * 9.81 / s.domain.h);
    const double dt = liquid_dt(driver.world(), s);
    CHECK(dt * frequency <= 1 + 1e-6);
    CHECK(dt * frequency > 0.9);
}
