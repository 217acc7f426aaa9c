// Which sanitizer a test is compiled with: GCC defines a macro for each, Clang has a feature for
// each.
#pragma once

#if defined(__has_feature)
#define GDR_HAS_FEATURE(name) __has_feature(name)
#else
#define GDR_HAS_FEATURE(name) 0
#endif

/// 1 under the address sanitizer, whose shadow memory exceeds any limit of the address space.
#if defined(__SANITIZE_ADDRESS__) || GDR_HAS_FEATURE(address_sanitizer)
#define GDR_ADDRESS_SANITIZER 1
#else
#define GDR_ADDRESS_SANITIZER 0
#endif

/// 1 under the thread sanitizer, whose shadow memory does so as well.
#if defined(__SANITIZE_THREAD__) || GDR_HAS_FEATURE(thread_sanitizer)
#define GDR_THREAD_SANITIZER 1
#else
#define GDR_THREAD_SANITIZER 0
#endif
