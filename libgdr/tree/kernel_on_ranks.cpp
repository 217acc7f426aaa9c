#include "libgdr/tree/kernel_on_ranks.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libgdr/ranks/gathered.hpp"

namespace gdr::tree {
namespace {

std::vector<std::uint32_t> as_given(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

/// Whether an array of a call stands for a variable.
template <typename Named>
bool has_array(const LinkGroup& group, std::span<const Named> arrays, std::string_view name) {
  return std::ranges::any_of(arrays, [&](const Named& a) {
    const std::span<const LinkField> fields = fields_named(group, a.name);
    return std::ranges::find(fields, name, &LinkField::name) != fields.end();
  });
}

/// The variables of this rank's arrays, in an array of those of all ranks.
std::vector<VariableColumn> placed_columns(const std::vector<VariableColumn>& variables,
                                           const LinkGroup& group,
                                           std::span<const NamedInput> arrays,
                                           std::span<const std::size_t> offsets, std::size_t rank,
                                           unsigned threads) {
  std::vector<VariableColumn> own;
  for (const VariableColumn& v : variables)
    if (has_array(group, arrays, v.name)) own.push_back(v);
  fill_columns(group, arrays, as_given(offsets[rank + 1] - offsets[rank]), threads, own);
  const auto place = [&](auto& values) {
    auto all = std::exchange(values, {});
    values.resize(offsets.back());
    std::ranges::copy(all, values.begin() + static_cast<std::ptrdiff_t>(offsets[rank]));
  };
  for (VariableColumn& column : own)
    column.integer ? place(column.integers) : place(column.numbers);
  return own;
}

void place_positions(std::span<const double> own, std::span<const std::size_t> offsets,
                     std::size_t rank, std::vector<double>& all) {
  all.resize(3 * offsets.back());
  std::ranges::copy(own, all.begin() + static_cast<std::ptrdiff_t>(3 * offsets[rank]));
}

std::size_t bytes_of(const std::vector<VariableColumn>& columns) {
  std::size_t items = 0;
  for (const VariableColumn& c : columns) items += c.numbers.size() + c.integers.size();
  return items * sizeof(double);
}

}  // namespace

AllKernelParticles::AllKernelParticles(RankGroup& ranks, const KernelForm& form,
                                       const KernelInput& own, unsigned threads)
    : rank_(ranks.rank()),
      source_offsets_(offsets_of_ranks(ranks, own.source_pos.size() / 3)),
      target_offsets_(own.same ? source_offsets_
                               : offsets_of_ranks(ranks, own.target_pos.size() / 3)) {
  collectively(&ranks, [&] { place(ranks, form, own, threads); });
  const auto gather = [&](void* all, std::size_t bytes, std::span<const std::size_t> offsets) {
    bytes_received_ += gather_items(ranks, all, bytes, offsets);
  };
  gather(source_pos_.data(), 3 * sizeof(double), source_offsets_);
  if (!own.same) gather(target_pos_.data(), 3 * sizeof(double), target_offsets_);
  const auto gather_columns = [&](std::vector<VariableColumn>& columns,
                                  std::span<const std::size_t> offsets) {
    static_assert(sizeof(double) == sizeof(std::int64_t));
    for (VariableColumn& c : columns)
      gather(c.integer ? static_cast<void*>(c.integers.data()) : c.numbers.data(), sizeof(double),
             offsets);
  };
  gather_columns(sources_, source_offsets_);
  gather_columns(targets_, target_offsets_);
}

void AllKernelParticles::place(RankGroup& ranks, const KernelForm& form, const KernelInput& own,
                               unsigned threads) {
  const std::size_t rank = ranks.rank();
  place_positions(own.source_pos, source_offsets_, rank, source_pos_);
  if (!own.same) place_positions(own.target_pos, target_offsets_, rank, target_pos_);
  sources_ =
      placed_columns(form.sources, *own.sources_group, own.sources, source_offsets_, rank, threads);
  targets_ =
      placed_columns(form.targets, *own.targets_group, own.targets, target_offsets_, rank, threads);
  for (const VariableColumn& v : form.results)
    if (has_array(*own.results_group, own.results, v.name)) {
      results_.push_back(v);
      results_.back().resize(target_offsets_.back());
    }
  source_inputs_ = inputs_of(sources_);
  target_inputs_ = inputs_of(targets_);
  for (VariableColumn& c : results_) named_results_.push_back({c.name, c.numbers});
  input_ = own;
  input_.source_pos = source_pos_;
  input_.target_pos = own.same ? source_pos_ : target_pos_;
  input_.sources = source_inputs_;
  input_.targets = target_inputs_;
  input_.results = named_results_;
}

void AllKernelParticles::copy_results(const KernelInput& own) const {
  const std::size_t first = target_offsets_[rank_], end = target_offsets_[rank_ + 1];
  std::vector<VariableColumn> part;
  for (const VariableColumn& c : results_) {
    const auto begin = c.numbers.begin();
    part.push_back(
        {c.name,
         false,
         {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end)}});
  }
  write_results(*own.results_group, own.results, as_given(end - first), 1, part);
}

std::size_t AllKernelParticles::sources_bytes() const noexcept {
  return source_pos_.size() * sizeof(double) + bytes_of(sources_);
}

std::size_t AllKernelParticles::bytes() const noexcept {
  return sources_bytes() + target_pos_.size() * sizeof(double) + bytes_of(targets_) +
         bytes_of(results_);
}

}  // namespace gdr::tree
