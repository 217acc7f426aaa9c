// The code of a section, by what it is specialised for.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "emulator/engine/native/program/compiled_kernels.hpp"
#include "emulator/host/stopwatch.hpp"

namespace gdr::native {

/// Code that is made at its first use, by one thread. Thread-safe.
class CodeCache {
 public:
  using Key = CompiledKernels::Key;

  /// The code of a key, made by `make()`, which may return null.
  template <typename Make>
  const CompiledKernels* get(const Key& key, Make make) {
    const CompiledKernels* const last = last_.load(std::memory_order_acquire);
    if (last != nullptr && last->key == key) return last;
    if (const auto found = find(key)) return *found;
    const std::unique_lock lock(mutex_);
    if (const auto found = made_.find(key); found != made_.end()) return found->second.get();
    const Stopwatch timer;
    const auto [at, is_new] = made_.emplace(key, make());
    if (at->second) at->second->key = key;
    seconds_ = seconds_ + timer.seconds();
    return at->second.get();
  }

  /// Time spent making code, s.
  double seconds() const noexcept { return seconds_; }

 private:
  std::optional<const CompiledKernels*> find(const Key& key) {
    const std::shared_lock lock(mutex_);
    const auto found = made_.find(key);
    if (found == made_.end()) return std::nullopt;
    if (found->second) last_.store(found->second.get(), std::memory_order_release);
    return found->second.get();
  }

  std::shared_mutex mutex_;
  std::map<Key, std::unique_ptr<CompiledKernels>> made_;
  std::atomic<const CompiledKernels*> last_ = nullptr;  ///< most recently found code
  std::atomic<double> seconds_ = 0;                     ///< time spent making code, s
};

}  // namespace gdr::native
