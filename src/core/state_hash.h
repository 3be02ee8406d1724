// The hash of a state: two states are equal, bit for bit, when (almost surely) their hashes are.
#pragma once

#include "core/hash.h"
#include "core/state.h"

namespace flotsam {

class HashingVisitor : public StateVisitor {
  public:
    std::uint64_t value() const { return hasher_.value(); }

  protected:
    void visit(const std::string& name, ElementKind kind, std::size_t width, std::size_t count,
               const void* data, Resize, void*) override {
        const std::uint64_t shape[] = {name.size(), std::uint64_t(kind), width, count};
        hasher_.add(shape, sizeof shape);
        hasher_.add(name.data(), name.size());
        hasher_.add(data, count * width * element_size(kind));
    }

  private:
    Hasher hasher_;
};

// `visit_state` lists the state to the visitor that it is given.
template <class VisitState>
std::uint64_t state_hash(const VisitState& visit_state) {
    HashingVisitor visitor;
    visit_state(static_cast<StateVisitor&>(visitor));
    return visitor.value();
}

}  // namespace flotsam
