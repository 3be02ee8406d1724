#include "geometry/isosurface_stuffing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "core/parallel.h"

namespace flotsam {

namespace {

// A point moves onto the surface where the surface cuts one of its edges nearer than this share of the edge's
// length. These values give the best guaranteed angles [Labelle & Shewchuk 2007, Table 1].
constexpr double near_on_long = 0.24999, near_on_short = 0.41189;

// The lattice: corners of cubes (even numbers) and their centres, in halves of an edge.
struct Lattice {
    Vec3 low;
    double spacing;
    Int3 cubes;

    int corners() const { return (cubes.x + 1) * (cubes.y + 1) * (cubes.z + 1); }
    int points() const { return corners() + cubes.x * cubes.y * cubes.z; }
    int corner(Int3 c) const { return c.x + (cubes.x + 1) * (c.y + (cubes.y + 1) * c.z); }
    int center(Int3 c) const { return corners() + c.x + cubes.x * (c.y + cubes.y * c.z); }
    bool has_cube(Int3 c) const {
        return c.x >= 0 && c.y >= 0 && c.z >= 0 && c.x < cubes.x && c.y < cubes.y && c.z < cubes.z;
    }
    Vec3 place(int n) const {
        const bool middle = n >= corners();
        if (middle) n -= corners();
        const int nx = middle ? cubes.x : cubes.x + 1, ny = middle ? cubes.y : cubes.y + 1;
        const Vec3 c(Int3{n % nx, n / nx % ny, n / nx / ny});
        return low + spacing * (c + (middle ? Vec3{0.5, 0.5, 0.5} : Vec3{}));
    }
    // Edges between two points of one kind are long, those between the kinds are short.
    bool is_long(int a, int b) const { return (a >= corners()) == (b >= corners()); }
};

// Four tetrahedra around each line between the centres of neighbouring cubes, one for each edge of their
// common face.
template <class Visit>
void for_each_tet(const Lattice& lattice, const Visit& visit) {
    for (int axis = 0; axis < 3; ++axis) {
        const Int3 along = unit(axis), u = unit((axis + 1) % 3), v = unit((axis + 2) % 3);
        for (int k = 0; k < lattice.cubes.z; ++k)
            for (int j = 0; j < lattice.cubes.y; ++j)
                for (int i = 0; i < lattice.cubes.x; ++i) {
                    const Int3 here{i, j, k}, there = here + along;
                    if (!lattice.has_cube(there)) continue;
                    const std::array<Int3, 4> ring{there, there + u, there + u + v, there + v};
                    for (int e = 0; e < 4; ++e)
                        visit(Tet{lattice.center(here), lattice.center(there), lattice.corner(ring[e]),
                                  lattice.corner(ring[(e + 1) % 4])});
                }
    }
}

// Where an edge crosses the surface, as a share of the edge from a (inside) to b (outside).
double crossing(const Shape& shape, Vec3 a, Vec3 b, double da, double db) {
    double low = 0, high = 1;
    double at = da / (da - db);
    for (int i = 0; i < 6; ++i) {
        const double d = shape.distance(a + (b - a) * at);
        if (d < 0)
            low = at, da = d;
        else
            high = at, db = d;
        if (std::abs(d) < 1e-9 * length(b - a) || da == db) break;
        at = low + (high - low) * da / (da - db);
        // Regula falsi may stall at one end.
        if (i % 2) at = 0.5 * (low + high);
    }
    return std::clamp(at, 0.0, 1.0);
}

class Stuffing {
  public:
    Stuffing(const Shape& shape, double spacing) : shape_(shape) {
        const Box box = shape.bounds();
        const Vec3 size = box.high - box.low;
        lattice_.spacing = spacing;
        // Two more cubes on every side, and no plane of the lattice on the faces of the shape's box.
        lattice_.cubes = {int(size.x / spacing) + 4, int(size.y / spacing) + 4, int(size.z / spacing) + 4};
        lattice_.low = (box.low + box.high) * 0.5 - Vec3(lattice_.cubes) * (0.5 * spacing);
    }

    TetMesh fill() {
        const int points = lattice_.points();
        place_.resize(points);
        distance_.resize(points);
        parallel_for(points, 1024, [&](std::int64_t n) {
            place_[n] = lattice_.place(int(n));
            distance_[n] = shape_.distance(place_[n]);
        });
        find_crossings();
        move_close_points();
        for_each_tet(lattice_, [&](const Tet& t) { cut(t); });
        return cleaned();
    }

  private:
    static std::uint64_t key(int a, int b) {
        return std::uint64_t(std::min(a, b)) << 32 | std::uint64_t(std::max(a, b));
    }

