// The interface map J: the flux out of each cell per velocity of each node of a solid's surface. Its
// transpose maps pressures to forces on the nodes. Both use one list of numbers, so that the solids receive
// exactly what the liquid gives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/vec.h"

namespace flotsam {

struct InterfaceEntry {
    std::uint32_t cell;  // in tile order
    std::int32_t node;
    Vec3 area;
};

class InterfaceMap {
  public:
    InterfaceMap() = default;
    // Entries of the same cell and node are summed.
    InterfaceMap(std::int64_t tiles, std::int64_t nodes, std::vector<InterfaceEntry> entries);

    bool empty() const { return entries_.empty(); }
    std::int64_t nodes() const { return std::int64_t(node_begin_.size()) - 1; }
    const std::vector<InterfaceEntry>& entries() const { return entries_; }  // by cell
    // w = J^T x
    void gather(std::span<const double> x, std::span<Vec3> w) const;
    // x += sign J v
    void scatter(std::span<const Vec3> v, std::span<double> x, double sign) const;

  private:
    std::vector<InterfaceEntry> entries_;
    std::vector<std::int64_t> tile_begin_, node_begin_{0};
    struct NodeEntry {
        std::uint32_t cell;
        Vec3 area;
    };
    std::vector<NodeEntry> by_node_;
};

}  // namespace flotsam
