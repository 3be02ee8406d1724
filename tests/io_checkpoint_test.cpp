#include "io/checkpoint.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "core/check.h"
#include "core/state_hash.h"
#include "core/vec.h"
#include "io/atomic_file.h"
#include "tests/scratch_folder.h"

using namespace flotsam;
namespace fs = std::filesystem;

namespace {

struct Something {
    std::vector<Vec3f> position;
    std::vector<double> value;
    std::vector<std::int32_t> empty;
    std::vector<std::uint64_t> key;
    std::int64_t step = 0;

    void visit_state(StateVisitor& visit) {
        visit.array("particles/position", position);
        visit.array("grid/value", value);
        visit.array("grid/deep/er/empty", empty);
        visit.array("key", key);
        visit.scalar("step", step);
    }
    VisitState visitor() {
        return [this](StateVisitor& visit) { visit_state(visit); };
    }
};

Something example(int size) {
    Something s;
    for (int n = 0; n < size; ++n) {
        s.position.push_back({float(n), 0.1f * float(n), -1e-30f});
        s.value.push_back(1.0 / (n + 3));
        s.key.push_back(mix(n));
    }
    s.step = 1234567890123;
    return s;
}

CheckpointInfo info() { return {"abc123", 7, 42, 0.291666}; }

std::string complaint(const fs::path& file) {
    try {
        inspect_checkpoint(file);
    } catch (const IoError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a checkpoint gives back every bit") {
    const ScratchFolder folder;
    Something saved = example(1000);
    write_checkpoint(folder / "a.h5", info(), saved.visitor());
    Something restored;
    restored.empty.resize(3);
    const CheckpointInfo read = read_checkpoint(folder / "a.h5", restored.visitor());
    CHECK(restored.position == saved.position);
    CHECK(restored.value == saved.value);
    CHECK(restored.empty.empty());
    CHECK(restored.key == saved.key);
    CHECK(restored.step == saved.step);
    CHECK(state_hash(restored.visitor()) == state_hash(saved.visitor()));
    CHECK(read.scene_hash == "abc123");
    CHECK(read.frame == 7);
    CHECK(read.step == 42);
    CHECK(read.time == 0.291666);

    write_checkpoint(folder / "b.h5", info(), restored.visitor());
    CHECK(read_file(folder / "a.h5") == read_file(folder / "b.h5"));
    CHECK_FALSE(fs::exists(folder / "a.h5.tmp"));
}

TEST_CASE("the hash of a state feels every bit, name and length") {
    Something s = example(100);
    const std::uint64_t hash = state_hash(s.visitor());
    s.value[50] = std::nextafter(s.value[50], 1.0);
    CHECK(state_hash(s.visitor()) != hash);
    s = example(100);
    s.empty.push_back(0);
    CHECK(state_hash(s.visitor()) != hash);
    std::vector<double> a{1}, b{};
    CHECK(state_hash([&](StateVisitor& v) { v.array("a", a), v.array("b", b); }) !=
          state_hash([&](StateVisitor& v) { v.array("a", b), v.array("b", a); }));
}

TEST_CASE("the hash does not depend on how bytes are handed over, and feels a change of any byte") {
    std::string bytes(200, '\0');
    for (int n = 0; n < 200; ++n) bytes[n] = char(mix(n));
    const std::uint64_t whole = hash_bytes(bytes.data(), bytes.size());
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        Hasher hasher;
        hasher.add(bytes.data(), cut);
        hasher.add(bytes.data() + cut, bytes.size() - cut);
        CHECK(hasher.value() == whole);
    }
    for (char& byte : bytes) {
        byte ^= 1;
        CHECK(hash_bytes(bytes.data(), bytes.size()) != whole);
        byte ^= 1;
    }
    CHECK(hash_bytes("\0", 1) != hash_bytes("", 0));
}

TEST_CASE("a checkpoint cut off anywhere is recognised") {
    const ScratchFolder folder;
    Something s = example(50);
    write_checkpoint(folder / "a.h5", info(), s.visitor());
    const std::string bytes = read_file(folder / "a.h5");
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 9) {
        write_file(folder / "cut.h5", bytes.substr(0, size));
        CAPTURE(size);
        CHECK(complaint(folder / "cut.h5") != "");
    }
    write_file(folder / "cut.h5", bytes.substr(0, bytes.size() - 1));
    CHECK(complaint(folder / "cut.h5").find("cut off") != std::string::npos);
    write_file(folder / "cut.h5", bytes + '\0');
    CHECK(complaint(folder / "cut.h5") != "");
    write_file(folder / "cut.h5", "");
    CHECK(complaint(folder / "cut.h5").find("is empty") != std::string::npos);
    CHECK(complaint(folder / "missing.h5").find("No such file") != std::string::npos);
}

