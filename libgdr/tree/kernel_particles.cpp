#include "libgdr/tree/kernel_particles.hpp"

#include <algorithm>
#include <utility>

#include "emulator/host/for_blocks.hpp"

namespace gdr::tree {
namespace {

bool is_given(const LinkGroup& group, std::span<const NamedInput> arrays, std::string_view name) {
  return std::ranges::any_of(arrays, [&](const NamedInput& a) {
    const std::span<const LinkField> fields = fields_named(group, a.name);
    return std::ranges::find(fields, name, &LinkField::name) != fields.end();
  });
}

}  // namespace

KernelForm form_of(const Kernel& kernel, KernelCharges charges) {
  KernelForm form;
  for (const KernelVariable& v : kernel.variables()) {
    if (v.quantity != "pos" || v.squared || v.component >= 3) continue;
    if (v.role == Role::Target) form.target_pos[v.component] = v.name;
    if (v.role == Role::Source) form.source_pos[v.component] = v.name;
  }
  form.charges = std::move(charges);
  form.targets = columns_of(kernel, Role::Target);
  form.sources = columns_of(kernel, Role::Source);
  form.results = columns_of(kernel, Role::Result);
  form.vectors = result_vectors(kernel);
  return form;
}

VariableColumn& column_named(std::vector<VariableColumn>& columns, std::string_view name) {
  return *std::ranges::find(columns, name, &VariableColumn::name);
}
const VariableColumn& column_named(const std::vector<VariableColumn>& columns,
                                   std::string_view name) {
  return *std::ranges::find(columns, name, &VariableColumn::name);
}

std::vector<VariableColumn> KernelParticles::sources(std::span<const std::uint32_t> order) const {
  std::vector<VariableColumn> columns = form_.sources;
  fill_columns(*input_.sources_group, input_.sources, order, threads_, columns);
  place(input_.source_pos, order, form_.source_pos, columns);
  for (const ComparedNumbers& n : form_.charges.numbers)
    if (are_particles(n)) column_named(columns, n.source).integers = {order.begin(), order.end()};
  return columns;
}

KernelTargets KernelParticles::targets(std::span<const std::uint32_t> order) const {
  KernelTargets out{form_.targets, form_.results};
  fill_columns(*input_.targets_group, input_.targets, order, threads_, out.inputs);
  place(input_.target_pos, order, form_.target_pos, out.inputs);
  for (const ComparedNumbers& n : form_.charges.numbers)
    if (are_particles(n))
      column_named(out.inputs, n.target).integers = {order.begin(), order.end()};
  out.resize_results(order.size());
  return out;
}

bool KernelParticles::are_particles(const ComparedNumbers& n) const {
  return input_.same && !is_given(*input_.targets_group, input_.targets, n.target) &&
         !is_given(*input_.sources_group, input_.sources, n.source);
}

void KernelParticles::place(std::span<const double> x, std::span<const std::uint32_t> order,
                            const std::array<std::string, 3>& names,
                            std::vector<VariableColumn>& columns) const {
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double>& to = column_named(columns, names[c]).numbers;
    to.resize(order.size());
    for_blocks(order.size(), 1 << 14, threads_, [&](std::size_t first, std::size_t last) {
      for (std::size_t k = first; k < last; ++k) to[k] = x[3 * std::size_t{order[k]} + c];
    });
  }
}

bool has_distant_twins(const KernelForm& form, const std::vector<VariableColumn>& targets,
                       const std::vector<VariableColumn>& sources, std::size_t n_targets,
                       std::size_t n_sources) {
  constexpr std::ptrdiff_t max_twins = 64;
  const auto at_one_place = [&](std::size_t i, std::size_t j) {
    for (std::size_t c = 0; c < 3; ++c)
      if (column_named(targets, form.target_pos[c]).numbers[i] !=
          column_named(sources, form.source_pos[c]).numbers[j])
        return false;
    return true;
  };
  for (const ComparedNumbers& n : form.charges.numbers) {
    const std::vector<std::int64_t>& of_targets = column_named(targets, n.target).integers;
    const std::vector<std::int64_t>& of_sources = column_named(sources, n.source).integers;
    std::vector<std::pair<std::int64_t, std::uint32_t>> sorted;
    for (std::size_t j = 0; j < n_sources; ++j)
      sorted.emplace_back(of_sources[j], static_cast<std::uint32_t>(j));
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < n_targets; ++i) {
      const auto twins = std::ranges::equal_range(sorted, of_targets[i], {},
                                                  [](const auto& s) { return s.first; });
      if (std::ssize(twins) > max_twins) return true;
      for (const auto& [number, j] : twins)
        if (!at_one_place(i, j)) return true;
    }
  }
  return false;
}

std::int64_t unused_number(std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  std::int64_t number = -2;
  while (std::ranges::binary_search(numbers, number)) --number;
  return number;
}

}  // namespace gdr::tree
