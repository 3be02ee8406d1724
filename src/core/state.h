// One path for saving, restoring and hashing state: its owner lists it once to a StateVisitor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace flotsam {

// The type of an array's numbers, so that other programs can read a state file.
enum class ElementKind { int32, int64, uint64, float32, float64 };

constexpr std::size_t element_size(ElementKind kind) {
    return kind == ElementKind::int32 || kind == ElementKind::float32 ? 4 : 8;
}

class StateVisitor {
  public:
    virtual ~StateVisitor() = default;

    // Saving and hashing read `bytes`; restoring calls `resize(count)` and fills what it returns.
    template <class T>
    void array(const std::string& name, std::vector<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        using Element = typename ElementOf<T>::type;
        static_assert((std::is_arithmetic_v<Element> || std::is_enum_v<Element>)&&sizeof(Element) >= 4,
                      "ElementKind has no name for this type");
        // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be its own element
        constexpr std::size_t width = sizeof(T) / sizeof(Element);
        visit(
            name, kind<Element>(), width, values.size(), values.data(),
            [](void* v, std::size_t count) -> void* {
                auto& vector = *static_cast<std::vector<T>*>(v);
                vector.resize(count);
                return vector.data();
            },
            &values);
    }
    template <class T>
    void scalar(const std::string& name, T& value) {
        std::vector<T> one{value};
        array(name, one);
        if (!one.empty()) value = one.front();
    }

  protected:
    using Resize = void* (*)(void* vector, std::size_t count);
    // An array of `count` items of `width` numbers each.
    virtual void visit(const std::string& name, ElementKind kind, std::size_t width, std::size_t count,
                       const void* data, Resize resize, void* vector) = 0;

  private:
    template <class T, class = void>
    struct ElementOf {
        using type = T;
    };
    template <class T>
    struct ElementOf<T, std::void_t<decltype(std::declval<T&>().x)>> {
        using type = std::remove_reference_t<decltype(std::declval<T&>().x)>;
    };
    template <class E>
    static constexpr ElementKind kind() {
        if constexpr (std::is_same_v<E, float>)
            return ElementKind::float32;
        else if constexpr (std::is_same_v<E, double>)
            return ElementKind::float64;
        else if constexpr (sizeof(E) == 4)
            return ElementKind::int32;
        else if constexpr (std::is_unsigned_v<E>)
            return ElementKind::uint64;
        else
            return ElementKind::int64;
    }
};

}  // namespace flotsam
