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
      : first_(first), holder_(count, no_value), register_(values, none) {}

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
  void pin(int r, bool on) noexcept { pinned_ = (pinned_ & ~bit(r)) | (on ? bit(r) : 0); }
  bool is_free(int r) const noexcept { return holder(r) == no_value && !is_pinned(r); }
  void unpin_all() noexcept { pinned_ = 0; }

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
      if (holder_[r] == no_value || is_pinned(static_cast<int>(r))) continue;
      const std::uint64_t use = next_use(holder_[r]);
      if (best != none && use <= latest) continue;
      best = static_cast<int>(r);
      latest = use;
    }
    return best;
  }

 private:
  static std::uint64_t bit(int r) noexcept { return std::uint64_t{1} << r; }
  bool is_pinned(int r) const noexcept { return (pinned_ & bit(r)) != 0; }

  unsigned first_;
  std::vector<ValueId> holder_;  ///< value in each register
  std::uint64_t pinned_ = 0;     ///< set of registers: no host has more than 64 of a class
  std::vector<int> register_;    ///< register of each value
};

}  // namespace gdr::jit
