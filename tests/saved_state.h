// Keeps a state in memory and gives it back.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/state.h"

namespace flotsam {

using SavedState = std::map<std::string, std::vector<char>>;

class SavingVisitor final : public StateVisitor {
  public:
    SavedState saved;

  protected:
    void visit(const std::string& name, ElementKind kind, std::size_t width, std::size_t count,
               const void* data, Resize, void*) override {
        const char* bytes = static_cast<const char*>(data);
        const std::size_t size = count * width * element_size(kind);
        CHECK(saved.emplace(name, std::vector<char>(bytes, bytes + size)).second);
    }
};

class RestoringVisitor final : public StateVisitor {
  public:
    explicit RestoringVisitor(const SavedState& saved) : saved_(saved) {}

  protected:
    void visit(const std::string& name, ElementKind kind, std::size_t width, std::size_t, const void*,
               Resize resize, void* vector) override {
        const std::vector<char>& bytes = saved_.at(name);
        void* to = resize(vector, bytes.size() / (width * element_size(kind)));
        if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    }

  private:
    const SavedState& saved_;
};

}  // namespace flotsam
