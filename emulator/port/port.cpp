#include "emulator/port/port.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "emulator/port/port_rows.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {
namespace {

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

/// Numbers per step of the vectorised conversion.
constexpr std::size_t numbers_at_once = 64;

void store_rows(RowsFromWords convert, const Lanes<const std::uint64_t>& from, std::size_t n,
                LinkOut to, std::uint32_t word) noexcept {
  std::array<std::uint64_t, numbers_at_once> numbers;
  for (std::size_t done = 0; done < n; done += numbers.size()) {
    const std::size_t count = std::min(numbers.size(), n - done);
    const std::uint64_t* const upper = from.shorts + done;
    convert(upper, upper + from.lower, count, numbers.data());
    std::uint64_t* const out = to.words + done * to.stride + word;
    for (std::size_t i = 0; i < count; ++i) out[i * to.stride] = numbers[i];
  }
}

template <typename Convert>
void load_all(LinkIn from, std::size_t n, Lanes<std::uint64_t> to, Convert convert) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const WordHalves w = convert(from.words + i * from.stride);
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

namespace {

/// The loop on adjacent words for a field, where there is one.
RowsToWords rows_of(const PortField& f) noexcept {
  const PortRows& rows = port_rows(f.isa);
  const bool wide = f.width == Width::Long;
  if (f.conversion.machine == MachineFormat::Integer)
    return wide ? rows.int_to_long : rows.int_to_short;
  if (!is_float(f.conversion) || f.conversion.host != HostType::F64) return nullptr;
  if (!wide) return rows.double_to_short;
  return f.conversion.machine == MachineFormat::FloatLong ? rows.double_to_long : nullptr;
}

}  // namespace

void port_load(const PortField& f, LinkIn from, std::size_t n,
               const Lanes<std::uint64_t>& to) noexcept {
  const RowsToWords rows = to.stride == 1 ? rows_of(f) : nullptr;
  if (rows != nullptr)
    return rows(from.words + f.half_word / 2, from.stride, n, to.shorts, to.shorts + to.lower);
  if (f.conversion.machine == MachineFormat::Integer && f.width == Width::Short) {
    return load_shorts(from, n, to, [word = f.half_word / 2](const std::uint64_t* record) {
      return port::int_to_short(record[word]);
    });
  }
  if (f.conversion.machine == MachineFormat::Integer && f.width == Width::Long) {
    return load_all(from, n, to, [word = f.half_word / 2](const std::uint64_t* record) {
      return port::int_to_long(record[word]);
    });
  }
  if (!is_float(f.conversion)) return load_any(f, from, n, to);
  const bool rounds = f.width == Width::Short || f.conversion.machine == MachineFormat::FloatShort;
  const auto load = [&](auto read) {
    const auto to_long = [read](const std::uint64_t* r) { return port::double_to_long(read(r)); };
    const auto to_short = [read](const std::uint64_t* r) { return port::double_to_short(read(r)); };
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

bool begins_with_adjacent_words(std::span<const PortField> fields) noexcept {
  if (fields.size() < adjacent_words || rows_of(fields[0]) == nullptr) return false;
  const PortField& first = fields[0];
  for (std::uint32_t k = 1; k < adjacent_words; ++k) {
    const PortField& f = fields[k];
    if (f.half_word != first.half_word + 2 * k || f.width != first.width ||
        f.conversion.host != first.conversion.host ||
        f.conversion.machine != first.conversion.machine)
      return false;
  }
  return true;
}

void port_load_words(std::span<const PortField> fields, LinkIn from, std::size_t n,
                     std::span<std::uint64_t* const, adjacent_words> upper,
                     std::size_t lower) noexcept {
  const RowsToWords convert = rows_of(fields[0]);
  const std::uint64_t* record = from.words + fields[0].half_word / 2;
  std::array<std::array<std::uint64_t, numbers_at_once>, adjacent_words> numbers;
  for (std::size_t done = 0; done < n; done += numbers_at_once) {
    const std::size_t count = std::min(numbers_at_once, n - done);
    for (std::size_t i = 0; i < count; ++i, record += from.stride)
      for (std::size_t k = 0; k < adjacent_words; ++k) numbers[k][i] = record[k];
    for (std::size_t k = 0; k < adjacent_words; ++k) {
      std::uint64_t* const to = upper[k] + done;
      convert(numbers[k].data(), 1, count, to, to + lower);
    }
  }
}

void port_store(const PortField& f, const Lanes<const std::uint64_t>& from, std::size_t n,
                LinkOut to) noexcept {
  if (from.stride == 1 && f.width == Width::Long && is_float(f.conversion) &&
      f.conversion.host == HostType::F64) {
    return store_rows(port_rows(f.isa).long_to_double, from, n, to, f.half_word / 2);
  }
  if (is_float(f.conversion) && f.conversion.host == HostType::F64) {
    std::uint64_t* const out = to.words + f.half_word / 2;
    const bool wide = f.width == Width::Long;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t* const in = from.shorts + i * from.stride;
      out[i * to.stride] = port::long_to_double({in[0], wide ? in[from.lower] : 0});
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

void load_param(const PortField& field, unsigned elements, BlockState& block,
                const std::uint64_t* record) noexcept {
  const Operand& x = field.location;
  if (x.space == Space::Bm) {
    port_load(field, {record, 0}, 1, {block.bm.data() + x.address, 1, 1});
    return;
  }
  const bool every_element = x.vector || x.space == Space::T;
  for (unsigned e = 0; e < (every_element ? elements : 1); ++e) {
    port_load(field, {record, 0}, block.pes, pe_lanes(block, x, e));
  }
}

}  // namespace gdr
