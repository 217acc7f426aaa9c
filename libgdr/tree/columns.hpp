// The variables of a kernel's particles as arrays in the order of a tree, and results back in the
// caller's order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "libgdr/device/arrays.hpp"

namespace gdr::tree {

/// The values of one variable: numbers, or integers.
struct VariableColumn {
  std::string name;
  bool integer = false;
  std::vector<double> numbers = {};
  std::vector<std::int64_t> integers = {};

  void resize(std::size_t n) { integer ? integers.resize(n) : numbers.resize(n); }
  NamedInput input() const { return {name, integer ? ConstArray(integers) : ConstArray(numbers)}; }
};

/// Columns of the kernel's variables of one role, empty. Throws Error (Unsupported) for a variable
/// of the machine's bits.
std::vector<VariableColumn> columns_of(const Kernel& kernel, Role role);

/// Fills columns from arrays that have been checked for a group: row k has the values of item
/// order[k]. Columns without an array get the default of their variable. Throws Error (Input), with
/// name and index, for a number that is not finite.
void fill_columns(const LinkGroup& group, std::span<const NamedInput> arrays,
                  std::span<const std::uint32_t> order, unsigned threads,
                  std::vector<VariableColumn>& columns);

std::vector<NamedInput> inputs_of(std::span<const VariableColumn> columns);

/// Copies row k of a result's numbers to item order[k] of the caller's arrays. Arrays of other
/// results are left.
void write_results(const LinkGroup& group, std::span<const NamedResult> arrays,
                   std::span<const std::uint32_t> order, unsigned threads,
                   std::span<const VariableColumn> columns);

}  // namespace gdr::tree
