// Catch2 of either major version (Debian 12 has 2, later distributions 3).
#pragma once

#ifdef GDR_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
