#include "io/vdb.h"

#include <fmt/format.h>
#include <openvdb/io/Stream.h>
#include <openvdb/openvdb.h>

#include <algorithm>
#include <sstream>

#include "core/hash.h"
#include "io/atomic_file.h"

namespace flotsam {

namespace {

// OpenVDB writes straight to a named file and does not notice a full disk; so it writes to memory, and we to
// the disk.
class MemoryArchive : public openvdb::io::Archive {
  public:
    std::string write(const openvdb::GridCPtrVec& grids) const {
        std::ostringstream out;
        Archive::write(out, grids, /*seekable=*/true);
        return std::move(out).str();
    }
};

// Replaces the random identifier in a file's header by one made from the contents, so that equal states give
// equal files. The header: magic (8 bytes), three versions (4 each), a flag (1), then the identifier as 36
// characters.
void name_by_contents(std::string& file) {
    constexpr std::size_t place = 21, length = 36;
    FLOTSAM_CHECK(file.size() > place + length);
    FLOTSAM_CHECK(file[place + 8] == '-' && file[place + 23] == '-');
    const std::string_view contents = std::string_view(file).substr(place + length);
    const std::uint64_t high = hash_bytes(contents.data(), contents.size()), low = mix(high);
    const std::string identifier =
        fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xfff,
                    low >> 52, low & 0xffffffffffff);
    FLOTSAM_CHECK(identifier.size() == length);
    file.replace(place, length, identifier);
}

openvdb::math::Transform::Ptr cell_centred(double h) {
    auto transform = openvdb::math::Transform::createLinearTransform(h);
    transform->postTranslate(openvdb::Vec3d(0.5 * h));
    return transform;
}

// Calls fill(leaf, cell, offset, n) for the voxels of a new leaf: one leaf of OpenVDB's is one tile of ours.
template <class Leaf, class Fill>
void fill_leaf(Leaf& leaf, const Tiling& tiling, std::int64_t slot, Int3 end, const Fill& fill) {
    static_assert(Leaf::DIM == Tiling::side);
    for_each_cell_of_tile(tiling, slot, end, [&](Int3 c, std::int64_t n) {
        fill(leaf, Leaf::coordToOffset(openvdb::Coord(c.x, c.y, c.z)), n);
    });
}

openvdb::Coord first_voxel(const Tiling& tiling, std::int64_t slot) {
    const Int3 first = tiling.first_cell(slot);
    return {first.x, first.y, first.z};
}

openvdb::FloatGrid::Ptr distance_grid(const Field<double>& phi, double h) {
    using Leaf = openvdb::FloatTree::LeafNodeType;
    const float far = float(3 * h);
    auto grid = openvdb::FloatGrid::create(far);
    grid->setName("distance");
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    grid->setTransform(cell_centred(h));

    const Tiling& tiling = phi.tiling();
    for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot) {
        auto leaf = std::make_unique<Leaf>(first_voxel(tiling, slot), far);
        bool deep = true;  // wholly inside, far from the surface and the walls
        int cells = 0;
        fill_leaf(*leaf, tiling, slot, tiling.cells(), [&](Leaf& l, openvdb::Index offset, std::int64_t n) {
            const float distance = std::clamp(float(phi[n]), -far, far);
            if (std::abs(distance) < far)
                l.setValueOn(offset, distance);
            else
                l.setValueOff(offset, distance);
            deep = deep && distance == -far;
            ++cells;
        });
        if (deep && cells == Tiling::cells_per_tile) {
            grid->tree().addTile(1, leaf->origin(), -far, false);
        } else if (cells > 0) {
            grid->tree().addLeaf(leaf.release());
        }
    }
    return grid;
}

openvdb::Vec3fGrid::Ptr velocity_grid(const MacGrid& velocity, double h) {
    using Leaf = openvdb::Vec3fTree::LeafNodeType;
    auto grid = openvdb::Vec3fGrid::create(openvdb::Vec3f(0));
    grid->setName("velocity");
    grid->setGridClass(openvdb::GRID_STAGGERED);
    grid->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    grid->setTransform(cell_centred(h));

    const Tiling& tiling = velocity[0].tiling();
    for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot) {
        auto leaf = std::make_unique<Leaf>(first_voxel(tiling, slot), openvdb::Vec3f(0));
        const Int3 faces =
            tiling.cells() + Int3{1, 1, 1};  // the last cells' high faces are the next voxels' low ones
        fill_leaf(*leaf, tiling, slot, faces, [&](Leaf& l, openvdb::Index offset, std::int64_t n) {
            const openvdb::Vec3f u{float(velocity[0][n]), float(velocity[1][n]), float(velocity[2][n])};
            if (u != openvdb::Vec3f(0)) l.setValueOn(offset, u);
        });
        if (!leaf->isEmpty()) grid->tree().addLeaf(leaf.release());
    }
    return grid;
}

