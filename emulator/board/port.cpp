#include "emulator/board/port.hpp"

#include <algorithm>
#include <bit>

namespace gdr {
namespace {

constexpr std::uint64_t double_sign = std::uint64_t{1} << 63;
constexpr std::uint64_t double_infinity = std::uint64_t{2047} << 52;
constexpr std::uint64_t double_nan = double_infinity | (std::uint64_t{1} << 51);
/// The upper 36 bits of a double are a short; the other 28 are the top of a long's lower half.
constexpr unsigned below_short = 28;
constexpr std::uint64_t below_short_mask = (std::uint64_t{1} << below_short) - 1;
/// Bits of a long's lower half that a double lacks.
constexpr unsigned below_double = 8;

struct Halves {
  std::uint64_t upper, lower;
};

/// Subnormals are zeros of their sign, every NaN is the canonical one.
constexpr std::uint64_t canonical(std::uint64_t bits) noexcept {
  const std::uint64_t magnitude = bits & ~double_sign;
  bits = (magnitude & double_infinity) == 0 ? bits & double_sign : bits;
  return magnitude > double_infinity ? double_nan : bits;
}

constexpr Halves double_to_long(std::uint64_t bits) noexcept {
  bits = canonical(bits);
  return {bits >> below_short, (bits & below_short_mask) << below_double};
}

/// Rounds to nearest even by adding just under half of what is cut, and one more for an odd last
/// bit. A carry out of the fraction raises the exponent, up to infinity; neither an infinity nor
/// the canonical NaN has bits that could carry.
constexpr Halves double_to_short(std::uint64_t bits) noexcept {
  bits = canonical(bits);
  const std::uint64_t odd = (bits >> below_short) & 1;
  return {(bits + (below_short_mask >> 1) + odd) >> below_short, 0};
}

/// The same for the 61 bits of a long, which a double's 53 begin.
constexpr std::uint64_t long_to_double(Halves w) noexcept {
  const std::uint64_t cut = (w.upper << below_short) | (w.lower >> below_double);
  const std::uint64_t rest = w.lower & ((1U << below_double) - 1);
  const std::uint64_t exponent = cut & double_infinity;
  const std::uint64_t fraction = (cut & ~(double_sign | double_infinity)) | rest;
  const std::uint64_t rounded = cut + ((rest + 127 + (cut & 1)) >> below_double);
  if (exponent == 0) return cut & double_sign;
  if (exponent == double_infinity) return fraction != 0 ? double_nan : cut;
  return rounded;
}

/// 64 bits always fit a long, with their sign.
constexpr Halves int_to_long(std::uint64_t bits) noexcept {
  const auto upper =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> Short::bit_count);
  return {upper & Short::mask, bits & Short::mask};
}

/// The same for a short, at its limits where it cannot hold the number.
constexpr Halves int_to_short(std::uint64_t bits) noexcept {
  constexpr std::int64_t most = (std::int64_t{1} << (Short::bit_count - 1)) - 1;
  const auto value = std::clamp(static_cast<std::int64_t>(bits), -most - 1, most);
  return {static_cast<std::uint64_t>(value) & Short::mask, 0};
}

/// A float is a double of the same value; its subnormals are zeros.
std::uint64_t widen(std::uint32_t bits) noexcept {
  const std::uint64_t sign = std::uint64_t{bits >> 31} << 63;
  if ((bits & 0x7f800000U) == 0) return sign;
  const auto value = static_cast<double>(std::bit_cast<float>(bits));
  return std::bit_cast<std::uint64_t>(value);
}

std::uint32_t half_at(const std::uint64_t* record, std::uint32_t half_word) noexcept {
  return static_cast<std::uint32_t>(record[half_word / 2] >> (half_word % 2 * 32));
}

template <typename Convert>
void load_all(LinkIn from, std::size_t n, Lanes<std::uint64_t> to, Convert convert) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const Halves w = convert(from.words + i * from.stride);
    to.shorts[i * to.stride] = w.upper;
    to.shorts[i * to.stride + to.lower] = w.lower;
  }
}
template <typename Convert>
void load_shorts(LinkIn from, std::size_t n, Lanes<std::uint64_t> to, Convert convert) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    to.shorts[i * to.stride] = convert(from.words + i * from.stride).upper;
  }
}

void load_any(const PortField& f, LinkIn from, std::size_t n, Lanes<std::uint64_t> to) noexcept {
  Flags ignored = no_flags;
  for (std::size_t i = 0; i < n; ++i) {
    const u128 word =
        to_machine(f.conversion, f.width, host_bits(f, from.words + i * from.stride), ignored);
    std::uint64_t* const out = to.shorts + i * to.stride;
    if (f.width == Width::Long) {
      out[0] = upper_half(Long{word}).bits;
      out[to.lower] = lower_half(Long{word}).bits;
    } else {
      out[0] = static_cast<std::uint64_t>(word);
    }
  }
}

u128 word_at(const PortField& f, const std::uint64_t* shorts, std::size_t lower) noexcept {
  if (f.width == Width::Short) return shorts[0];
  return join(Short{shorts[0]}, Short{shorts[lower]}).bits;
}

bool is_float(Conversion c) noexcept {
  return c.machine == MachineFormat::FloatLong || c.machine == MachineFormat::FloatShort;
}
bool is_float(Reduce r) noexcept {
  return r == Reduce::Fadd || r == Reduce::Fmax || r == Reduce::Fmin;
}

}  // namespace

