// The main function of a test program; Catch2 3 brings its own.
#ifndef GDR_CATCH2_V3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
