// The main function of test programs with Catch2 version 2; version 3 has its own.
#include <cstdlib>

#ifndef GDR_CATCH2_V3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

namespace {
/// No test uses compiled kernels of another run, nor leaves some to the user. Before any test.
[[maybe_unused]] const int without_cache = ::setenv("GDR_CACHE_DIR", "none", 1);
}  // namespace
