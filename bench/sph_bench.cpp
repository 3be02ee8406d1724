// The liquid of particles: the floating spheres of Becker 2009, Table 1, and its response schemes alone.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <map>

#include "bench/bench.h"
#include "core/free_memory.h"
#include "core/random.h"
#include "coupling/direct_forcing.h"
#include "validate/case_tools.h"

namespace flotsam {

namespace {

using Report = std::function<void(const BenchRow&)>;

// Half a cubic metre of water with a light and a heavier ball in it; 131,072 particles with n = 32.
Scenario floating_spheres(int n) {
    Scenario s = box_of_water({n, n, n}, 1.0, make_level(0.5));
    s.liquid.carrier = Carrier::sph;
    s.method = "direct-forcing";
    s.time.duration = 1e6;
    for (const double x : {0.3, 0.7}) {
        Solid solid;
        solid.name = x < 0.5 ? "light" : "heavy";
        solid.motion = Motion::rigid;
        solid.shape = solid_sphere(0.12, 0.5 * s.domain.h);
        solid.start.position = {x, 0.5, 0.5};
        solid.rigid.mass = mass_properties(enclosed_moments(solid.shape.mesh), x < 0.5 ? 300 : 700);
        s.solids.push_back(std::move(solid));
    }
    return s;
}

double resident_bytes() {
    double pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return resident * double(sysconf(_SC_PAGESIZE));
}

void bench_steps(int n, int steps, const Report& report) {
    const Scenario s = floating_spheres(n);
    return_free_memory();  // of other benches
    const double bytes_before = resident_bytes();
    Driver driver(s, make_scheme(s.method));
    driver.start();
    // The fastest step of each stage: what else the machine does only ever slows them.
    std::map<std::string, double> stages;
    for (int step = -2; step < steps; ++step)
        for (const StageTime& stage : driver.advance().first.stages) {
            const auto [at, first] = stages.emplace(stage.stage, stage.milliseconds);
            if (!first) at->second = std::min(at->second, stage.milliseconds);
        }
    const double thousands = double(driver.world().sph.count()) / 1000;
    const std::string name = fmt::format("{:.0f} k particles", thousands);
    double whole = 0;
    for (const auto& [stage, ms] : stages) {
        whole += ms;
        report({name + ", " + stage, ms / thousands, "ms/k"});
    }
    const double fluid = stages.at("neighbours") + stages.at("forces") + stages.at("predict");
    report({name + ", fluid step", fluid / thousands, "ms/k", 0.56e3 / 130, "Becker09, 1 core"});
    const double splish = thousands > 500 ? 1.9 : 1.4;
    report({name + ", whole step", whole / thousands, "ms/k", 1.14e3 / 130, "Becker09, 1 core"});
    report({name + ", whole step", whole / thousands, "ms/k", splish, "SPlisHSPlasH"});
    report({name + ", fluid step", fluid / thousands, "ms/k", 0.35, "our goal"});
    report({name + ", whole step", whole / thousands, "ms/k", 0.45, "our goal"});
    report({name + ", memory", (resident_bytes() - bytes_before) / (1000 * thousands), "byte/p", 200,
            "our goal"});
}

// Processor time of this thread [ms]: a response with many contacts takes longer than what the system gives
// to a process at a time, and on a busy machine none of them would be free of waiting.
double thread_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * double(now.tv_sec) + 1e-6 * double(now.tv_nsec);
}

// Contacts all over a ball, answered alone.
void bench_response(BoundaryResponse response, int count, const Report& report) {
    RigidProperties properties;
    properties.mass = mass_properties(enclosed_moments(solid_sphere(1, 0.2).mesh), 500);
    const RigidBody body = make_rigid_body(0, properties, {});
    std::vector<BoundaryContact> contacts(count);
    std::vector<Vec3f> velocity(count);
    for (int n = 0; n < count; ++n) {
        const auto noise = [&](int k) {
            return 2 * uniform(combine(std::uint64_t(n), std::uint64_t(k))) - 1;
        };
        const Vec3 out = Vec3{noise(0), noise(1), noise(2)} + Vec3{1e-3, 0, 0};
        contacts[n].particle = n;
        contacts[n].body = 0;
        contacts[n].normal = out / length(out);
        contacts[n].point = contacts[n].normal;
        velocity[n] = Vec3f(Vec3{noise(3), noise(4), noise(5)});
    }
    double best = 1e300;
    for (int round = 0; round < 20; ++round) {
        std::vector<Vec3f> v = velocity;
        std::vector<RigidBody> bodies{body};
        Vec3 received;
        const double start = thread_milliseconds();
        respond(contacts, v, bodies, 1e-3, response,
                [&](const BoundaryContact&, Vec3 impulse) { received += impulse; });
        best = std::min(best, thread_milliseconds() - start);
    }
    report({fmt::format("{} response, {} contacts", response == BoundaryResponse::local ? "local" : "global",
                        count),
            best * 1e6 / count, "ns", 60, "our goal"});
}

}  // namespace

void bench_sph(bool quick, const Report& report) {
    for (const BoundaryResponse response : {BoundaryResponse::local, BoundaryResponse::global})
        for (const int count : {1000, 10000, 100000}) bench_response(response, count, report);
    bench_steps(32, quick ? 5 : 30, report);
    if (!quick) bench_steps(64, 10, report);
}

}  // namespace flotsam
