// Shapes of values: numbers, vectors of two and three components, symmetric tensors and complex
// numbers, with the names of their components.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gdr::kc::front {

enum class Shape : std::uint8_t { Scalar, Plane, Vector, Tensor, Complex };

struct ShapeInfo {
  std::string_view name;    ///< name in declarations and messages
  char letter = 'n';        ///< name in the forms of functions (vectors.cpp)
  std::uint32_t count = 1;  ///< number of components
  std::array<std::string_view, 6> components{};
};

/// By Shape. The components of a tensor are those of the upper triangle, row by row.
constexpr std::array<ShapeInfo, 5> shape_infos{{
    {"number", 'n', 1, {}},
    {"vec2", 'p', 2, {"x", "y"}},
    {"vec3", 'v', 3, {"x", "y", "z"}},
    {"sym3", 't', 6, {"xx", "xy", "xz", "yy", "yz", "zz"}},
    {"complex", 'c', 2, {"re", "im"}},
}};
/// The shapes that have components.
inline constexpr std::array shapes_of_parts{Shape::Plane, Shape::Vector, Shape::Tensor,
                                            Shape::Complex};

constexpr const ShapeInfo& info(Shape shape) noexcept {
  return shape_infos[static_cast<std::size_t>(shape)];
}

/// Whether components are numbered, and multiplied one by one.
constexpr bool is_vector(Shape shape) noexcept {
  return shape == Shape::Plane || shape == Shape::Vector;
}

/// Index of a component by its name; of a tensor also by that with swapped letters.
constexpr std::optional<std::uint32_t> component_of(Shape shape, std::string_view name) noexcept {
  const ShapeInfo& s = info(shape);
  for (std::uint32_t k = 0; k < s.count && shape != Shape::Scalar; ++k) {
    const std::string_view c = s.components[k];
    const bool swapped = name.size() == 2 && c.size() == 2 && name[0] == c[1] && name[1] == c[0];
    if (c == name || swapped) return k;
  }
  return std::nullopt;
}

}  // namespace gdr::kc::front
