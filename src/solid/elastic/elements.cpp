#include "solid/elastic/elements.h"

#include <algorithm>
#include <array>

#include "core/mat3.h"

namespace flotsam {

namespace {

// A tetrahedron belongs to the region with this key: an edge, or a node or tetrahedron twice.
struct Member {
    std::array<int, 2> key;
    int tet;
    auto operator<=>(const Member&) const = default;
};

class Maker {
  public:
    Maker(const TetMesh& rest, int parts_of_each) : rest_(rest), filled_(rest.tets.size(), 0) {
        elements_.parts_of_each = parts_of_each;
        elements_.parts.resize(rest.tets.size() * std::size_t(parts_of_each));
        for (const Tet& t : rest.tets) {
            const Vec3 first = rest.nodes[t[0]];
            Mat3 edges;  // columns d_i^m [Zarifi17 Eq. 3.33]
            for (int a = 0; a < 3; ++a)
                for (int i = 0; i < 3; ++i) edges.row[i][a] = (rest.nodes[t[a + 1]] - first)[i];
            const Mat3 inverse = edges.inverse();
            const Vec3 sum = inverse.row[0] + inverse.row[1] + inverse.row[2];
            gradient_.push_back({-sum, inverse.row[0], inverse.row[1], inverse.row[2]});
            volume_.push_back(tet_volume(first, rest.nodes[t[1]], rest.nodes[t[2]], rest.nodes[t[3]]));
        }
    }

    // Adds one element for each key. It owns `share` of each of its tetrahedra.
    void add(std::vector<Member> members, double share, double mu, double lambda) {
        std::sort(members.begin(), members.end());
        for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
            while (end < members.size() && members[end].key == members[begin].key) ++end;
            add(std::span(members).subspan(begin, end - begin), share, mu, lambda);
        }
    }

    Elements made() { return std::move(elements_); }

  private:
    void add(std::span<const Member> region, double share, double mu, double lambda) {
        const auto first = std::ptrdiff_t(elements_.node.size());
        double volume = 0;
        for (const Member& member : region) {
            const Tet& tet = rest_.tets[member.tet];
            volume += share * volume_[member.tet];
            elements_.node.insert(elements_.node.end(), tet.begin(), tet.end());
            elements_.parts[std::size_t(member.tet) * elements_.parts_of_each + filled_[member.tet]++] = {
                int(elements_.all.size()), share};
        }
        std::vector<int>& node = elements_.node;
        if (region.size() > 1) {
            std::sort(node.begin() + first, node.end());
            node.erase(std::unique(node.begin() + first, node.end()), node.end());
        }
        elements_.gradient.resize(node.size());
        for (const Member& member : region)
            for (int a = 0; a < 4; ++a) {
                const auto at = std::find(node.begin() + first, node.end(), rest_.tets[member.tet][a]);
                elements_.gradient[at - node.begin()] +=
                    gradient_[member.tet][a] * (share * volume_[member.tet] / volume);
            }
        elements_.all.push_back({int(first), int(std::ssize(node) - first), volume, mu, lambda});
    }

    const TetMesh& rest_;
    std::vector<std::array<Vec3, 4>> gradient_;  // of the shape functions of each tetrahedron
    std::vector<double> volume_;
    std::vector<int> filled_;  // parts of each tetrahedron so far
    Elements elements_;
};

}  // namespace

Elements make_elements(const TetMesh& rest, ElasticElements kind, double mu, double lambda) {
    std::vector<Member> tets, edges, nodes;
    for (int t = 0; t < int(rest.tets.size()); ++t) {
        tets.push_back({{t, t}, t});
        for (int a = 0; a < 4; ++a) {
            const int n = rest.tets[t][a];
            nodes.push_back({{n, n}, t});
            for (int b = 0; b < a; ++b) {
                const auto [low, high] = std::minmax(n, rest.tets[t][b]);
                edges.push_back({{low, high}, t});
            }
        }
    }
    if (kind == ElasticElements::linear) {
        Maker maker(rest, 1);
        maker.add(std::move(tets), 1, mu, lambda);
        return maker.made();
    }
    Maker maker(rest, 10);
    maker.add(std::move(edges), 1.0 / 6, mu, 0);
    maker.add(std::move(nodes), 1.0 / 4, 0, lambda);
    return maker.made();
}

}  // namespace flotsam
