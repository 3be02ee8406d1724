// What every method must do with solids that move by themselves: each kind that a scheme of the registry
// admits, in 2D where there is such a kind, in 3D always. A new scheme, and a new kind in an old one, is
// tested once it is registered.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "conformance.h"
#include "near.h"
#include "saved_state.h"
#include "scene/scene.h"

using namespace flotsam;

namespace {

constexpr double g = 9.81, stiffness = 1e6;

// How a scene writes a solid of each kind.
struct Kind {
    Motion motion;
    const char* name;
    const char* keys;
    bool flat;  // 2D knows it
};
const std::vector<Kind> kinds{
    {Motion::rigid, "rigid", "", true},
    {Motion::elastic, "elastic", "stiffness = 1e6\nelastic = { spacing = 0.1 }\n", true},
    {Motion::spring, "spring", "stiffness = 1e6\nsprings = { spacing = 0.1 }\n", false},
};

// Calls body(method, kind, flat) for every kind in every method that admits it.
template <class Body>
void for_every_mover(const Body& body) {
    std::vector<int> tried(kinds.size());
    for (const SchemeEntry& scheme : schemes()) {
        const std::string method(scheme.name);
        CAPTURE(method);
        for (const Motion motion : scheme.make()->capabilities().motions) {
            if (motion == Motion::fixed || motion == Motion::scripted) continue;
            const auto kind =
                std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.motion == motion; });
            REQUIRE(kind != kinds.end());  // a new kind needs a line in the table above
            ++tried[kind - kinds.begin()];
            for (const bool flat : {true, false}) {
                if (flat && !kind->flat) continue;
                const std::string name = kind->name;
                CAPTURE(name);
                CAPTURE(flat);
                body(method, *kind, flat);
            }
        }
    }
    CHECK(*std::min_element(tried.begin(), tried.end()) > 0);
}

struct Body {
    const char* name;
    Vec3 center, size;
    double density;
};

// A tank of 1 m with liquid in a box and bodies of a kind.
Scenario tank(const std::string& method, const Kind& kind, bool flat, Vec3 low, Vec3 high,
              const std::vector<Body>& bodies) {
    const auto list = [&](Vec3 v) {
        return flat ? fmt::format("[{}, {}]", v.x, v.y) : fmt::format("[{}, {}, {}]", v.x, v.y, v.z);
    };
    std::string text = fmt::format("[scene]\ndimensions = {}\nduration = 1\n", flat ? 2 : 3);
    text += fmt::format("[domain]\nsize = {}\nresolution = {}\n", list({1, 1, 1}), flat ? 24 : 12);
    text += fmt::format("[[liquid.fill]]\nbox = {{ min = {}, max = {} }}\n", list(low), list(high));
    for (const Body& b : bodies)
        text += fmt::format(
            "[[solid]]\nname = \"{}\"\nmotion = \"{}\"\nshape = {{ box = {} }}\nposition = {}\ndensity = "
            "{}\n{}",
            b.name, kind.name, list(b.size), list(b.center), b.density, kind.keys);
    return parse_scene(text, "test.toml", {}, 1, method).scenario;
}

// A column that breaks, with one body under water and one at its face. None of them meets anything else.
Scenario dam(const std::string& method, const Kind& kind, bool flat, bool mirrored = false) {
    const auto x = [&](double from_left) { return mirrored ? 1 - from_left : from_left; };
    Scenario s = tank(method, kind, flat, {std::min(x(0), x(0.4)), 0, 0}, {std::max(x(0), x(0.4)), 0.8, 1},
                      {{"under", {x(0.2), 0.55, 0.45}, {0.2, 0.2, 0.2}, 500},
                       {"face", {x(0.45), 0.25, 0.5}, {0.2, 0.2, 0.3}, 1500}});
    if (!has_sound(method)) s.time.time_step = 0.01;
    return s;
}