openvdb::FloatGrid::Ptr pressure_grid(const Field<double>& pressure, double h) {
    using Leaf = openvdb::FloatTree::LeafNodeType;
    auto grid = openvdb::FloatGrid::create(0);
    grid->setName("pressure");
    grid->setTransform(cell_centred(h));
    const Tiling& tiling = pressure.tiling();
    for (std::int64_t slot = 0; slot < tiling.owned_count(); ++slot) {
        auto leaf = std::make_unique<Leaf>(first_voxel(tiling, slot), 0.0f);
        fill_leaf(*leaf, tiling, slot, tiling.cells(), [&](Leaf& l, openvdb::Index offset, std::int64_t n) {
            if (pressure[n] != 0) l.setValueOn(offset, float(pressure[n]));
        });
        if (!leaf->isEmpty()) grid->tree().addLeaf(leaf.release());
    }
    return grid;
}

// The tiles of the domain where some grid has values.
std::shared_ptr<const Tiling> tiles_of(const openvdb::GridPtrVec& grids, const Domain& domain) {
    std::vector<Int3> tiles;
    const Int3 count = (domain.cells + Int3{Tiling::side, Tiling::side, Tiling::side});
    for (int k = 0; k < count.z / Tiling::side; ++k)
        for (int j = 0; j < count.y / Tiling::side; ++j)
            for (int i = 0; i < count.x / Tiling::side; ++i) {
                const openvdb::Coord first(i * Tiling::side, j * Tiling::side, k * Tiling::side);
                bool said = false;
                for (const auto& grid : grids) {
                    if (const auto scalars = openvdb::gridPtrCast<openvdb::FloatGrid>(grid))
                        said = said || scalars->tree().probeConstLeaf(first) ||
                               scalars->tree().getValue(first) != scalars->background();
                    if (const auto vectors = openvdb::gridPtrCast<openvdb::Vec3fGrid>(grid))
                        said = said || vectors->tree().probeConstLeaf(first);
                }
                if (said) tiles.push_back({i, j, k});
            }
    return std::make_shared<Tiling>(domain.cells, std::move(tiles));
}

template <class Grid, class Read>
Field<double> field_of(const Grid& grid, const std::shared_ptr<const Tiling>& tiling, double background,
                       const Read& read) {
    Field<double> field(tiling, background);
    for_each_tile(*tiling, 16, [&](std::int64_t slot) {
        const auto values = grid.getConstAccessor();
        for_each_cell_of_tile(*tiling, slot, tiling->cells() + Int3{1, 1, 1}, [&](Int3 c, std::int64_t n) {
            field[n] = read(values.getValue(openvdb::Coord(c.x, c.y, c.z)));
        });
    });
    return field;
}

}  // namespace

VolumeFrame read_vdb(const std::filesystem::path& file, const Domain& domain) {
    openvdb::initialize();
    const auto bad = [&](std::string_view why) { return IoError(fmt::format("{}: {}", file.string(), why)); };
    std::istringstream bytes(read_file(file));
    openvdb::GridPtrVecPtr grids;
    try {
        grids = openvdb::io::Stream(bytes, /*delayLoad=*/false).getGrids();
    } catch (const std::exception& error) {
        throw bad(fmt::format("cut off or not a VDB file ({})", error.what()));
    }
    const auto tiling = tiles_of(*grids, domain);
    VolumeFrame frame;
    for (const auto& grid : *grids) {
        if (std::abs(grid->voxelSize()[0] - domain.h) > 1e-6 * domain.h)
            throw bad("belongs to another scene: its cells have another size");
        if (const auto scalars = openvdb::gridPtrCast<openvdb::FloatGrid>(grid)) {
            Field<double>& field = grid->getName() == "distance" ? frame.distance : frame.pressure;
            field =
                field_of(*scalars, tiling, scalars->background(), [](float value) { return double(value); });
        } else if (const auto vectors = openvdb::gridPtrCast<openvdb::Vec3fGrid>(grid)) {
            for (int axis = 0; axis < 3; ++axis)
                frame.velocity[axis] = field_of(
                    *vectors, tiling, 0, [axis](const openvdb::Vec3f& value) { return double(value[axis]); });
        }
    }
    return frame;
}

void write_vdb(const std::filesystem::path& file, const Field<double>& phi, const MacGrid& velocity,
               const Field<double>& pressure, double h) {
    openvdb::initialize();
    openvdb::GridCPtrVec grids;
    if (!phi.empty()) grids.push_back(distance_grid(phi, h));
    if (!velocity[0].empty()) grids.push_back(velocity_grid(velocity, h));
    if (!pressure.empty()) grids.push_back(pressure_grid(pressure, h));
    std::string bytes = MemoryArchive().write(grids);
    name_by_contents(bytes);
    write_file(file, bytes);
}

}  // namespace flotsam
