// solids.glb and transforms.csv.
#include "io/gltf.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numbers>

#include "geometry/solid_shape.h"
#include "io/atomic_file.h"
#include "io/transforms.h"
#include "tests/near.h"
#include "tests/scratch_folder.h"

using namespace flotsam;

namespace {

// Just enough of a JSON reader to know that a text is JSON and to ask it for values.
struct Json {
    std::map<std::string, Json> members;
    std::vector<Json> items;
    std::string text;
    double number = 0;
    const Json& operator[](const std::string& key) const { return members.at(key); }
    const Json& operator[](int n) const { return items.at(n); }
};
class JsonReader {
  public:
    explicit JsonReader(std::string_view text) : text_(text) {}
    Json read_all() {
        Json value = read();
        skip();
        REQUIRE(at_ == text_.size());
        return value;
    }

  private:
    void skip() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    bool take(char c) {
        skip();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::string read_text() {
        REQUIRE(take('"'));
        const std::size_t end = text_.find('"', at_);
        REQUIRE(end != std::string_view::npos);
        std::string value(text_.substr(at_, end - at_));
        at_ = end + 1;
        return value;
    }
    Json read() {
        Json value;
        if (take('{')) {
            if (take('}')) return value;
            do {
                std::string key = read_text();
                REQUIRE(take(':'));
                value.members[key] = read();
            } while (take(','));
            REQUIRE(take('}'));
        } else if (take('[')) {
            if (take(']')) return value;
            do value.items.push_back(read());
            while (take(','));
            REQUIRE(take(']'));
        } else if (skip(), at_ < text_.size() && text_[at_] == '"') {
            value.text = read_text();
        } else {
            const std::string rest(text_.substr(at_, 40));
            std::size_t used = 0;
            value.number = std::stod(rest, &used);
            at_ += used;
        }
        return value;
    }
    std::string_view text_;
    std::size_t at_ = 0;
};

struct Glb {
    Json json;
    std::string binary;

    explicit Glb(const std::filesystem::path& file) {
        const std::string bytes = read_file(file);
        REQUIRE(bytes.size() > 20);
        CHECK(bytes.substr(0, 4) == "glTF");
        CHECK(word(bytes, 4) == 2);
        CHECK(word(bytes, 8) == bytes.size());
        const std::uint32_t size = word(bytes, 12);
        CHECK(size % 4 == 0);
        CHECK(bytes.substr(16, 4) == "JSON");
        json = JsonReader(std::string_view(bytes).substr(20, size)).read_all();
        CHECK(word(bytes, 20 + size) == bytes.size() - 28 - size);
        CHECK(bytes.substr(24 + size, 4) == std::string("BIN\0", 4));
        binary = bytes.substr(28 + size);
        CHECK(json["buffers"][0]["byteLength"].number == double(binary.size()));
        for (const Json& accessor : json["accessors"].items) {
            const Json& view = json["bufferViews"][int(accessor["bufferView"].number)];
            const std::string& type = accessor["type"].text;
            const double width = type == "SCALAR" ? 4 : type == "VEC3" ? 12 : 16;
            CHECK(view["byteLength"].number == width * accessor["count"].number);
            CHECK(view["byteOffset"].number + view["byteLength"].number <= double(binary.size()));
        }
    }
    static std::uint32_t word(const std::string& bytes, std::size_t at) {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data() + at, 4);
        return value;
    }
    std::vector<float> floats(int accessor) const {
        const Json& view = json["bufferViews"][int(json["accessors"][accessor]["bufferView"].number)];
        std::vector<float> values(std::size_t(view["byteLength"].number) / 4);
        std::memcpy(values.data(), binary.data() + std::size_t(view["byteOffset"].number), 4 * values.size());
        return values;
    }
};

}  // namespace

