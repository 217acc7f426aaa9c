// Programs and memories as JSON for the page.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr::playground {

/// Sections with their instructions: clock, text of each unit, accesses by port; the limits of the
/// ports; names of locations.
nlohmann::json listing_of(const Program& program, const Geometry& geometry);

/// The longs of a memory that are not zero: address in shorts, both shorts in hex, and their values
/// as floating-point numbers: of the long, and of each short.
nlohmann::json words_of(const std::vector<std::uint64_t>& shorts);

}  // namespace gdr::playground
