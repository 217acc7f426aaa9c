// Nodes of a graph on rows of sample points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/engine/native/translate/idiom_domain.hpp"

namespace gdr::native {

/// Evaluation of some nodes of a cone, which begins with its number, on rows.
class RowSequence {
 public:
  RowSequence(const Graph& graph, const std::vector<std::uint32_t>& cone,
              const std::vector<std::uint32_t>& wanted);

  void run(const SampleRow& x);
  /// Equal for equal computations.
  std::vector<std::uint64_t> key() const;
  std::size_t row_of_node(std::uint32_t n) const { return row_[n]; }
  const SampleRow& values(std::uint32_t n) const { return rows_[row_[n]]; }

 private:
  struct Step {
    Node node;
    std::size_t a, b, c, to;
  };
  std::vector<SampleRow> rows_;
  std::vector<std::size_t> row_;  ///< row of each node
  std::vector<std::pair<std::size_t, std::uint64_t>>
      constants_;  ///< rows of constants, and their bits
  std::vector<Step> steps_;
};

}  // namespace gdr::native
