// Memory for the host's vectors.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gdr {

/// Memory that begins at a cache line, so that no vector of the host straddles two. Large
/// allocations use large pages where the host has them: fewer TLB misses and cache conflicts.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64}, large_page{std::size_t{1} << 21};
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    void* const memory = ::operator new(n * sizeof(T), alignment(n));
    advise(memory, n);
    return static_cast<T*>(memory);
  }
  void deallocate(T* p, std::size_t n) noexcept { ::operator delete(p, alignment(n)); }
  /// Zeros. What nobody touches costs no time: the host zeroes new pages on their first use.
  static std::shared_ptr<T[]> zeros(std::size_t n) {
    const auto border = static_cast<std::size_t>(alignment(n));
    std::size_t room = n * sizeof(T) + border;
    const std::shared_ptr<void> all(std::calloc(room, 1), [](void* p) { std::free(p); });
    if (all == nullptr) throw std::bad_alloc();
    void* memory = all.get();
    std::align(border, n * sizeof(T), memory, room);
    advise(memory, n);
    return {all, static_cast<T*>(memory)};
  }
  friend bool operator==(LineAllocator, LineAllocator) noexcept { return true; }

 private:
  static void advise([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t n) noexcept {
#if defined(__linux__)
    const auto page = static_cast<std::size_t>(large_page);
    // Only advice: a failure is harmless.
    if (alignment(n) == large_page) madvise(memory, n * sizeof(T) / page * page, MADV_HUGEPAGE);
#endif
  }
  static constexpr std::align_val_t alignment(std::size_t n) noexcept {
    return n * sizeof(T) >= 2 * static_cast<std::size_t>(large_page) ? large_page : line;
  }
};

/// A vector that begins at a cache line.
template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace gdr
