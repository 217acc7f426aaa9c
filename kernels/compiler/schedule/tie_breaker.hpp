// Random choices of the scheduler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::kc {

/// A fixed sequence that breaks ties, the same on all hosts (xorshift64*).
class TieBreaker {
 public:
  explicit TieBreaker(std::uint64_t sequence) : state_(0x9e3779b97f4a7c15ULL * (sequence + 1)) {}
  std::size_t below(std::size_t n) noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::size_t>(((state_ * 0x2545f4914f6cdd1dULL) >> 16) % n);
  }

 private:
  std::uint64_t state_;
};

}  // namespace gdr::kc