// The same lattice of tetrahedra, as a mirror shows it.
std::shared_ptr<const ElasticMesh> mirrored_mesh(const ElasticMesh& mesh) {
    TetMesh rest = mesh.rest;
    for (Vec3& p : rest.nodes) p.x = -p.x;
    for (Tet& t : rest.tets) std::swap(t[2], t[3]);
    TriangleMesh skin = mesh.skin;
    for (Vec3& p : skin.vertices) p.x = -p.x;
    for (Int3& t : skin.triangles) std::swap(t.y, t.z);
    return std::make_shared<ElasticMesh>(make_elastic_mesh(rest, mesh.material, skin));
}

Run run_of(const Scenario& s) { return {s, s.method, s.liquid.carrier}; }

double weight_of(const Run& run) {
    double mass = 0;
    for (const RigidBody& body : run.world().bodies) mass += body.mass;
    for (const ElasticBody& body : run.world().elastics) mass += body.mesh->total_mass();
    for (const SpringBody& body : run.world().springs) mass += body.net->total_mass();
    return mass * g;
}
Vec3 momentum_of_bodies(const Run& run) {
    Vec3 sum;
    for (const RigidBody& body : run.world().bodies) sum += body.mass * body.velocity;
    for (const ElasticBody& body : run.world().elastics) sum += momentum(body);
    for (const SpringBody& body : run.world().springs) sum += momentum(body);
    return sum;
}
Vec3 place_of(const Run& run, std::size_t s) {
    const ElasticBody* elastic = body_of(run.world().elastics, s);
    return elastic ? center_of_mass(*elastic) : pose_of(run.world(), run.scenario, s).position;
}

int some_steps(const std::string& method) { return has_sound(method) ? 60 : 8; }

void check_mirrored(const std::string& method, const Kind& kind, bool flat) {
    Scenario s = dam(method, kind, flat), other = dam(method, kind, flat, true);
    s.liquid.reseed = other.liquid.reseed = false;  // it draws new places, which are not mirrored
    for (std::size_t b = 0; b < s.solids.size(); ++b)
        if (kind.motion == Motion::elastic)
            other.solids[b].elastic.mesh = mirrored_mesh(*s.solids[b].elastic.mesh);
    Run run = run_of(s), mirrored = run_of(other);
    mirrored.place_particles(run, [](Vec3 p) { return Vec3{1 - p.x, p.y, p.z}; });
    const int steps = has_sound(method) ? 100 : 8;
    run.steps(steps);
    mirrored.steps(steps);
    CHECK(mirrored.world().time == near(run.world().time).relative(1e-12));
    for (std::size_t b = 0; b < s.solids.size(); ++b) {
        const Vec3 here = place_of(run, b), there = place_of(mirrored, b);
        CHECK(length(Vec3{1 - there.x, there.y, there.z} - here) < 1e-3 * s.domain.h);
    }
    const Vec3 here = momentum_of_bodies(run), there = momentum_of_bodies(mirrored);
    CHECK(length(Vec3{-there.x, there.y, there.z} - here) < 1e-3 * length(here));
}

}  // namespace

TEST_CASE("a stone lies still on the bottom of water at rest") {
    for_every_mover([&](const std::string& method, const Kind& kind, bool flat) {
        const Capabilities can = make_scheme(method)->capabilities();
        // Left out: weaker variants. Under the penalty particles bounce for ever [Becker09 Section 6.1].
        if (can.comparison) return;
        const double edge = 0.3, density = 2500;
        Run run = run_of(tank(method, kind, flat, {0, 0, 0}, {1, 0.6, 1},
                              {{"stone", {0.45, 0.5 * edge, 0.5}, {edge, edge, edge}, density}}));
        const double h = run.scenario.domain.h;
        const Vec3 from = place_of(run, 0);
        run.until(0.5);
        const Vec3 late = place_of(run, 0);
        run.until(0.75);
        const Vec3 to = place_of(run, 0);
        // A soft one is pressed together by its own weight: its centre sinks by a third of the floor's
        // stress.
        const double sinks = kind.motion == Motion::rigid ? 0 : density * g * edge * edge / 3 / stiffness;
        CHECK(length(to - from) < (can.strong ? 0.002 : 0.05) * h + 1.5 * sinks);
        CHECK(length(to - late) / 0.25 < (can.strong ? 1e-4 : 0.02) * std::sqrt(g * h));
    });
}

