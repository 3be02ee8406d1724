// Linear constraints between the velocities of rigid bodies that hold exactly in a coupled solve, as joints
// do.
//
// Rows G v = target connect bodies to groups. A group moves by v = (known) + B z, where the columns of B are
// a basis of the motions that its rows admit: with S^-1 = L L^T, B = L Q and Q an orthonormal basis of the
// kernel of G L. Then B B^T = S^-1 - S^-1 G^T (G S^-1 G^T)^-1 G S^-1 is the compliance of the whole group,
// and z has the mass 1. Bodies that hold all of each other leave six of these modes, like one body.
#pragma once

#include <cstdint>
#include <vector>

#include "linalg/low_rank.h"

namespace flotsam {

// on_a . v_a + on_b . v_b = target
struct ConstraintRow {
    int a = -1, b = -1;  // bodies, or -1
    Six<double> on_a{}, on_b{};
    double target = 0;
};

class RigidConstraints {
  public:
    RigidConstraints() = default;
    // `inverse`: S^-1 of each body. Rows may repeat each other, or be about motions that are locked.
    RigidConstraints(const std::vector<SixBySix<double>>& inverse, std::vector<ConstraintRow> rows);

    bool empty() const { return rows_.empty(); }
    void set_targets(const std::vector<double>& targets);

    // The impulses on each body that make a velocity fulfil the rows.
    std::vector<Six<double>> impulses(const std::vector<Six<double>>& velocity) const;
    // The part of impulses on each body that the constraints do not balance: it moves the groups alike.
    std::vector<Six<double>> unbalanced(std::vector<Six<double>> impulse) const;

    // The term J B B^T J^T of bodies with the interface `bodies`, whose compliance is `scale` S^-1.
    LowRank<double> modes(const LowRank<double>& bodies, std::int64_t slots, double scale) const;

  private:
    struct Group {
        std::vector<int> bodies, rows;
        std::vector<double> multiplier;               // (G S^-1 G^T)^-1, row after row
        std::vector<std::vector<Six<double>>> basis;  // the velocity of each body in each mode
    };
    void eliminate(Group& group) const;
    std::vector<Six<double>> impulses(const std::vector<Six<double>>& velocity, bool with_targets) const;
    double speed(const ConstraintRow& row, const std::vector<Six<double>>& velocity) const;

    std::vector<SixBySix<double>> inverse_;
    std::vector<ConstraintRow> rows_;
    std::vector<Group> groups_;
};

}  // namespace flotsam