PortField port_field(const Variable& variable, const LinkLayout::Field& field) noexcept {
  return {variable.conversion, variable.location.width, variable.reduce, variable.location,
          field.half_word};
}

u128 host_bits(const PortField& f, const std::uint64_t* record) noexcept {
  const unsigned size = half_words(f.conversion, f.width);
  if (size == 1) return half_at(record, f.half_word);
  const std::uint64_t* const words = record + f.half_word / 2;
  return size == 4 ? (u128{words[1]} << 64) | words[0] : u128{words[0]};
}

void put_host_bits(const PortField& f, u128 host, std::uint64_t* record) noexcept {
  const unsigned size = half_words(f.conversion, f.width);
  std::uint64_t* const words = record + f.half_word / 2;
  const auto low = static_cast<std::uint64_t>(host);
  if (size == 1) {
    words[0] |= (low & 0xffffffffU) << (f.half_word % 2 * 32);
    return;
  }
  words[0] = low;
  if (size == 4) words[1] = static_cast<std::uint64_t>(host >> 64);
}

void port_load(const PortField& f, LinkIn from, std::size_t n, Lanes<std::uint64_t> to) noexcept {
  if (f.conversion.machine == MachineFormat::Integer && f.width == Width::Short) {
    return load_shorts(from, n, to, [word = f.half_word / 2](const std::uint64_t* record) {
      return int_to_short(record[word]);
    });
  }
  if (f.conversion.machine == MachineFormat::Integer && f.width == Width::Long) {
    return load_all(from, n, to, [word = f.half_word / 2](const std::uint64_t* record) {
      return int_to_long(record[word]);
    });
  }
  if (!is_float(f.conversion)) return load_any(f, from, n, to);
  const bool rounds = f.width == Width::Short || f.conversion.machine == MachineFormat::FloatShort;
  const auto load = [&](auto read) {
    const auto to_long = [read](const std::uint64_t* r) { return double_to_long(read(r)); };
    const auto to_short = [read](const std::uint64_t* r) { return double_to_short(read(r)); };
    if (f.width == Width::Short) return load_shorts(from, n, to, to_short);
    return rounds ? load_all(from, n, to, to_short) : load_all(from, n, to, to_long);
  };
  if (f.conversion.host == HostType::F64) {
    load([word = f.half_word / 2](const std::uint64_t* record) { return record[word]; });
  } else {
    load(
        [half = f.half_word](const std::uint64_t* record) { return widen(half_at(record, half)); });
  }
}

void port_store(const PortField& f, Lanes<const std::uint64_t> from, std::size_t n,
                LinkOut to) noexcept {
  if (is_float(f.conversion) && f.conversion.host == HostType::F64) {
    std::uint64_t* const out = to.words + f.half_word / 2;
    const bool wide = f.width == Width::Long;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t* const in = from.shorts + i * from.stride;
      out[i * to.stride] = long_to_double({in[0], wide ? in[from.lower] : 0});
    }
    return;
  }
  Flags ignored = no_flags;
  for (std::size_t i = 0; i < n; ++i) {
    const u128 word = word_at(f, from.shorts + i * from.stride, from.lower);
    put_host_bits(f, to_host(f.conversion, f.width, word, ignored), to.words + i * to.stride);
  }
}

Long network_word(const PortField& f, u128 word) noexcept {
  if (f.width == Width::Long) return {word};
  const Short narrow{static_cast<std::uint64_t>(word)};
  const bool as_float = f.reduce == Reduce::Pass ? is_float(f.conversion) : is_float(f.reduce);
  return as_float ? widen_float(narrow) : widen_integer(narrow, true);
}

u128 network_to_host(const PortField& f, Long word) noexcept {
  Flags ignored = no_flags;
  const bool as_float = f.reduce == Reduce::Pass ? is_float(f.conversion) : is_float(f.reduce);
  const bool same_kind = as_float ? is_float(f.conversion)
                                  : f.conversion.machine == MachineFormat::Integer ||
                                        f.conversion.machine == MachineFormat::Fixed;
  if (f.width == Width::Long || same_kind) {
    return to_host(f.conversion, Width::Long, word.bits, ignored);
  }
  // A raw short, or a format that is not the reduction's: the word goes back to a short first.
  const Short narrow = as_float ? upper_half(fcvt(word, Width::Short, ignored)) : lower_half(word);
  return to_host(f.conversion, Width::Short, narrow.bits, ignored);
}

namespace {

template <typename Word, typename Block>
Lanes<Word> lanes_of(Block& block, const Operand& x, unsigned element) noexcept {
  const std::size_t pes = block.pes;
  switch (x.space) {
    case Space::Register:
      return {block.registers.data() + x.at(element) * pes, 1, pes};
    case Space::T:
      return {block.t.data() + (element * 2 + x.address) * pes, 1, pes};
    default:
      return {block.local.data() + x.at(element) * pes, 1, pes};
  }
}

}  // namespace

Lanes<std::uint64_t> pe_lanes(BlockState& block, const Operand& location,
                              unsigned element) noexcept {
  return lanes_of<std::uint64_t>(block, location, element);
}
Lanes<const std::uint64_t> pe_lanes(const BlockState& block, const Operand& location,
                                    unsigned element) noexcept {
  return lanes_of<const std::uint64_t>(block, location, element);
}

}  // namespace gdr