TEST_CASE("a body as heavy as the water around it stays where it is") {
    for_every_mover([&](const std::string& method, const Kind& kind, bool flat) {
        // Others do not promise it: marker-springs holds markers half a cell off, SPH a particle's radius.
        if (!make_scheme(method)->capabilities().strong) return;
        Run run = run_of(tank(method, kind, flat, {0, 0, 0}, {1, 0.8, 1},
                              {{"block", {0.45, 0.4, 0.5}, {0.3, 0.3, 0.3}, 1000}}));
        const Vec3 from = place_of(run, 0);
        run.until(0.5);
        // Fresh particles settle, and take it along.
        CHECK(length(place_of(run, 0) - from) < 0.1 * run.scenario.domain.h);
        CHECK(length(momentum_of_bodies(run)) < 0.005 * weight_of(run) * run.world().time);
    });
}

TEST_CASE("liquid and bodies give each other equal and opposite impulses, and bodies have what they got") {
    for_every_mover([&](const std::string& method, const Kind& kind, bool flat) {
        Run run = run_of(dam(method, kind, flat));
        const double weight = weight_of(run);
        Vec3 before = momentum_of_bodies(run);
        double exchanged = 0, time = 0;
        const int steps = has_sound(method) ? 250 : 8;  // liquid of SPH starts with a gap around bodies
        for (int n = 0; n < steps; ++n) {
            const StepLedger ledger = run.driver->advance().first.ledger;
            const double dt = run.world().time - time;
            time = run.world().time;
            Vec3 received;
            double scale = weight * dt;
            for (const SolidLoad& load : run.world().loads) {
                received += load.force * dt;
                scale += length(load.force) * dt;
            }
            exchanged += length(received);
            const Vec3 after = momentum_of_bodies(run);
            CHECK(length(ledger.solids + ledger.friction + received) < 1e-12 * scale);
            Vec3 off = after - before - Vec3{0, -weight * dt, 0} - received;
            if (flat) off.z = 0;  // a soft body is held in the plane
            CHECK(length(off) < 1e-12 * scale);
            before = after;
        }
        CHECK(exchanged > 0.01 * weight * time);  // much more than rounding
    });
}

TEST_CASE("bodies in a mirrored dam break move as in a mirror") {
    for_every_mover([&](const std::string& method, const Kind& kind, bool flat) {
        const Capabilities can = make_scheme(method)->capabilities();
        if (can.comparison) return;
        check_mirrored(method, kind, flat);
    });
}

TEST_CASE("bodies in a dam break: the same bits on 1, 2 and 7 threads") {
    for_every_mover([&](const std::string& method, const Kind& kind, bool flat) {
        std::vector<std::uint64_t> hashes;
        for (const int threads : {1, 2, 7}) {
            set_thread_count(threads);
            Run run = run_of(dam(method, kind, flat));
            double pushed = 0;  // bodies that nothing touches would prove nothing
            for (int n = 0; n < some_steps(method); ++n) {
                run.steps(1);
                for (const SolidLoad& load : run.world().loads) pushed += length(load.force);
            }
            CHECK(pushed > 0);
            hashes.push_back(run.hash());
        }
        set_thread_count(0);
        CHECK(hashes[1] == hashes[0]);
        CHECK(hashes[2] == hashes[0]);
    });
}

TEST_CASE("bodies in a dam break: a state that was saved and restored goes on to the same bits") {
    for_every_mover([&](const std::string& method, const Kind& kind, bool flat) {
        const Scenario s = dam(method, kind, flat);
        Run first = run_of(s), second = run_of(s);
        first.steps(4);
        SavingVisitor saving;
        first.driver->visit_state(saving);
        second.steps(2);  // leaves something of its own behind, in both of the driver's worlds
        CHECK(second.hash() != first.hash());
        RestoringVisitor restoring(saving.saved);
        second.driver->visit_state(restoring);
        CHECK(second.hash() == first.hash());
        first.steps(some_steps(method) - 4);
        second.steps(some_steps(method) - 4);
        CHECK(second.hash() == first.hash());
        CHECK(length(momentum_of_bodies(first)) > 0);
    });
}
