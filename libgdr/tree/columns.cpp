#include "libgdr/tree/columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "emulator/host/for_blocks.hpp"
#include "gdr/error.hpp"

namespace gdr::tree {
namespace {

constexpr std::size_t rows_of_task = 1 << 14;

/// Element e of an array whose items have `numbers` elements: where its first item is, and how far
/// apart items are, bytes.
template <typename Byte>
struct Place {
  Byte* first;
  std::ptrdiff_t step;
};

template <typename Byte, typename Array>
Place<Byte> place_of(const Array& array, std::size_t numbers, std::size_t e) {
  return {static_cast<Byte*>(array.data) + static_cast<std::ptrdiff_t>(e) * array.stride,
          array.item_stride != 0 ? array.item_stride
                                 : static_cast<std::ptrdiff_t>(numbers) * array.stride};
}

/// Copies items of the type From.
template <typename From, typename To>
void gather(Place<const std::byte> from, std::span<const std::uint32_t> order, unsigned threads,
            std::vector<To>& to) {
  to.resize(order.size());
  for_blocks(order.size(), rows_of_task, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      From value;
      std::memcpy(&value, from.first + static_cast<std::ptrdiff_t>(order[k]) * from.step,
                  sizeof value);
      to[k] = static_cast<To>(value);
    }
  });
}

template <typename To>
void scatter(const std::vector<double>& from, std::span<const std::uint32_t> order,
             unsigned threads, Place<std::byte> to) {
  for_blocks(order.size(), rows_of_task, threads, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      const auto value = static_cast<To>(from[k]);
      std::memcpy(to.first + static_cast<std::ptrdiff_t>(order[k]) * to.step, &value, sizeof value);
    }
  });
}

void check_finite(std::string_view name, const std::vector<double>& values,
                  std::span<const std::uint32_t> order) {
  const auto bad = std::ranges::find_if(values, [](double x) { return !std::isfinite(x); });
  if (bad == values.end()) return;
  // The first in the caller's order.
  std::size_t least = order.size();
  double value = *bad;
  for (std::size_t k = 0; k < order.size(); ++k)
    if (!std::isfinite(values[k]) && order[k] < least) {
      least = order[k];
      value = values[k];
    }
  throw Error(ErrorCategory::Input, std::string(name) + "[" + std::to_string(least) + "] is " +
                                        std::to_string(value) + "; values must be finite");
}

void fill(VariableColumn& column, const NamedInput& given, std::size_t numbers, std::size_t e,
          std::span<const std::uint32_t> order, unsigned threads) {
  const auto from = place_of<const std::byte>(given.array, numbers, e);
  switch (given.array.type) {
    case HostNumber::F32:
      gather<float>(from, order, threads, column.numbers);
      break;
    case HostNumber::I32:
      gather<std::int32_t>(from, order, threads, column.integers);
      break;
    case HostNumber::I64:
      gather<std::int64_t>(from, order, threads, column.integers);
      break;
    default:
      gather<double>(from, order, threads, column.numbers);
      break;
  }
  if (!column.integer) check_finite(given.name, column.numbers, order);
}

template <typename Column>
Column* named(std::span<Column> columns, std::string_view name) {
  const auto found = std::ranges::find(columns, name, &VariableColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace

std::vector<VariableColumn> columns_of(const Kernel& kernel, Role role) {
  std::vector<VariableColumn> columns;
  for (const KernelVariable& v : kernel.variables()) {
    if (v.role != role) continue;
    if (v.type == HostNumber::Raw)
      throw Error(ErrorCategory::Unsupported,
                  "variable \"" + v.name + "\" of kernel \"" + kernel.name() +
                      "\" has the machine's bits; a tree needs numbers");
    columns.push_back({v.name, v.type == HostNumber::I64});
  }
  return columns;
}

void fill_columns(const LinkGroup& group, std::span<const NamedInput> arrays,
                  std::span<const std::uint32_t> order, unsigned threads,
                  std::vector<VariableColumn>& columns) {
  for (const LinkField& field : group.fields)
    if (VariableColumn* const column = named(std::span(columns), field.name);
        column != nullptr && field.default_value)
      column->integers.assign(order.size(), *field.default_value);
  for (const NamedInput& given : arrays) {
    const std::span<const LinkField> fields = fields_named(group, given.name);
    for (std::size_t e = 0; e < fields.size(); ++e)
      if (VariableColumn* const column = named(std::span(columns), fields[e].name))
        fill(*column, given, fields.size(), e, order, threads);
  }
}

std::vector<NamedInput> inputs_of(std::span<const VariableColumn> columns) {
  std::vector<NamedInput> inputs;
  for (const VariableColumn& column : columns) inputs.push_back(column.input());
  return inputs;
}

void write_results(const LinkGroup& group, std::span<const NamedResult> arrays,
                   std::span<const std::uint32_t> order, unsigned threads,
                   std::span<const VariableColumn> columns) {
  for (const NamedResult& result : arrays) {
    const std::span<const LinkField> fields = fields_named(group, result.name);
    for (std::size_t e = 0; e < fields.size(); ++e) {
      const VariableColumn* const column = named(columns, fields[e].name);
      if (column == nullptr) continue;
      const auto to = place_of<std::byte>(result.array, fields.size(), e);
      if (result.array.type == HostNumber::F32)
        scatter<float>(column->numbers, order, threads, to);
      else
        scatter<double>(column->numbers, order, threads, to);
    }
  }
}

}  // namespace gdr::tree
