// Conversions between the host's numbers and machine words, as the chip's port makes them.
//
// A link word is 64 bits: one double, one integer, or one float (a float array travels two to a
// word). One table has the host's and the machine's format of each conversion.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "emulator/numeric/float.hpp"
#include "emulator/numeric/words.hpp"

namespace gdr {

/// Type of a value on the host.
enum class HostType : std::uint8_t { F64, F32, I64, Raw };

/// The machine format of a value; a location may be wider than the format (see `to_machine`).
enum class MachineFormat : std::uint8_t {
  FloatLong,
  FloatShort,
  Integer,
  Fixed,
  Raw,
  LowInteger,
  HighFloat
};

/// A declared conversion. `point` is the number of bits below the binary point of `Fixed`.
struct Conversion {
  HostType host = HostType::F64;
  MachineFormat machine = MachineFormat::FloatLong;
  std::uint8_t point = 0;
  friend constexpr bool operator==(Conversion, Conversion) = default;
};

/// One row of the conversion table: the name that declarations use, and its meaning.
struct ConversionName {
  std::string_view name;
  HostType host;
  MachineFormat machine;
  std::string_view meaning;
};

/// All conversions by name. `fix` takes a point: `f64fix.40`.
std::span<const ConversionName> conversion_table() noexcept;
/// Parse `name` or `name.point`; nothing if there is no such conversion.
std::optional<Conversion> find_conversion(std::string_view text) noexcept;
std::string_view conversion_name(Conversion conversion) noexcept;

/// 64-bit words that one value takes on the link and at the port, in halves: 2 for a double or an
/// integer, 1 for a float, 4 for a raw long, 2 for a raw short.
unsigned half_words(Conversion conversion, Width location) noexcept;

/// Host bits to a machine word of the location's width (a short result is in the low 36 bits).
/// `host` holds the bits of a double, of a float (low half), or an integer; of a raw value the bits
/// themselves. A FloatShort value in a long location is rounded to short and widened. An integer
/// that a short location cannot hold, or a fixed-point value out of range, saturates and sets
/// flag_overflow; NaN as fixed point is 0 and flag_invalid.
u128 to_machine(Conversion conversion, Width location, u128 host, Flags& flags) noexcept;

/// A machine word to host bits, the inverse of `to_machine`, rounding once. An integer that 64 bits
/// cannot hold saturates and sets flag_overflow.
u128 to_host(Conversion conversion, Width location, u128 word, Flags& flags) noexcept;

/// Signed integers as longs and back; a long beyond 64 bits saturates with flag_overflow.
Long long_from_int(std::int64_t value) noexcept;
std::int64_t int_from_long(Long word, Flags& flags) noexcept;

/// IEEE float to and from machine floats, with the rules for doubles: a subnormal is a zero of its
/// sign; what is below 2^-126 before rounding underflows to zero, what reaches 2^128 overflows.
Long long_from_float(float value) noexcept;
float float_from_long(Long word, Flags& flags) noexcept;

}  // namespace gdr
