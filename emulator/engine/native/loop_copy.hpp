// Copies of a loop's values for its segments.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "emulator/engine/native/segment.hpp"

namespace gdr::native {

/// Copies the values of a pass into other graphs.
class LoopCopy {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  /// Copies in one graph, by value and delay.
  using Made = std::map<std::pair<Ref, std::uint32_t>, Ref>;

  explicit LoopCopy(const Kernel& kernel);

  const Kernel& kernel() const noexcept { return k_; }
  const Graph& graph() const noexcept { return k_.graph; }
  /// The carried location that a node is the input of, or none.
  std::size_t carried(const Node& node) const;
  /// By node: whether it depends on loop-carried values.
  std::vector<bool> depends_on_carried() const;

  /// A value for the groups of `delay` passes ago. With `through`, delayed locations stand for the
  /// values of the previous pass.
  Ref copy(Graph& to, Ref r, bool through, std::uint32_t delay, Made& made) const;

  std::vector<bool> delayed;  ///< by carried location: computed one pass late

 private:
  const Kernel& k_;
  std::map<std::uint32_t, std::size_t> carried_of_;
};

/// A carried location's next value, as a store.
Store carried_store(const Kernel& kernel, std::size_t c, Ref value);

}  // namespace gdr::native
