// One class of registers, and the values in them.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/engine/jit/ir.hpp"

namespace gdr::jit {

/// One class of registers and the values in them.
class RegisterFile {
 public:
  static constexpr int none = -1;

  /// Registers 0 .. count - 1, without those below `first`.
  RegisterFile(unsigned first, unsigned count, std::size_t values)
      : first_(first), holder_(count, no_value), pinned_(count, false), register_(values, none) {}

  int where(ValueId value) const noexcept { return register_[value]; }
  ValueId holder(int r) const noexcept { return holder_[static_cast<std::size_t>(r)]; }
  void put(ValueId value, int r) noexcept {
    holder_[static_cast<std::size_t>(r)] = value;
    register_[value] = r;
  }
  void drop(ValueId value) noexcept {
    if (register_[value] == none) return;
    holder_[static_cast<std::size_t>(register_[value])] = no_value;
    register_[value] = none;
  }
  void pin(int r, bool on) noexcept { pinned_[static_cast<std::size_t>(r)] = on; }
  bool is_free(int r) const noexcept {
    return holder(r) == no_value && !pinned_[static_cast<std::size_t>(r)];
  }
  void unpin_all() noexcept { pinned_.assign(pinned_.size(), false); }

  /// A free register, if possible one for which `avoid` is false, or none.
  template <typename Avoid>
  int find_free(Avoid avoid) const noexcept {
    int found = none;
    for (unsigned r = first_; r < holder_.size(); ++r) {
      const int n = static_cast<int>(r);
      if (!is_free(n)) continue;
      if (!avoid(n)) return n;
      found = n;
    }
    return found;
  }
  /// The register whose value `next_use` says is needed latest.
  template <typename NextUse>
  int find_victim(NextUse next_use) const noexcept {
    int best = none;
    std::uint64_t latest = 0;
    for (unsigned r = first_; r < holder_.size(); ++r) {
      if (pinned_[r] || holder_[r] == no_value) continue;
      const std::uint64_t use = next_use(holder_[r]);
      if (best != none && use <= latest) continue;
      best = static_cast<int>(r);
      latest = use;
    }
    return best;
  }

 private:
  unsigned first_;
  std::vector<ValueId> holder_;  ///< value in each register
  std::vector<bool> pinned_;
  std::vector<int> register_;  ///< register of each value
};

}  // namespace gdr::jit