    void find_crossings() {
        struct Edge {
            int inside, outside;
            double at;
        };
        std::vector<Edge> edges;
        std::unordered_map<std::uint64_t, int> known;
        for_each_tet(lattice_, [&](const Tet& t) {
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    if (distance_[t[i]] < 0 && distance_[t[j]] > 0 &&
                        known.emplace(key(t[i], t[j]), int(edges.size())).second)
                        edges.push_back({t[i], t[j], 0});
        });
        parallel_for(std::ssize(edges), 256, [&](std::int64_t e) {
            Edge& edge = edges[e];
            edge.at = crossing(shape_, place_[edge.inside], place_[edge.outside], distance_[edge.inside],
                               distance_[edge.outside]);
        });
        for (const Edge& e : edges) {
            cut_[key(e.inside, e.outside)] = {
                place_[e.inside] + (place_[e.outside] - place_[e.inside]) * e.at, -1};
            const double reach = lattice_.is_long(e.inside, e.outside) ? near_on_long : near_on_short;
            if (e.at < reach) close_.push_back({e.inside, e.outside, e.at});
            if (1 - e.at < reach) close_.push_back({e.outside, e.inside, 1 - e.at});
        }
    }

    // Moves each point to the nearest crossing that is too close to it, if it still is a crossing.
    void move_close_points() {
        std::sort(close_.begin(), close_.end(), [](const Close& a, const Close& b) {
            return a.point != b.point   ? a.point < b.point
                   : a.share != b.share ? a.share < b.share
                                        : a.other < b.other;
        });
        for (const Close& c : close_) {
            if (distance_[c.point] == 0 || distance_[c.other] == 0) continue;
            place_[c.point] = cut_.at(key(c.point, c.other)).place;
            distance_[c.point] = 0;
        }
    }

    int node(int point) {
        const auto [at, fresh] = node_.emplace(point, int(mesh_.nodes.size()));
        if (fresh) mesh_.nodes.push_back(place_[point]);
        return at->second;
    }
    int node_between(int a, int b) {
        Cut& c = cut_.at(key(a, b));
        if (c.node < 0) {
            c.node = int(mesh_.nodes.size());
            mesh_.nodes.push_back(c.place);
        }
        return c.node;
    }
    void add(int a, int b, int c, int d) {
        const std::vector<Vec3>& x = mesh_.nodes;
        if (tet_volume(x[a], x[b], x[c], x[d]) < 0) std::swap(c, d);
        mesh_.tets.push_back({a, b, c, d});
    }

    // Does the diagonal of the four-sided part of a face start at inside point a and end on b's edge to the
    // outside? Both tetrahedra at the face must agree. Of a long and a short edge, the diagonal ends on the
    // long one; for two equal edges the parity of the inside points decides [Labelle & Shewchuk 2007, 3.2].
    bool diagonal_from(int a, int b, int outside) const {
        const bool long_a = lattice_.is_long(a, outside), long_b = lattice_.is_long(b, outside);
        if (long_a != long_b) return long_b;
        const Vec3 pa = lattice_.place(a) - lattice_.low, pb = lattice_.place(b) - lattice_.low;
        const auto larger = [](Vec3 p, Vec3 q, double slack) {
            return (p.x > q.x + slack) + (p.y > q.y + slack) + (p.z > q.z + slack);
        };
        return larger(pa, pb, 1e-6 * lattice_.spacing) % 2 == 1;
    }

    // A prism between triangle (p0, p1, p2) and triangle (q0, q1, q2). cross[i]: the diagonal of the side
    // between i and i + 1 starts at p_i (and ends at q_(i+1)), otherwise at p_(i+1).
    void add_prism(std::array<int, 3> p, std::array<int, 3> q, std::array<bool, 3> cross) {
        for (int i = 0; i < 3; ++i) {
            // A corner of the first triangle where both diagonals start, and the next where one ends.
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            if (!cross[i] || cross[k]) continue;  // both sides at i: i -> j and k -> i, seen from i
            add(p[i], q[0], q[1], q[2]);
            if (cross[j]) {
                add(p[i], p[j], q[j], q[k]);  // diagonals p_i q_j, p_i q_k, p_j q_k
                add(p[i], p[j], p[k], q[k]);
                return;
            }
            add(p[i], p[k], q[k], q[j]);  // p_k q_j
            add(p[i], p[j], p[k], q[j]);
            return;
        }
        // The three diagonals form a cycle: this needs a point in the middle.
        Vec3 middle;
        for (int i = 0; i < 3; ++i) middle += (mesh_.nodes[p[i]] + mesh_.nodes[q[i]]) / 6.0;
        const int m = int(mesh_.nodes.size());
        mesh_.nodes.push_back(middle);
        add(m, p[0], p[1], p[2]);
        add(m, q[0], q[1], q[2]);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3;
            add(m, p[i], cross[i] ? q[j] : p[j], q[i]);
            add(m, cross[i] ? p[i] : q[i], p[j], q[j]);
        }
    }