TEST_CASE("a glTF file holds meshes and an animation that agree with what was given") {
    const ScratchFolder scratch;
    const TriangleMesh box = solid_box({1, 2, 3}).mesh, ball = solid_sphere(0.5, 0.1).mesh;
    std::vector<Pose> poses;
    std::vector<double> times;
    for (int f = 0; f <= 10; ++f) {
        times.push_back(f / 10.0);
        poses.push_back({{0.1 * f, 2, -1}, Rotation::about({0, 0, 1}, 0.9 * f)});
    }
    write_gltf(scratch.path() / "a.glb",
               {{"box", &box, {1, 0, 0}, poses}, {"ball", &ball, {0, 1, 0}, {Pose{}}}}, times);
    const Glb glb(scratch.path() / "a.glb");
    CHECK(glb.json["nodes"].items.size() == 2);
    CHECK(glb.json["nodes"][0]["name"].text == "box");
    // A box has sharp edges: three vertices at each corner. A ball has none: only those of its mesh.
    const auto count_of = [&](int mesh, const char* attribute) {
        const int accessor = int(glb.json["meshes"][mesh]["primitives"][0]["attributes"][attribute].number);
        return std::size_t(glb.json["accessors"][accessor]["count"].number);
    };
    CHECK(count_of(0, "POSITION") == 24);
    CHECK(count_of(1, "POSITION") == ball.vertices.size());
    CHECK(count_of(1, "NORMAL") == ball.vertices.size());

    const Json& animation = glb.json["animations"][0];
    CHECK(animation["channels"].items.size() == 2);  // only the box moves
    for (const Json& channel : animation["channels"].items) {
        const Json& sampler = animation["samplers"][int(channel["sampler"].number)];
        CHECK(glb.floats(int(sampler["input"].number)).size() == times.size());
        const std::vector<float> values = glb.floats(int(sampler["output"].number));
        if (channel["target"]["path"].text == "translation") {
            for (int f = 0; f <= 10; ++f) CHECK(values[3 * f] == near(0.1 * f).absolute(1e-6));
        } else {
            for (int f = 0; f <= 10; ++f) {
                CHECK(std::abs(values[4 * f + 3]) == near(std::abs(std::cos(0.45 * f))).relative(1e-6));
                double agreement = 0;
                for (int i = 0; f > 0 && i < 4; ++i)
                    agreement += double(values[4 * f + i]) * double(values[4 * f - 4 + i]);
                CHECK((f == 0 || agreement > 0.5));  // no jump between the two signs
            }
        }
    }
}

TEST_CASE("transforms of moving solids are written per frame, and go on after a restart") {
    const ScratchFolder scratch;
    Scenario scenario;
    for (int i = 0; i < 3; ++i) {
        Solid solid;
        solid.name = "s" + std::to_string(i);
        solid.motion = i == 0 ? Motion::fixed : i == 1 ? Motion::scripted : Motion::rigid;
        solid.shape = solid_box({1, 1, 1});
        solid.script.velocity = {1, 0, 0};
        solid.rigid.mass = mass_properties(enclosed_moments(solid.shape.mesh), 1);
        solid.rigid.spin = {0, 0, 3};
        scenario.solids.push_back(solid);
    }
    REQUIRE(has_moving_solids(scenario));
    const auto step_to = [&](World& world, double time) {
        for (RigidBody& body : world.bodies) advance(body, time - world.time);
        world.time = time;
        ++world.step;
    };
    const std::filesystem::path csv = scratch.path() / "t.csv", glb_file = scratch.path() / "s.glb";
    World world;
    world.bodies = bodies_at_start(scenario.solids).bodies;
    {
        TransformLog log(csv, glb_file, scenario);
        log.on_start(world, 0);
        for (int f = 1; f <= 5; ++f) step_to(world, 0.1 * f), log.on_frame(world, f);
    }
    // The checkpoint was of frame 3: frames 4 and 5 are written again.
    World again;
    again.bodies = bodies_at_start(scenario.solids).bodies;
    step_to(again, 0.3);
    {
        TransformLog log(csv, glb_file, scenario);
        log.on_start(again, 3);
        for (int f = 4; f <= 6; ++f) step_to(again, 0.1 * f), log.on_frame(again, f);
        log.on_finish(again, 6, true);
    }
    const std::string text = read_file(csv);
    CHECK(text.starts_with("frame,time,s1.x,s1.y,s1.z,s1.qx,s1.qy,s1.qz,s1.qw,s2.x,"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 8);
    const Glb glb(glb_file);
    CHECK(glb.json["nodes"].items.size() == 3);
    CHECK(glb.json["animations"][0]["channels"].items.size() == 4);
    const int turns = int(glb.json["animations"][0]["samplers"][3]["output"].number);
    const std::vector<float> values = glb.floats(turns);
    CHECK(values.size() == 28);
    CHECK(std::abs(values[4 * 6 + 2]) == near(std::sin(0.5 * 3 * 0.6)).relative(1e-6));
}
