#include "emulator/isa/geometry.hpp"

#include <cmath>
#include <type_traits>

#include "emulator/host/parse_number.hpp"

namespace gdr {
namespace {

struct GeometryField {
  std::string_view name;
  std::uint32_t Geometry::*member;
  std::uint32_t limit;
};
constexpr GeometryField geometry_fields[] = {
    {"chips", &Geometry::chips_per_board, GeometryLimits::chips},
    {"blocks", &Geometry::blocks, GeometryLimits::blocks},
    {"pes", &Geometry::pes_per_block, GeometryLimits::pes_per_block},
    {"registers", &Geometry::register_words, GeometryLimits::register_words},
    {"local", &Geometry::local_words, GeometryLimits::memory_words},
    {"bm", &Geometry::broadcast_words, GeometryLimits::memory_words},
    {"instructions", &Geometry::instruction_words, 1U << 24},
};

}  // namespace

std::string set_geometry_field(Geometry& geometry, std::string_view name, std::string_view value) {
  const auto set = [&](auto& member, auto least, auto most, const std::string& needed) {
    const auto number = parse_all<std::remove_reference_t<decltype(member)>>(value);
    const bool valid = number && *number >= least && *number <= most;
    if (valid) member = *number;
    return valid ? std::string{} : std::string(name).append("=").append(value) + ": " + needed;
  };
  for (const GeometryField& field : geometry_fields) {
    if (field.name != name) continue;
    return set(geometry.*field.member, 1U, field.limit,
               "a whole number from 1 to " + std::to_string(field.limit) + " is needed");
  }
  if (name == "dram") {
    auto why = set(geometry.dram_bytes, 4096ULL, 1ULL << 40, "bytes from 4096 to 2^40 are needed");
    geometry.dram_bytes = geometry.dram_bytes / 8 * 8;
    return why;
  }
  if (name == "clock") {
    return set(geometry.clock_hz, 1.0, 1e15,
               "a clock in hertz from 1 to 1e15 is needed, for example 400e6");
  }
  return std::string(name) +
         ": no such size; there are chips, blocks, pes, registers, local, bm, instructions, dram "
         "and clock";
}

}  // namespace gdr
