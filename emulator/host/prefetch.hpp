// The processor's hint that a cache line will be written.
#pragma once

#include <cstdint>

namespace gdr {

/// Fetches the cache line of an address and invalidates copies in the caches of other cores, so
/// that a later write need not wait for that. The address may be one that is not mapped any more.
inline void prefetch_for_writing(std::uintptr_t address) noexcept {
#if defined(__x86_64__)
  // The compiler's builtin function uses this instruction only if told that the host has it. Hosts
  // without it ignore it.
  asm volatile("prefetchw (%0)" : : "r"(address));
#else
  __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
#endif
}

}  // namespace gdr
