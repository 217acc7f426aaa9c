// Values of a graph at given numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "emulator/engine/native/translate/cone.hpp"

namespace gdr::native {

/// The values that depend on some numbers and constants alone.
class GraphValues {
 public:
  GraphValues(const Graph& g, Cones& cones, std::vector<Ref> numbers);

  /// Sets the numbers, in their order, and computes all others.
  void evaluate_at(std::initializer_list<double> numbers);
  double number(std::uint32_t n) const { return std::bit_cast<double>(values_[*place_of(n)]); }

  /// Numbers that depend on the bits of numbers, in the order of the graph.
  std::vector<std::uint32_t> results() const;

 private:
  /// An operand: the place of its value, or a constant.
  struct Operand {
    std::optional<std::size_t> place;
    std::uint64_t constant = 0;
    bool negated = false;
  };
  struct Step {
    Node node;
    Operand a, b, c;
    bool from_bits = false;  ///< whether it depends on the bits of a number
  };

  std::optional<std::size_t> place_of(std::uint32_t n) const;
  Operand operand(Ref r) const;
  bool is_from_bits(const Operand& x) const;
  std::uint64_t value(const Operand& x) const;

  const Graph& g_;
  std::vector<Ref> numbers_;
  std::vector<std::uint32_t> nodes_;
  std::vector<Step> steps_;            ///< step of each node
  std::vector<std::uint64_t> values_;  ///< values of numbers, then of nodes
};

}  // namespace gdr::native
