#include <doctest/doctest.h>
#include <openvdb/openvdb.h>

#include <atomic>

#include "io/atomic_file.h"
#include "io/vdb.h"
#include "tests/near.h"
#include "tests/scratch_folder.h"

using namespace flotsam;

namespace {

struct Volume {
    Int3 cells{20, 40, 9};
    double h = 0.05;
    Field<double> phi;
    MacGrid velocity;
    Field<double> pressure;

    Volume() {
        std::vector<Int3> tiles;
        for (int k = 0; k < 2; ++k)
            for (int j = 0; j < 3; ++j)
                for (int i = 0; i < 3; ++i) tiles.push_back({i, j, k});
        const auto tiling = std::make_shared<Tiling>(cells, tiles);
        phi = Field<double>(tiling, 3 * h);
        for_each_cell(*tiling, cells, [&](Int3 c, std::int64_t n) { phi[n] = (c.y + 0.5) * h - 0.93; });
        pressure = Field<double>(tiling, 0.0);
        for_each_cell(*tiling, cells,
                      [&](Int3, std::int64_t n) { pressure[n] = std::max(0.0, -9810 * phi[n]); });
        for (int axis = 0; axis < 3; ++axis) {
            velocity[axis] = Field<double>(tiling, 0.0);
            for_each_cell(*tiling, cells + unit(axis),
                          [&](Int3 c, std::int64_t n) { velocity[axis][n] = axis + 1 + 0.01 * c.x; });
        }
    }
};

}  // namespace

TEST_CASE("distance and velocity read back from OpenVDB") {
    const ScratchFolder folder;
    const Volume volume;
    write_vdb(folder / "a.vdb", volume.phi, volume.velocity, volume.pressure, volume.h);

    openvdb::initialize();
    openvdb::io::File file((folder / "a.vdb").string());
    file.open();
    const auto distance = openvdb::gridPtrCast<openvdb::FloatGrid>(file.readGrid("distance"));
    const auto velocity = openvdb::gridPtrCast<openvdb::Vec3fGrid>(file.readGrid("velocity"));
    REQUIRE(distance);
    REQUIRE(velocity);
    CHECK(distance->getGridClass() == openvdb::GRID_LEVEL_SET);
    CHECK(velocity->getGridClass() == openvdb::GRID_STAGGERED);
    CHECK(distance->background() == near(0.15).relative(1e-6));
    CHECK((distance->indexToWorld(openvdb::Coord(2, 0, 4)) - openvdb::Vec3d(0.125, 0.025, 0.225)).length() <
          1e-12);

    auto read = distance->getConstAccessor();
    auto read_velocity = velocity->getConstAccessor();
    std::atomic<int> wrong = 0, wrong_velocity = 0;
    for_each_cell(volume.phi.tiling(), volume.cells, [&](Int3 c, std::int64_t n) {
        if (c.y < 24) {
            const float expected = std::clamp(float(volume.phi[n]), -0.15f, 0.15f);
            wrong += std::abs(distance->tree().getValue({c.x, c.y, c.z}) - expected) > 1e-6f;
            const openvdb::Vec3f u = velocity->tree().getValue({c.x, c.y, c.z});
            for (int axis = 0; axis < 3; ++axis) wrong_velocity += u[axis] != float(volume.velocity[axis][n]);
        }
    });
    CHECK(wrong == 0);
    CHECK(wrong_velocity == 0);
    CHECK(read.getValue({3, 30, 3}) == distance->background());  // no tile there
    CHECK(read.getValue({20, 3, 3}) > 0);                        // beyond the wall
    CHECK(read.isValueOn({3, 18, 3}));
    CHECK_FALSE(read.isValueOn({3, 3, 3}));  // deep inside
    CHECK(read_velocity.getValue({20, 3, 3})[0] ==
          float(volume.velocity[0](20, 3, 3)));  // the last cell's high face
}

TEST_CASE("our own reader finds what was written, and refuses what was not") {
    const ScratchFolder folder;
    const Volume volume;
    write_vdb(folder / "a.vdb", volume.phi, volume.velocity, volume.pressure, volume.h);
    Domain domain;
    domain.cells = volume.cells;
    domain.h = volume.h;
    const VolumeFrame frame = read_vdb(folder / "a.vdb", domain);
    std::atomic<int> wrong = 0;
    for_each_cell(volume.phi.tiling(), volume.cells, [&](Int3 c, std::int64_t n) {
        wrong += std::abs(frame.distance(c) - std::clamp(volume.phi[n], -0.15, 0.15)) > 1e-6;
        wrong += std::abs(frame.pressure(c) - volume.pressure[n]) > 1e-3;
        for (int axis = 0; axis < 3; ++axis)
            wrong += std::abs(frame.velocity[axis](c) - volume.velocity[axis][n]) > 1e-6;
    });
    CHECK(wrong == 0);
    CHECK(frame.distance({3, 39, 3}) == near(0.15).relative(1e-6));  // no tile there
    domain.h = 0.1;
    CHECK_THROWS_AS(read_vdb(folder / "a.vdb", domain), IoError);
    write_file(folder / "b.vdb", read_file(folder / "a.vdb").substr(0, 500));
    CHECK_THROWS_AS(read_vdb(folder / "b.vdb", domain), IoError);
}

TEST_CASE("equal fields give equal files, other fields other identifiers") {
    const ScratchFolder folder;
    Volume volume;
    write_vdb(folder / "a.vdb", volume.phi, volume.velocity, volume.pressure, volume.h);
    write_vdb(folder / "b.vdb", volume.phi, volume.velocity, volume.pressure, volume.h);
    CHECK(read_file(folder / "a.vdb") == read_file(folder / "b.vdb"));
    volume.phi.at({3, 18, 3}) += 0.01;
    write_vdb(folder / "c.vdb", volume.phi, volume.velocity, volume.pressure, volume.h);
    CHECK(read_file(folder / "a.vdb").substr(0, 57) != read_file(folder / "c.vdb").substr(0, 57));
}

TEST_CASE("no liquid is a good file too") {
    const ScratchFolder folder;
    write_vdb(folder / "a.vdb", Field<double>{}, MacGrid{}, Field<double>{}, 0.1);
    openvdb::io::File file((folder / "a.vdb").string());
    CHECK_NOTHROW(file.open());
}
