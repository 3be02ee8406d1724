// Scenes with elastic solids: what they may say, what runs of them keep and write.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "core/check.h"
#include "core/state_hash.h"
#include "geometry/tet_reader.h"
#include "io/atomic_file.h"
#include "io/number_table.h"
#include "io/tet_vtk.h"
#include "near.h"
#include "run/run.h"
#include "saved_state.h"
#include "scene/scene.h"
#include "scratch_folder.h"
#include "sim/driver.h"
#include "sim/measure.h"

using namespace flotsam;

namespace {

constexpr const char* head = R"(
[scene]
duration = 0.5
[domain]
size = [1.0, 1.0, 1.0]
resolution = 20
)";

std::string jelly(const std::string& more = "", const std::string& shape = "box = [0.3, 0.3, 0.3]") {
    return std::string(head) + "[[solid]]\nname = \"jelly\"\nmotion = \"elastic\"\nshape = { " + shape +
           " }\nposition = [0.5, 0.4, 0.5]\ndensity = 1000\nstiffness = 1e4\n" + more;
}

std::string refusal(const std::string& text) {
    try {
        parse_scene(text, "test.toml");
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}
bool refused(const std::string& text, const char* what) {
    const std::string said = refusal(text);
    CAPTURE(said);
    return said.find(what) != std::string::npos;
}

// Two soft bodies, a rigid one below them.
const std::string pile = jelly("elastic = { cells = [3, 3, 3] }\n") + R"(
[[solid]]
name = "ball"
motion = "elastic"
shape = { sphere = 0.12 }
position = [0.52, 0.75, 0.5]
velocity = [0, -2, 0]
density = 800
stiffness = 3e4
elastic = { model = "neo-hookean", spacing = 0.08, integrator = "midpoint" }
[[solid]]
name = "crate"
motion = "rigid"
shape = { box = [0.4, 0.2, 0.4] }
position = [0.5, 0.1, 0.5]
density = 300
)";

}  // namespace

TEST_CASE("an elastic solid needs little, and what it cannot have is refused in words") {
    CHECK(refusal(jelly()) == "");
    CHECK(refusal(jelly("", "sphere = 0.2")) == "");
    CHECK(refusal(jelly(
              "elastic = { model = \"linear\", poisson = 0.45, spacing = 0.1, stiffness_damping = 0.01 }")) ==
          "");
    CHECK(refusal(jelly("[[liquid.fill]]\nlevel = 0.2")) == "");
    CHECK(refused(jelly("slip = 0.5\n[[liquid.fill]]\nlevel = 0.2"), "cannot rub on elastic solids"));
    CHECK(refused(jelly("elastic = { cells = [3, 3, 3] }", "sphere = 0.2"), "only a box"));
    CHECK(refused(jelly("elastic = { cells = [3, 3, 3], spacing = 0.1 }"), "exclude each other"));
    CHECK(refused(jelly("elastic = { spacing = 0.001 }"), "tetrahedra"));
    CHECK(refused(jelly("elastic = { spacing = 0.6 }", "sphere = 0.2"), "do not fit"));
    CHECK(refused(jelly("elastic = { poisson = 0.5 }"), "poisson"));
    CHECK(refused(jelly("elastic = { modle = \"linear\" }"), "did you mean 'model'"));
    CHECK(refused(jelly("elastic = { tets = \"none.msh\" }"), "none.msh"));
    CHECK(refused(jelly("springs = { spacing = 0.1 }"), "only a solid made of springs"));
    CHECK(refused(jelly("mass = 3"), "only a rigid solid"));
    CHECK(refused(jelly("[[solid.pin]]\nbox = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] }"), "no node"));
    CHECK(
        refused(jelly("[[solid.load]]\nforce = [0, 1, 0]\nbox = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] }"),
                "nothing of \"jelly\""));
    CHECK(refused(jelly("[[solid.load]]\nbox = { min = [0, 0, 0], max = [1, 1, 1] }"), "force"));
    CHECK(refused(std::string(head) +
                      "[[solid]]\nname = \"a\"\nmotion = \"elastic\"\nshape = { sphere = 0.2 }\n"
                      "position = [0.5, 0.5, 0.5]\n",
                  "needs its stiffness"));
    std::string rigid = jelly("[[solid.pin]]\nbox = { min = [0, 0, 0], max = [1, 1, 1] }");
    rigid.replace(rigid.find("\"elastic\""), 9, "\"static\"");
    CHECK(refused(rigid, "only an elastic solid has 'pin'"));
    CHECK(refused(jelly() + "[scene2]\n", "scene2"));
    std::string other = jelly();
    other.replace(other.find("duration"), 0, "method = \"marker-springs\"\n");
    CHECK(refused(other, "does not admit elastic"));
}

