#include "libgdr/debug/checkpoints.hpp"

#include <algorithm>

namespace gdr {
namespace {

/// A copy takes as long as some instructions of all PEs.
constexpr std::uint64_t first_distance = 32;
constexpr std::size_t max_bytes = std::size_t{256} << 20;
constexpr std::size_t min_copies = 16, max_copies = 512;

}  // namespace

Checkpoints::Checkpoints(const Machine& machine) : distance_(first_distance) {
  entries_.push_back({0, machine.snapshot()});
  const std::size_t bytes = std::max<std::size_t>(1, entries_.front().snapshot.bytes());
  limit_ = std::clamp(max_bytes / bytes, min_copies, max_copies);
}

void Checkpoints::offer(std::uint64_t position, const Machine& machine) {
  if (position < entries_.back().position + distance_) return;
  if (entries_.size() >= limit_) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < entries_.size(); k += 2) entries_[kept++] = std::move(entries_[k]);
    entries_.resize(kept);
    distance_ *= 2;
    if (position < entries_.back().position + distance_) return;
  }
  entries_.push_back({position, machine.snapshot()});
}

const Checkpoints::Entry& Checkpoints::before(std::uint64_t position) const noexcept {
  const auto after = std::ranges::upper_bound(entries_, position, {}, &Entry::position);
  return *(after - 1);
}

void Checkpoints::replace_from(std::uint64_t position, const Machine& machine) {
  while (!entries_.empty() && entries_.back().position >= position) entries_.pop_back();
  entries_.push_back({position, machine.snapshot()});
}

}  // namespace gdr
