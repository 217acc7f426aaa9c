// The main function of test programs with Catch2 version 2; version 3 has its own.
#ifndef GDR_CATCH2_V3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