TEST_CASE("pins hold, handles pull, loads push, and a squeezed cube springs back") {
    const auto run = [](const std::string& text, double until,
                        const std::function<void(const World&)>& watch) {
        const Scene scene = parse_scene(text, "test.toml");
        Driver driver(scene.scenario, make_scheme("cut-cell"));
        driver.start();
        while (driver.world().time < until - 1e-9) {
            driver.advance();
            watch(driver.world());
        }
    };
    const std::string pin = "[[solid.pin]]\nbox = { min = [0.34, 0, 0], max = [0.36, 1, 1] }\n";
    run(jelly("elastic = { cells = [4, 2, 2] }\n" + pin), 0.5, [](const World& world) {
        const ElasticBody& body = world.elastics[0];
        for (std::size_t n = 0; n < body.position.size(); ++n)
            if (body.mesh->rest.nodes[n].x < -0.149)
                CHECK(length(body.position[n] - body.mesh->rest.nodes[n] - Vec3{0.5, 0.4, 0.5}) < 1e-12);
    });
    // Held at one side, carried up by the handle; let go at 0.3 s.
    double top = 0;
    run(jelly("elastic = { cells = [4, 2, 2] }\n" + pin + "velocity = [0, 0.5, 0]\nrelease = 0.3\n"), 0.5,
        [&](const World& world) {
            const ElasticBody& body = world.elastics[0];
            if (std::abs(world.time - 0.25) < 1e-9)
                for (std::size_t n = 0; n < body.position.size(); ++n)
                    if (body.mesh->rest.nodes[n].x < -0.149)
                        CHECK(body.position[n].y ==
                              near(body.mesh->rest.nodes[n].y + 0.4 + 0.5 * 0.25).relative(1e-12));
            top = center_of_mass(body).y;
        });
    CHECK(top < 0.45);  // it fell after that
    std::string floating = jelly(
        "[[solid.load]]\nforce = [0, 264.87, 0]\nbox = { min = [0, 0, 0], max = [1, 1, 1] }\n");  // its
                                                                                                  // weight
    run(floating, 0.5, [](const World& world) {
        CHECK(std::abs(momentum(world.elastics[0]).y) < 0.5);  // 132 without it
    });
    double last = 0;
    run(jelly("elastic = { squeeze = [0.5, 0.5, 0.5], stiffness_damping = 0.01 }"), 0.5,
        [&](const World& world) {
            last = volume(world.elastics[0]) / 0.027;
            if (world.step == 1) CHECK(last < 0.8);
        });
    CHECK(last > 0.9);
}

TEST_CASE("a pin turns about the middle of its box, by spin and by keyframes") {
    const std::string pin = "[[solid.pin]]\nbox = { min = [0.34, 0.2, 0.3], max = [0.36, 0.56, 0.7] }\n";
    const Vec3 start{0.5, 0.4, 0.5}, middle{0.35, 0.38, 0.5};
    for (const std::string turning : {"spin = [2, 0, 0]\n",
                                      "[[solid.pin.keyframe]]\ntime = 0\nmove = [0, 0, 0]\n"
                                      "[[solid.pin.keyframe]]\ntime = 0.5\nmove = [0, 0, 0]\n"
                                      "rotation = { axis = [1, 0, 0], degrees = 57.29577951308232 }\n"}) {
        const Scene scene =
            parse_scene(jelly("elastic = { cells = [4, 2, 2] }\n" + pin + turning), "test.toml");
        Driver driver(scene.scenario, make_scheme("cut-cell"));
        driver.start();
        while (driver.frame() < 3) driver.advance();
        const Rotation turn = Rotation::about({1, 0, 0}, 2 * driver.world().time);
        const ElasticBody& body = driver.world().elastics[0];
        int held = 0;
        for (std::size_t n = 0; n < body.position.size(); ++n) {
            const Vec3 rest = body.mesh->rest.nodes[n];
            if (rest.x > -0.149) continue;
            ++held;
            CHECK(length(body.position[n] - middle - turn * (rest + start - middle)) < 1e-9);
        }
        CHECK(held == 9);
    }
}