    void cut(const Tet& t) {
        std::array<int, 4> in{}, on{}, out{};
        int ins = 0, ons = 0, outs = 0;
        for (const int n : t) {
            if (distance_[n] < 0)
                in[ins++] = n;
            else if (distance_[n] > 0)
                out[outs++] = n;
            else
                on[ons++] = n;
        }
        if (ins == 0) return;
        if (outs == 0) {
            add(node(t[0]), node(t[1]), node(t[2]), node(t[3]));
            return;
        }
        if (ins == 1) {
            // Every outside point is replaced by the crossing on the edge to it.
            std::array<int, 3> base{};
            int n = 0;
            for (int i = 0; i < ons; ++i) base[n++] = node(on[i]);
            for (int i = 0; i < outs; ++i) base[n++] = node_between(in[0], out[i]);
            add(node(in[0]), base[0], base[1], base[2]);
        } else if (ins == 2 && outs == 1) {
            // A pyramid over the four-sided part of a face, its tip on the surface.
            const int a = node(in[0]), b = node(in[1]), tip = node(on[0]);
            const int ca = node_between(in[0], out[0]), cb = node_between(in[1], out[0]);
            if (diagonal_from(in[0], in[1], out[0])) {
                add(tip, a, b, cb);
                add(tip, a, cb, ca);
            } else {
                add(tip, a, b, ca);
                add(tip, b, cb, ca);
            }
        } else if (ins == 3) {
            std::array<int, 3> p, q;
            std::array<bool, 3> cross;
            for (int i = 0; i < 3; ++i) {
                p[i] = node(in[i]);
                q[i] = node_between(in[i], out[0]);
                cross[i] = diagonal_from(in[i], in[(i + 1) % 3], out[0]);
            }
            add_prism(p, q, cross);
        } else {
            // Two inside, two outside: a prism between (a, its crossings) and (b, its crossings), whose third
            // side lies on the surface and is not shared.
            const std::array<int, 3> p{node(in[0]), node_between(in[0], out[0]), node_between(in[0], out[1])};
            const std::array<int, 3> q{node(in[1]), node_between(in[1], out[0]), node_between(in[1], out[1])};
            const bool first = diagonal_from(in[0], in[1], out[0]),
                       second = diagonal_from(in[0], in[1], out[1]);
            // The shorter one on the surface.
            const double forth = length(mesh_.nodes[p[1]] - mesh_.nodes[q[2]]);
            const double back = length(mesh_.nodes[p[2]] - mesh_.nodes[q[1]]);
            bool free = forth < back;
            // Side 0: a to its first crossing; side 2: the second crossing back to a. Avoid a cycle.
            const bool side0 = first, side2 = !second;
            if (side0 == side2) free = !side0;
            add_prism(p, q, {side0, free, side2});
        }
    }

    // The mesh with the nodes that it uses; only its largest piece when the others are specks.
    TetMesh cleaned() const {
        std::vector<int> piece(mesh_.tets.size(), -1);
        std::unordered_map<std::uint64_t, std::vector<int>> at_face;
        const auto face_key = [](const Tet& t, int without) {
            std::array<std::uint64_t, 3> n{};
            int count = 0;
            for (int i = 0; i < 4; ++i)
                if (i != without) n[count++] = std::uint64_t(t[i]);
            std::sort(n.begin(), n.end());
            return n[0] << 42 | n[1] << 21 | n[2];  // up to two million nodes
        };
        for (std::size_t t = 0; t < mesh_.tets.size(); ++t)
            for (int f = 0; f < 4; ++f) at_face[face_key(mesh_.tets[t], f)].push_back(int(t));
        std::vector<double> volumes;
        double whole = 0;
        for (std::size_t seed = 0; seed < mesh_.tets.size(); ++seed) {
            if (piece[seed] >= 0) continue;
            std::vector<int> open{int(seed)};
            piece[seed] = int(volumes.size());
            volumes.push_back(0);
            while (!open.empty()) {
                const int t = open.back();
                open.pop_back();
                const Tet& n = mesh_.tets[t];
                volumes.back() +=
                    tet_volume(mesh_.nodes[n[0]], mesh_.nodes[n[1]], mesh_.nodes[n[2]], mesh_.nodes[n[3]]);
                for (int f = 0; f < 4; ++f)
                    for (const int other : at_face[face_key(n, f)])
                        if (piece[other] < 0) piece[other] = piece[seed], open.push_back(other);
            }
            whole += volumes.back();
        }
        if (volumes.empty()) return {};
        const auto largest = std::max_element(volumes.begin(), volumes.end());
        const int kept = int(largest - volumes.begin());
        const bool specks = whole - *largest < 0.01 * whole;
        TetMesh clean;
        std::vector<int> number(mesh_.nodes.size(), -1);
        for (std::size_t t = 0; t < mesh_.tets.size(); ++t) {
            if (specks && piece[t] != kept) continue;
            Tet tet = mesh_.tets[t];
            for (int& n : tet) {
                if (number[n] < 0) {
                    number[n] = int(clean.nodes.size());
                    clean.nodes.push_back(mesh_.nodes[n]);
                }
                n = number[n];
            }
            clean.tets.push_back(tet);
        }
        return clean;
    }

    struct Close {
        int point, other;
        double share;
    };
    struct Cut {
        Vec3 place;
        int node;
    };

    const Shape& shape_;
    Lattice lattice_;
    std::vector<Vec3> place_;
    std::vector<double> distance_;
    std::unordered_map<std::uint64_t, Cut> cut_;
    std::vector<Close> close_;
    std::unordered_map<int, int> node_;
    TetMesh mesh_;
};

}  // namespace

TetMesh stuff(const Shape& shape, double spacing) { return Stuffing(shape, spacing).fill(); }

}  // namespace flotsam