TEST_CASE("a checkpoint altered in any byte is recognised") {
    const ScratchFolder folder;
    Something s = example(50);
    write_checkpoint(folder / "a.h5", info(), s.visitor());
    std::string bytes = read_file(folder / "a.h5");
    std::vector<std::size_t> places;
    for (std::size_t n = 0; n < 512; n += 3) places.push_back(n);  // the seal itself, its padding too
    std::mt19937 random(1);
    for (int n = 0; n < 300; ++n) places.push_back(random() % bytes.size());
    for (const std::size_t place : places) {
        bytes[place] ^= char(1 << (place % 8));
        write_file(folder / "bad.h5", bytes);
        CAPTURE(place);
        CHECK(complaint(folder / "bad.h5") != "");
        bytes[place] ^= char(1 << (place % 8));
    }
    write_file(folder / "bad.h5", bytes);
    CHECK(complaint(folder / "bad.h5") == "");
}

TEST_CASE("a checkpoint of another version, or with other arrays, says so") {
    const ScratchFolder folder;
    Something s = example(5);
    write_checkpoint(folder / "a.h5", info(), s.visitor());
    std::string bytes = read_file(folder / "a.h5");
    const std::size_t version = bytes.find("format 2") + 7;
    bytes[version] = '9';
    write_file(folder / "newer.h5", bytes);
    CHECK(complaint(folder / "newer.h5").find("another version of Flotsam (format 9") != std::string::npos);
    // Before elastic bodies remembered forces.
    bytes[version] = '1';
    write_file(folder / "older.h5", bytes);
    CHECK(complaint(folder / "older.h5").find("another version of Flotsam (format 1") != std::string::npos);
    write_file(folder / "text.h5", "hello");
    CHECK(complaint(folder / "text.h5").find("not a checkpoint") != std::string::npos);

    std::vector<float> other;
    const auto read_other = [&](const char* name) {
        read_checkpoint(folder / "a.h5", [&](StateVisitor& visit) { visit.array(name, other); });
    };
    CHECK_THROWS_WITH_AS(read_other("missing"), doctest::Contains("'missing'"), IoError);
    CHECK_THROWS_WITH_AS(read_other("key"), doctest::Contains("'key'"), IoError);
    CHECK_THROWS_AS(read_other("particles/position"), IoError);
}

TEST_CASE("the newest good checkpoint is found, and what was wrong with newer ones is told") {
    const ScratchFolder folder;
    std::vector<std::string> problems;
    CHECK_FALSE(find_newest_good_checkpoint(folder / "nowhere", problems));
    for (const int step : {5, 100, 99999999, 100000000}) {
        Something s = example(step % 97);
        CheckpointInfo about = info();
        about.step = step;
        write_checkpoint(folder / checkpoint_name(step), about, s.visitor());
    }
    write_file(folder / "step_00000200.h5.tmp", "rest of a killed run");
    CHECK(list_checkpoints(folder.path()).size() == 4);
    CHECK(find_newest_good_checkpoint(folder.path(), problems)->info.step == 100000000);
    CHECK(problems.empty());

    fs::resize_file(folder / checkpoint_name(100000000), 700);
    fs::resize_file(folder / checkpoint_name(99999999), 0);
    const auto good = find_newest_good_checkpoint(folder.path(), problems);
    REQUIRE(good);
    CHECK(good->info.step == 100);
    REQUIRE(problems.size() == 2);
    CHECK(problems[0].find("step_100000000.h5 has 700 bytes instead of") != std::string::npos);
    CHECK(problems[1].find("is empty") != std::string::npos);

    remove_old_checkpoints(folder.path(), 3);
    CHECK_FALSE(fs::exists(folder / checkpoint_name(5)));
    CHECK(list_checkpoints(folder.path()).size() == 3);
}