TEST_CASE("the pressure of a load acts on what lies within its box, and on no more") {
    const Scene scene = parse_scene(jelly("elastic = { cells = [3, 3, 3] }\n[[solid.load]]\npressure = 100\n"
                                          "box = { min = [0.3, 0.54, 0.3], max = [0.46, 0.56, 0.7] }\n"),
                                    "test.toml");
    const ElasticProperties& elastic = scene.scenario.solids[0].elastic;
    const std::vector<Vec3>& nodes = elastic.mesh->rest.nodes;
    Vec3 area;
    for (const Int3& t : elastic.loads[0].triangles)
        area += cross(nodes[t.y] - nodes[t.x], nodes[t.z] - nodes[t.x]) / 2;
    CHECK(length(area - Vec3{0, 0.1 * 0.3, 0}) < 1e-12);  // a row of cells on top
}

TEST_CASE("a run that is restored goes on with the same bits") {
    const Scene scene = parse_scene(pile, "test.toml");
    Driver whole(scene.scenario, make_scheme("cut-cell"));
    whole.start();
    SavedState half;
    for (int i = 0; i < 12; ++i) {
        whole.advance();
        if (i == 5) {
            SavingVisitor save;
            whole.visit_state(save);
            half = save.saved;
        }
    }
    Driver second(scene.scenario, make_scheme("cut-cell"));
    RestoringVisitor restore(half);
    second.visit_state(restore);
    for (int i = 6; i < 12; ++i) second.advance();
    CHECK(second.world().elastics[0].position == whole.world().elastics[0].position);
    CHECK(second.world().elastics[1].velocity == whole.world().elastics[1].velocity);
    CHECK(second.world().bodies[0].center == whole.world().bodies[0].center);
    // They did meet: the crate was pushed.
    Vec3 pushed;
    for (const BodySupport& support : whole.world().support) pushed += support.pushed.linear;
    CHECK(pushed.y < 0);
}

TEST_CASE("what lies on a crate that stands on the floor rests there") {
    std::string text = pile;
    text.replace(text.find("duration = 0.5"), 14, "duration = 3.0");
    const Scene scene = parse_scene(text, "test.toml");
    Driver driver(scene.scenario, make_scheme("cut-cell"));
    driver.start();
    double lowest = 1;
    Vec3 floor;
    int steps = 0;
    while (driver.frame() < driver.last_frame()) {
        std::vector<Vec3> before;
        for (const ElasticBody& body : driver.world().elastics) before.push_back(momentum(body));
        const auto [report, dt] = driver.advance();
        lowest = std::min(lowest, driver.world().bodies[0].center.y);
        if (driver.world().time > 2.5) floor += driver.world().support[0].contacts.linear / dt, ++steps;
        // Of elastic bodies the linear solver leaves a millionth; of the crate no more than rounding.
        Vec3 elastic;
        for (std::size_t b = 0; b < before.size(); ++b) {
            const ElasticBody& body = driver.world().elastics[b];
            elastic += momentum(body) - before[b] - body.mesh->total_mass() * dt * scene.scenario.gravity -
                       report.ledger.bodies.contact[1 + b].linear;
        }
        CHECK(length(elastic) < 1e-6 * length(report.ledger.bodies.gravity));
        CHECK(length(report.ledger.bodies.unaccounted - elastic) < 1e-9);
    }
    CHECK(lowest > 0.098);
    const World& world = driver.world();
    double low = 1;
    for (const Vec3 p : world.elastics[0].position) low = std::min(low, p.y);
    CHECK(low > 0.19);  // on the crate, 0.2 m high
    CHECK(low < 0.21);
    // The floor carries the crate and what lies on it.
    double weight = world.bodies[0].mass * 9.81;
    for (const ElasticBody& body : world.elastics)
        if (center_of_mass(body).y > 0.2) weight += body.mesh->total_mass() * 9.81;
    CHECK(floor.y / steps == near(weight).relative(5e-3));
}

