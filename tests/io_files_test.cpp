#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <sstream>

#include "io/atomic_file.h"
#include "io/csv_log.h"
#include "io/ply.h"
#include "run/progress.h"
#include "tests/scratch_folder.h"
#include "tests/small_disk.h"

using namespace flotsam;
namespace fs = std::filesystem;

TEST_CASE("a file appears whole or not at all") {
    const ScratchFolder folder;
    write_file(folder / "a.txt", "first");
    {
        AtomicFile file(folder / "a.txt");
        file.write("second, but ne");
        CHECK(read_file(folder / "a.txt") == "first");
    }
    CHECK(read_file(folder / "a.txt") == "first");
    CHECK_FALSE(fs::exists(folder / "a.txt.tmp"));
    write_file(folder / "a.txt", "second");
    CHECK(read_file(folder / "a.txt") == "second");
    CHECK_FALSE(fs::exists(folder / "a.txt.tmp"));
    CHECK_THROWS_WITH_AS(write_file(folder / "no/where.txt", ""), doctest::Contains("no/where.txt"), IoError);
    CHECK_THROWS_AS(read_file(folder / "missing"), IoError);
}

TEST_CASE("a file that cannot take its name leaves nothing beside it") {
    const ScratchFolder folder;
    fs::create_directories(folder / "taken/by a folder");
    CHECK_THROWS_AS(write_file(folder / "taken", "text"), IoError);
    CHECK_FALSE(fs::exists(folder / "taken.tmp"));
}

TEST_CASE("a full disk is told with the space that is left and what to do") {
    SmallDisk disk("64k");
    if (!disk.mounted()) return;
    write_file(disk / "good", std::string(30000, 'g'));
    CHECK_THROWS_WITH_AS(write_file(disk / "good", std::string(60000, 'x')), doctest::Contains("MB are free"),
                         IoError);
    CHECK_THROWS_WITH_AS(write_file(disk / "bad", std::string(60000, 'x')), doctest::Contains("--resume"),
                         IoError);
    CHECK(read_file(disk / "good") == std::string(30000, 'g'));
    CHECK_FALSE(fs::exists(disk / "good.tmp"));
    CHECK_FALSE(fs::exists(disk / "bad"));
    CHECK_FALSE(fs::exists(disk / "bad.tmp"));

    disk.make_read_only();
    CHECK_THROWS_WITH_AS(write_file(disk / "bad", "x"), doctest::Contains("read-only"), IoError);
}

TEST_CASE("a folder without permission is told") {
    if (::geteuid() == 0) {
        std::puts("skipped: root may write everywhere");
        return;
    }
    const ScratchFolder folder;
    ::chmod(folder.path().c_str(), 0500);
    CHECK_THROWS_WITH_AS(write_file(folder / "a", "x"), doctest::Contains("may not write"), IoError);
    ::chmod(folder.path().c_str(), 0700);
}

