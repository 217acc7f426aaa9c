#include "emulator/port/port.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "emulator/port/port_words.hpp"

// The same loops for each instruction set: the compiler vectorises them.
#define GDR_PORT_ROWS(name, target)                                                              \
  template <auto Convert, bool Wide>                                                             \
  target void to_words_##name(const std::uint64_t* numbers, std::size_t stride, std::size_t n,   \
                              std::uint64_t* upper, std::uint64_t* lower) {                      \
    for (std::size_t i = 0; i < n; ++i) {                                                        \
      const WordHalves w = Convert(numbers[i * stride]);                                         \
      upper[i] = w.upper;                                                                        \
      if constexpr (Wide) lower[i] = w.lower;                                                    \
    }                                                                                            \
  }                                                                                              \
  target void to_doubles_##name(const std::uint64_t* upper, const std::uint64_t* lower,          \
                                std::size_t n, std::uint64_t* numbers) {                         \
    for (std::size_t i = 0; i < n; ++i) numbers[i] = port::long_to_double({upper[i], lower[i]}); \
  }                                                                                              \
  constexpr PortRows rows_##name{to_words_##name<port::double_to_long, true>,                    \
                                 to_words_##name<port::double_to_short, false>,                  \
                                 to_words_##name<port::int_to_long, true>,                       \
                                 to_words_##name<port::int_to_short, false>, to_doubles_##name};

namespace gdr {
namespace {

GDR_PORT_ROWS(portable, )
#if defined(__x86_64__)
GDR_PORT_ROWS(avx2, __attribute__((target("avx2"))))
GDR_PORT_ROWS(
    avx512,
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,prefer-vector-width=512"))))
#endif

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

/// Converts a number of each record; `Wide` words have a lower half.
template <bool Wide, typename Convert>
void load_words(LinkIn from, std::size_t n, Lanes<std::uint64_t> to, Convert convert) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const WordHalves w = convert(from.words + i * from.stride);
    to.shorts[i * to.stride] = w.upper;
    if constexpr (Wide) to.shorts[i * to.stride + to.lower] = w.lower;
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

const PortRows& port_rows([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return rows_avx512;
  if (isa == Isa::Avx2) return rows_avx2;
#endif
  return rows_portable;
}

std::vector<PortField> port_fields(const Program& program,
                                   const std::vector<LinkLayout::Field>& fields, Isa isa) {
  std::vector<PortField> out;
  for (const LinkLayout::Field& field : fields) {
    const Variable& v = program.variables[field.variable];
    PortField made{v.conversion, v.location.width, v.reduce, v.location, field.half_word, isa};
    for (std::size_t k = 0; v.reduce == Reduce::Index && k < fields.size(); ++k)
      if (fields[k].variable == static_cast<std::uint32_t>(v.key))
        made.key = static_cast<std::int32_t>(k);
    out.push_back(made);
  }
  return out;
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

/// The vectorised loop for a field, or null.
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
  const auto word = f.half_word / 2;
  if (f.conversion.machine == MachineFormat::Integer && f.width == Width::Short)
    return load_words<false>(
        from, n, to, [word](const std::uint64_t* r) { return port::int_to_short(r[word]); });
  if (f.conversion.machine == MachineFormat::Integer)
    return load_words<true>(from, n, to,
                            [word](const std::uint64_t* r) { return port::int_to_long(r[word]); });
  if (!is_float(f.conversion)) return load_any(f, from, n, to);
  const bool rounds = f.conversion.machine == MachineFormat::FloatShort;
  const auto load = [&](auto read) {
    const auto to_long = [read](const std::uint64_t* r) { return port::double_to_long(read(r)); };
    const auto to_short = [read](const std::uint64_t* r) { return port::double_to_short(read(r)); };
    if (f.width == Width::Short) return load_words<false>(from, n, to, to_short);
    return rounds ? load_words<true>(from, n, to, to_short)
                  : load_words<true>(from, n, to, to_long);
  };
  if (f.conversion.host == HostType::F64) return load([word](const auto* r) { return r[word]; });
  load([half = f.half_word](const auto* record) { return widen(half_at(record, half)); });
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
  if (f.conversion.machine == MachineFormat::Integer && f.width == Width::Short) {
    std::uint64_t* const out = to.words + f.half_word / 2;
    for (std::size_t i = 0; i < n; ++i)
      out[i * to.stride] = port::short_to_int(from.shorts[i * from.stride]);
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
  // A raw short, or a format other than the reduction's: convert the word to a short first.
  const Short narrow = as_float ? upper_half(fcvt(word, Width::Short, ignored)) : lower_half(word);
  return to_host(f.conversion, Width::Short, narrow.bits, ignored);
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