TEST_CASE("the ledger explains the momentum of elastic bodies beside rigid ones, dry and wet") {
    const std::string bodies = R"(
[[solid]]
name = "crate"
motion = "rigid"
shape = { box = [0.3, 0.2, 0.3] }
position = [0.52, 0.1, 0.5]
density = 600
[[solid]]
name = "ball"
motion = "elastic"
shape = { sphere = 0.12 }
position = [0.5, 0.36, 0.48]
density = 700
stiffness = 1e5
velocity = [0.3, -1, 0]
)";
    for (const std::string water : {"", "[[liquid.fill]]\nbox = { min = [0, 0, 0], max = [1, 0.3, 1] }\n"}) {
        CAPTURE(water);
        const Scenario s = parse_scene(
                               "[scene]\nduration = 0.3\n[domain]\nsize = [1, 1, 1]\nresolution = "
                               "16\n" +
                                   water + bodies,
                               "test.toml")
                               .scenario;
        Driver driver(s, make_scheme("cut-cell"));
        driver.start();
        const auto momentum_of = [&](const char* whose) {
            Vec3 p;
            for (const Quantity& q : quantities())
                for (int a = 0; a < 3; ++a)
                    if (q.name == fmt::format("{}.momentum.{}", whose, "xyz"[a]))
                        p[a] = q.value(driver.world(), s, {});
            return p;
        };
        double touched = 0;
        while (driver.frame() < driver.last_frame()) {
            const Vec3 before = momentum_of("bodies"), elastic_before = momentum_of("elastic");
            const auto [report, dt] = driver.advance();
            const BodyLedger& ledger = report.ledger.bodies;
            const double weight = length(ledger.gravity);
            // All that changed it is in the ledger, and little is left that nothing explains.
            const Vec3 change = momentum_of("bodies") - before;
            CHECK(length(change - ledger.gravity - ledger.liquid - ledger.contacts - ledger.held -
                         ledger.unaccounted) < 1e-12 * (weight + length(before)));
            REQUIRE(ledger.contact.size() == 2);
            if (report.disagreement.newton == 0) {
                // In water the areas of cut cells that were clamped take a share of the pressure.
                CHECK(length(ledger.unaccounted) < (water.empty() ? 1e-5 : 1e-3) * weight);
                // Contact by contact: the ball's own.
                const Vec3 own = momentum_of("elastic") - elastic_before;
                const double mass = driver.world().elastics[0].mesh->total_mass();
                const Vec3 rest = own - mass * dt * s.gravity - ledger.contact[1].linear;
                if (water.empty()) CHECK(length(rest) < 1e-5 * weight);
            }
            touched += length(ledger.contact[1].linear);
        }
        CHECK(touched > 0.5);
        CHECK(momentum_of("bodies") != momentum_of("elastic"));
    }
}

TEST_CASE("bodies.csv has a row of every elastic body: where it is, how it moves and turns, what pushes it") {
    const Scenario s = parse_scene(R"(
[scene]
duration = 0.1
gravity = 0
[domain]
size = [1, 1, 1]
resolution = 16
[[solid]]
name = "bar"
motion = "elastic"
shape = { box = [0.4, 0.1, 0.1] }
position = [0.4, 0.5, 0.5]
density = 1000
stiffness = 1e6
elastic = { integrator = "midpoint" }
velocity = [0.5, 0, 0]
spin = [0, 0, 3]
)",
                                   "test.toml")
                           .scenario;
    const ScratchFolder scratch;
    const RunInputs inputs{.scenario = s,
                           .output = {},
                           .probes = {},
                           .scene_hash = "1",
                           .scene_text = "",
                           .scene_file = "test.toml",
                           .version = "test",
                           .command = "",
                           .resume_command = ""};
    REQUIRE(run_scene(inputs, {scratch / "run", false, false, true}).exit_code() == 0);
    const NumberTable table = read_number_table(scratch / "run/bodies.csv");
    const auto last = [&](const char* name) {
        const std::vector<double>* column = table.find(name);
        REQUIRE(column != nullptr);
        return column->back();
    };
    const double time = last("time");
    CHECK(std::abs(last("bar.position.x") - (0.4 + 0.5 * time)) < 1e-6);
    CHECK(std::abs(last("bar.velocity.x") - 0.5) < 1e-6);
    CHECK(std::abs(last("bar.spin.z") - 3) < 0.02);
    CHECK(std::abs(2 * std::asin(last("bar.orientation.z")) - 3 * time) < 0.02);
    CHECK(last("bar.contact.y") == 0);
    CHECK(last("bar.force.y") == 0);
}

