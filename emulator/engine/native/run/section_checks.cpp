#include "emulator/engine/native/run/section_checks.hpp"

#include <algorithm>
#include <cmath>

namespace gdr::native {
namespace {

/// Whether n adjacent floats are finite. Two at a time, without comparisons: adding one to an
/// exponent of all ones carries into the sign bit.
bool all_finite(const std::byte* from, std::size_t n) {
  constexpr std::uint64_t both = 0x1'0000'0001, sign = both << 31, one = both << 23;
  std::uint64_t found = 0;
  std::size_t i = 0;
  for (; i + 2 <= n; i += 2)
    found |= (load_lane<std::uint64_t>(from + i * sizeof(float)) & (sign - both)) + one;
  if (i < n)
    found |= (load_lane<std::uint32_t>(from + i * sizeof(float)) & ((1U << 31) - 1)) + (1U << 23);
  return (found & sign) == 0;
}

/// Results of a kernel that depend on functions which are zero below an end (Function::Exp).
struct VanishingResults {
  std::vector<std::uint32_t> offsets;  ///< offsets of the results in a work item, bytes
  bool masked = false;                 ///< zero may mean that a PE has no terms at all

  explicit VanishingResults(const KernelCode& code) {
    for (const Store& store : code.once.stores) {
      if (!store.may_vanish || store.area != Store::Area::Output) continue;
      offsets.push_back(code.layout.output(store.slot));
      masked = masked || store.may_be_masked;
    }
  }
  /// Whether each of n lanes has a result that is large beside the terms that are zero; `together`:
  /// whether they have, as lanes of one target.
  bool have_size(const std::byte* item, std::size_t n, bool together) const {
    constexpr float small = 0x1p-60F;
    const auto is_small = [&](float most) { return most < small && !(masked && most == 0); };
    float largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      float most = 0;
      for (const std::uint32_t offset : offsets)
        most = std::max(most, std::abs(load_lane<float>(item + offset + i * sizeof(float))));
      if (!together && is_small(most)) return false;
      largest = std::max(largest, most);
    }
    return !together || !is_small(largest);
  }
};

}  // namespace

bool results_are_finite(const SectionFrame& f) {
  for (std::size_t k = 0; k < f.section.kernels().size(); ++k) {
    const WorkItems items = f.work_items(k);
    const auto& entry = f.code->kernels[k];
    for (const RowTransfer& t : f.active(entry.out)) {
      if (t.key.type != WordType::Long && t.key.type != WordType::Short) continue;
      const std::byte* from = items.place(t);
      for (std::size_t first = 0; first < f.live; first += f.lanes(), from += items.bytes)
        if (!all_finite(from, std::min<std::size_t>(f.lanes(), f.live - first))) return false;
    }
  }
  return true;
}

bool results_are_numbers(const SectionFrame& f) {
  for (std::size_t k = 0; k < f.section.kernels().size(); ++k) {
    const auto& entry = f.code->kernels[k];
    if (!entry.code.has_roots()) continue;
    const WorkItems items = f.work_items(k);
    for (const RowTransfer& t : f.active(entry.out)) {
      if (t.key.type != WordType::Long && t.key.type != WordType::Short) continue;
      const std::byte* from = items.place(t);
      for (std::size_t first = 0; first < f.live; first += f.lanes(), from += items.bytes)
        if (has_no_value(from, std::min<std::size_t>(f.lanes(), f.live - first),
                         f.code->target.isa))
          return false;
    }
  }
  return true;
}

bool all_may_vanish(const SectionFrame& f) {
  return std::ranges::all_of(f.code->kernels, [](const CompiledKernels::Entry& entry) {
    return std::ranges::all_of(entry.code.once.stores, [](const Store& store) {
      return store.area != Store::Area::Output || !is_number(store.type) || store.may_vanish;
    });
  });
}

bool have_not_vanished(const SectionFrame& f) {
  for (std::size_t k = 0; k < f.section.kernels().size(); ++k) {
    const VanishingResults results(f.code->kernels[k].code);
    if (results.offsets.empty()) continue;
    const WorkItems items = f.work_items(k);
    const std::byte* item = items.first;
    for (std::size_t n = 0; n < f.instances(k) * f.chunks; ++n, item += items.bytes) {
      const std::size_t first = n % f.chunks * f.lanes();
      if (!results.have_size(item, std::min<std::size_t>(f.lanes(), f.live - first),
                             f.variant.source_vectors))
        return false;
    }
  }
  return true;
}

}  // namespace gdr::native
