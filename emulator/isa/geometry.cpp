#include "emulator/isa/geometry.hpp"

#include <charconv>
#include <cmath>

namespace gdr {
namespace {

struct Field {
  std::string_view name;
  std::uint32_t Geometry::*member;
  std::uint32_t limit;
};
constexpr Field fields[] = {
    {"chips", &Geometry::chips_per_board, GeometryLimits::chips},
    {"blocks", &Geometry::blocks, GeometryLimits::blocks},
    {"pes", &Geometry::pes_per_block, GeometryLimits::pes_per_block},
    {"registers", &Geometry::register_words, GeometryLimits::register_words},
    {"local", &Geometry::local_words, GeometryLimits::memory_words},
    {"bm", &Geometry::broadcast_words, GeometryLimits::memory_words},
    {"instructions", &Geometry::instruction_words, 1U << 24},
};

template <typename T>
bool parse(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc{} && result.ptr == end;
}

}  // namespace

std::string set_geometry_field(Geometry& geometry, std::string_view name, std::string_view value) {
  const std::string what = std::string(name) + "=" + std::string(value);
  for (const Field& field : fields) {
    if (field.name != name) continue;
    std::uint32_t number = 0;
    if (!parse(value, number) || number < 1 || number > field.limit) {
      return what + ": a whole number from 1 to " + std::to_string(field.limit) + " is needed";
    }
    geometry.*field.member = number;
    return {};
  }
  if (name == "dram") {
    std::uint64_t bytes = 0;
    if (!parse(value, bytes) || bytes < 4096 || bytes > (1ULL << 40)) {
      return what + ": bytes from 4096 to 2^40 are needed";
    }
    geometry.dram_bytes = bytes / 8 * 8;
    return {};
  }
  if (name == "clock") {
    double hertz = 0;
    if (!parse(value, hertz) || !(hertz >= 1.0) || !(hertz <= 1e15)) {
      return what + ": a clock in hertz from 1 to 1e15 is needed, for example 400e6";
    }
    geometry.clock_hz = hertz;
    return {};
  }
  return std::string(name) +
         ": no such size; there are chips, blocks, pes, registers, local, bm, instructions, dram "
         "and clock";
}

}  // namespace gdr