TEST_CASE("stress goes to files that ParaView and our own reader understand") {
    const Scene scene =
        parse_scene(jelly("elastic = { cells = [2, 2, 2] }\n[output]\nstress = true"), "test.toml");
    CHECK(scene.output.stress);
    Driver driver(scene.scenario, make_scheme("cut-cell"));
    driver.start();
    for (int i = 0; i < 3; ++i) driver.advance();
    const ScratchFolder folder;
    write_tet_vtk(folder / "a.vtk", driver.world());
    const TetMesh mesh = read_tet_mesh(folder / "a.vtk");
    CHECK(mesh.tets.size() == 48);
    CHECK(volume(mesh) == near(volume(driver.world().elastics[0])).relative(1e-12));
    CHECK(read_file(folder / "a.vtk").find("SCALARS von_mises double") != std::string::npos);
}

TEST_CASE("at rest every exported element has its own volume: its determinant is one") {
    const Scene scene = parse_scene(jelly("elastic = { spacing = 0.1 }", "sphere = 0.2"), "test.toml");
    Driver driver(scene.scenario, make_scheme("cut-cell"));
    driver.start();
    const ScratchFolder folder;
    write_tet_vtk(folder / "a.vtk", driver.world());
    const std::string text = read_file(folder / "a.vtk");
    std::istringstream rest(text.substr(text.find("SCALARS determinant double")));
    std::string line;
    std::getline(rest, line);
    std::getline(rest, line);  // LOOKUP_TABLE default
    std::size_t count = 0;
    for (double value; rest >> value; ++count) CHECK(std::abs(value - 1) < 1e-6);
    CHECK(count == driver.world().elastics[0].mesh->rest.tets.size());
}

TEST_CASE("an elastic block that hits the end of a plank turns it, with water in the room and without") {
    const std::string plank = R"(
[scene]
duration = 0.3
gravity = 0
[domain]
size = [1.0, 1.0, 1.0]
resolution = 16
[[solid]]
name = "plank"
motion = "rigid"
shape = { box = [0.8, 0.1, 0.3] }
position = [0.5, 0.5, 0.5]
density = 300
friction = 0
[[solid]]
name = "block"
motion = "elastic"
shape = { box = [0.2, 0.2, 0.2] }
position = [0.79, 0.7, 0.5]
velocity = [0, -2, 0]
density = 500
stiffness = 1e5
friction = 0
elastic = { cells = [2, 2, 2] }
)";
    // A puddle in a corner that touches neither of them.
    for (const std::string& water :
         {std::string(),
          std::string("[[liquid.fill]]\nbox = { min = [0, 0, 0], max = [0.2, 0.1, 0.2] }\n")}) {
        CAPTURE(water);
        const Scene scene = parse_scene(plank + water, "test.toml");
        Driver driver(scene.scenario, make_scheme("cut-cell"));
        driver.start();
        const auto turning = [&] {
            const World& world = driver.world();
            const RigidBody& body = world.bodies[0];
            return angular_momentum(world.elastics[0]) + body.angular_momentum +
                   body.mass * cross(body.center, body.velocity);
        };
        const Vec3 before = turning();
        while (driver.frame() < 5) (void)driver.advance();
        const double spin = spin_of(driver.world().bodies[0]).z;
        CHECK(spin < -1);
        CHECK(length(turning() - before) < 0.01 * length(before));
    }
}