TEST_CASE("a file larger than ulimit -f is an error and leaves nothing") {
    const ScratchFolder folder;
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit small{1000, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::string message;
    try {
        write_file(folder / "big", std::string(5000, 'x'));
    } catch (const IoError& error) {
        message = error.what();
    }
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, before);
    CHECK(message.find("ulimit") != std::string::npos);
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("numbers in a table read back as the same bits") {
    const ScratchFolder folder;
    const std::vector<double> row{12, 0.1, 1.0 / 3, -1e-300, 123456789012345, 5e20, 0};
    {
        CsvLog log =
            CsvLog::create(folder / "a.csv", {"step", "b", "c", "with, comma", "with \"quote\"", "f", "g"});
        log.write(row);
        log.sync();
        CHECK(log.last_step() == 12);
    }
    std::istringstream in(read_file(folder / "a.csv"));
    std::string line;
    std::getline(in, line);
    CHECK(line == "step,b,c,\"with, comma\",\"with \"\"quote\"\"\",f,g");
    for (const double expected : row) {
        std::string cell;
        std::getline(in, cell, expected == row.back() ? '\n' : ',');
        CHECK(std::strtod(cell.c_str(), nullptr) == expected);
    }
    CHECK(read_file(folder / "a.csv").find("\n12,0.1,0.3333333333333333,") != std::string::npos);
}

TEST_CASE("resuming a table cuts what came after the checkpoint, at whatever byte the run was killed") {
    const ScratchFolder folder;
    const auto write_steps = [](CsvLog& log, int from, int to) {
        for (int step = from; step <= to; ++step)
            log.write(std::vector<double>{double(step), step * 0.1, 1.0 / step});
    };
    {
        CsvLog log = CsvLog::create(folder / "whole.csv", {"step", "time", "value"});
        write_steps(log, 1, 30);
    }
    const std::string whole = read_file(folder / "whole.csv");
    const std::size_t checkpoint = whole.find("\n13,") + 1;  // step 12 is the last one before it
    for (std::size_t killed = checkpoint; killed <= whole.size(); ++killed) {
        write_file(folder / "cut.csv", whole.substr(0, killed));
        {
            CsvLog log = CsvLog::resume(folder / "cut.csv", 12);
            CHECK(log.last_step() == 12);
            CHECK(log.header() == "step,time,value");
            write_steps(log, 13, 30);
        }
        CHECK(read_file(folder / "cut.csv") == whole);
    }
    write_file(folder / "cut.csv", whole.substr(0, checkpoint - 2));  // row 12 itself is incomplete
    CHECK(CsvLog::resume(folder / "cut.csv", 12).last_step() == 11);
    write_file(folder / "cut.csv", "step,ti");
    CHECK_THROWS_AS(CsvLog::resume(folder / "cut.csv", 12), IoError);
    write_file(folder / "cut.csv", "step,time\n");
    CHECK(CsvLog::resume(folder / "cut.csv", 0).last_step() == -1);
}

TEST_CASE("a table on a full device is an error, not silence") {
    CHECK_THROWS_WITH_AS(CsvLog::create("/dev/full", {"step"}), doctest::Contains("/dev/full"), IoError);
}

namespace {

struct Ply {
    std::string header;
    std::string body;
    std::size_t count(const std::string& element) const {
        const std::size_t at = header.find("element " + element + " ");
        return at == std::string::npos ? 0
                                       : std::strtoul(header.c_str() + at + 9 + element.size(), nullptr, 10);
    }
    template <class T>
    T at(std::size_t place) const {
        T value;
        std::memcpy(&value, body.data() + place, sizeof value);
        return value;
    }
};

Ply raw_ply(const fs::path& file) {
    const std::string text = read_file(file);
    const std::size_t end = text.find("end_header\n") + 11;
    return {text.substr(0, end), text.substr(end)};
}

}  // namespace

TEST_CASE("a surface reads back from PLY") {
    const ScratchFolder folder;
    SurfaceMesh mesh;
    mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.5f}};
    mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    const std::vector<Vec3f> velocity{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {-1, -2, -3}};
    write_ply(folder / "a.ply", mesh, velocity);
    const Ply ply = raw_ply(folder / "a.ply");
    CHECK(ply.header.starts_with("ply\nformat binary_little_endian 1.0\n"));
    CHECK(ply.header.find("property float vz\n") < ply.header.find("element face"));
    CHECK(ply.header.find("property list uchar int vertex_indices\n") != std::string::npos);
    REQUIRE(ply.count("vertex") == 4);
    REQUIRE(ply.count("face") == 4);
    REQUIRE(ply.body.size() == 4 * 24 + 4 * 13);
    const PlyContent again = read_ply(folder / "a.ply");
    CHECK(again.mesh.vertices == mesh.vertices);
    CHECK(again.mesh.triangles == mesh.triangles);
    CHECK(again.velocity == velocity);
    for (int n = 0; n < 4; ++n) {
        CHECK(ply.at<Vec3f>(24 * n) == mesh.vertices[n]);
        CHECK(ply.at<Vec3f>(24 * n + 12) == velocity[n]);
        CHECK(ply.body[96 + 13 * n] == 3);
        CHECK(ply.at<std::array<std::int32_t, 3>>(96 + 13 * n + 1) == mesh.triangles[n]);
    }
}

TEST_CASE("particles read back from PLY; none are a good file too") {
    const ScratchFolder folder;
    write_ply(folder / "a.ply", std::vector<Vec3f>{{1, 2, 3}}, std::vector<Vec3f>{{4, 5, 6}});
    Ply ply = raw_ply(folder / "a.ply");
    CHECK(ply.count("vertex") == 1);
    CHECK(ply.count("face") == 0);
    CHECK(ply.at<Vec3f>(12) == Vec3f{4, 5, 6});
    write_ply(folder / "b.ply", SurfaceMesh{}, std::vector<Vec3f>{});
    ply = raw_ply(folder / "b.ply");
    CHECK(ply.header.find("element vertex 0\n") != std::string::npos);
    CHECK(ply.body.empty());
}

TEST_CASE("time left reads like a clock") {
    CHECK(clock_text(0.4) == "0:00");
    CHECK(clock_text(65) == "1:05");
    CHECK(clock_text(7389) == "2:03:09");
}
