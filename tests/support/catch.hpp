// Includes Catch2, version 2 (Debian 12) or 3 (later distributions).
#pragma once

#ifdef GDR_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
