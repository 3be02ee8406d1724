#include "coupling/wet_elastic.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "linalg/coupled_forms.h"

namespace flotsam {

SurfaceNodes skin_nodes(const ElasticMesh& mesh, int first) {
    SurfaceNodes nodes;
    for (const TetPlace& place : mesh.skin_place) {
        nodes.node.emplace_back();
        nodes.weight.push_back(place.weight);
        for (int k = 0; k < 4; ++k) nodes.node.back()[k] = first + mesh.rest.tets[place.tet][k];
    }
    return nodes;
}

Obstacle still_elastic_obstacle(const ElasticBody& body, const Domain& domain) {
    const auto surface = std::make_shared<MeshSurface>(skin_of(body));
    Obstacle obstacle{.shape = surface, .before = {}, .after = {}, .motion = {}, .cut = nullptr};
    obstacle.deformation = std::make_shared<Deformation>(
        Deformation{surface, surface, std::vector<Vec3>(surface->mesh().vertices.size())});
    obstacle.nodes = std::make_shared<SurfaceNodes>(skin_nodes(*body.mesh, 0));
    obstacle.cut = std::make_shared<CutSolid>(cut_solid(surface->mesh(), domain.cells, domain.h, {}, true));
    return obstacle;
}

void WetElastic::begin(const Scenario& scenario, const World& now, const std::vector<ElasticBody>& elastics,
                       const std::vector<RigidBody>& bodies, double time, double dt,
                       std::vector<MovableBody>& movable) {
    std::vector<RigidPartner> partners = rigid_partners(bodies, now.support, scenario.gravity, dt);
    const ContactSurroundings around = contact_surroundings(scenario, bodies, elastics, partners, time, dt);
    std::vector<ElasticContact> contacts = find_contacts(elastics, partners, around.scene, dt);
    movable_ = &movable;
    pushed_.assign(bodies.size(), {});
    push_left_ = 0;
    last_motion_.resize(bodies.size());
    equation_.begin(elastics, elastic_properties(scenario, elastics), scenario.gravity, time, dt,
                    std::move(contacts), std::move(partners), scenario.solver.name == "multigrid");
}

bool WetElastic::linearize(std::span<const Vec3> known) {
    known_.assign(known.begin(), known.end());
    if (!equation_.linearize()) return false;
    if (coupling_ == ElasticCoupling::strong) {
        if (!dear()) free_ = equation_.velocity_with(known_);
        return true;
    }
    if (coupling_ == ElasticCoupling::weak) {
        free_.assign(equation_.velocity_before().begin(), equation_.velocity_before().end());
        return true;
    }
    elastic_ = equation_.velocity_with({});
    if (!equation_.linearize(false)) return false;
    if (dear()) return true;
    free_.assign(elastic_.size(), {});
    equation_.solve(known_, free_);
    for (std::size_t n = 0; n < elastic_.size(); ++n) free_[n] += elastic_[n];
    return true;
}

std::span<const Vec3> WetElastic::from() const {
    return coupling_ == ElasticCoupling::damping ? std::span<const Vec3>(elastic_) : equation_.velocity();
}

std::vector<Vec3> WetElastic::push() const {
    std::vector<Vec3> push(equation_.descent().begin(), equation_.descent().end());
    if (coupling_ == ElasticCoupling::damping) std::fill(push.begin(), push.end(), Vec3{});
    for (std::size_t n = 0; n < known_.size(); ++n) push[n] += known_[n];
    hold(push);
    return push;
}

SolidEquation WetElastic::equation(bool factors) const {
    SolidEquation equation = equation_.equation(factors);
    equation.from.assign(from().begin(), from().begin() + std::ssize(known_));
    equation.push = push();
    equation.push.resize(known_.size());
    return equation;
}

YieldingSolids::Taken WetElastic::take(std::span<const Vec3> impulse, std::span<const Vec3> velocity) {
    std::vector<Vec3> all = known_;
    for (std::size_t n = 0; n < all.size(); ++n) all[n] += impulse[n];
    if (coupling_ == ElasticCoupling::damping) {
        std::vector<Vec3> v(velocity.begin(), velocity.end());
        if (v.empty()) {
            std::vector<Vec3> change(free_.size());
            equation_.solve(impulse, change);
            v = free_;
            for (std::size_t n = 0; n < change.size(); ++n) v[n] += change[n];
        }
        (void)equation_.take(std::move(v), all);
        push_partners();
        return {};
    }
    if (coupling_ == ElasticCoupling::weak) {
        while (equation_.take(equation_.velocity_with(all), all).again)
            if (!equation_.linearize()) return {};
        push_partners();
        return {};
    }
    const auto [again, share] = equation_.take(
        velocity.empty() ? equation_.velocity_with(all) : std::vector<Vec3>(velocity.begin(), velocity.end()),
        all);
    for (std::size_t b = 0; share < 1 && b < movable_->size(); ++b) {
        Twist& motion = (*movable_)[b].motion;
        motion.velocity = last_motion_[b].velocity + share * (motion.velocity - last_motion_[b].velocity);
        motion.spin = last_motion_[b].spin + share * (motion.spin - last_motion_[b].spin);
    }
    const double push = push_partners();
    const bool pushed = push > 1e-4;
    push_left_ = pushed ? push : 0;
    for (std::size_t b = 0; b < movable_->size(); ++b) last_motion_[b] = (*movable_)[b].motion;
    return {(pushed || again) && equation_.may_go_on(), share};
}

// Gives the rigid bodies what contacts with elastic ones took from those. Says how much that changed them
// [m/s].
double WetElastic::push_partners() {
    double change = 0;
    std::vector<RigidPartner>& partners = equation_.partners();
    for (std::size_t b = 0; b < partners.size(); ++b) {
        RigidPartner& partner = partners[b];
        const Impulse push = equation_.partner_push(b);
        MovableBody& body = (*movable_)[b];
        const Vec3 linear = push.linear - pushed_[b].linear;
        Vec3 dv;
        for (int a = 0; a < 3; ++a) dv[a] = body.inverse_mass[a] * linear[a];
        const Vec3 dw = body.inverse_inertia * (push.angular - pushed_[b].angular);
        body.free.velocity += dv;
        body.free.spin += dw;
        change = std::max({change, length(dv), length(dw)});
        // Without what elastic ones push it moves as it did, less that.
        if (length(push.linear) + length(push.angular) > 0) {
            for (int a = 0; a < 3; ++a)
                partner.free.velocity[a] =
                    body.motion.velocity[a] - body.inverse_mass[a] * pushed_[b].linear[a];
            partner.free.spin = body.motion.spin - body.inverse_inertia * pushed_[b].angular;
        }
        // Should this have been the last round, nothing of the push is lost.
        body.motion.velocity += dv;
        body.motion.spin += dw;
        pushed_[b] = push;
    }
    return change;
}

std::vector<Vec3> WetElastic::velocity(std::size_t body) const {
    const auto first = equation_.velocity().begin() + equation_.first(body);
    return {first, first + std::ptrdiff_t(equation_.places(body).size())};
}

YieldingSolids::Lumps WetElastic::lumps() const {
    Lumps lumps;
    lumps.own = equation_.own_blocks();
    lumps.lump.resize(nodes());
    lumps.arm.resize(nodes());
    for (std::size_t b = 0; b < equation_.bodies(); ++b) {
        const BlockMatrix& s = equation_.matrix(b);
        const std::span<const Vec3> places = equation_.places(b);
        const std::int64_t first = equation_.first(b);
        Vec3 center;
        for (const Vec3 p : places) center += p / double(places.size());
        using Matrix = Eigen::Matrix<double, 6, 6>;
        Matrix sum = Matrix::Zero();
        const auto mode = [&](int n) {  // columns: what each rigid motion does to a node
            Eigen::Matrix<double, 3, 6> m = Eigen::Matrix<double, 3, 6>::Zero();
            const Vec3 r = places[n] - center;
            m << 1, 0, 0, 0, r.z, -r.y, 0, 1, 0, -r.z, 0, r.x, 0, 0, 1, r.y, -r.x, 0;
            for (int a = 0; a < 3; ++a)
                if (equation_.held(b)[n] >> a & 1) m.row(a).setZero();
            return m;
        };
        for (int r = 0; r < s.rows(); ++r) {
            lumps.lump[first + r] = int(b);
            lumps.arm[first + r] = places[r] - center;
            if (equation_.turns_freely(b)) {
                sum += mode(r).transpose() * mode(r) * equation_.mass(b, std::size_t(r));
                continue;
            }
            for (int k = s.row_begin[r]; k < s.row_begin[r + 1]; ++k) {
                Eigen::Matrix3d block;
                for (int i = 0; i < 3; ++i)
                    for (int j = 0; j < 3; ++j) block(i, j) = s.value[k].row[i][j];
                sum += mode(r).transpose() * block * mode(s.column[k]);
            }
        }
        const Matrix inverse = sum.ldlt().solve(Matrix::Identity());
        lumps.compliance.emplace_back();
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j) lumps.compliance.back()[i][j] = 0.5 * (inverse(i, j) + inverse(j, i));
    }
    return lumps;
}

}  // namespace flotsam
