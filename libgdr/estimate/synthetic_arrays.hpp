// Arrays for all variables of a kernel, for runs whose times are measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/kernel.hpp"

namespace gdr {

/// Inputs and results for the variables of one role.
class SyntheticArrays {
 public:
  /// Of n items. With `omit_positions` without variables of the quantity "pos".
  SyntheticArrays(const Kernel& kernel, Role role, std::size_t n, bool omit_positions = false);

  const std::vector<NamedInput>& inputs() const noexcept { return inputs_; }
  const std::vector<NamedResult>& results() const noexcept { return results_; }

 private:
  void add_input(const KernelVariable& variable, std::size_t n);
  void add_result(const KernelVariable& variable, std::size_t n);

  std::deque<std::vector<double>> numbers_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<std::int64_t>> integers_;
  std::vector<NamedInput> inputs_;
  std::vector<NamedResult> results_;
};

/// Coordinates of n particles of a Plummer sphere, three of each.
std::vector<double> plummer_positions(std::size_t n);

}  // namespace gdr
