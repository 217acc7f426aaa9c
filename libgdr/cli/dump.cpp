// Writing dumps.
#include "libgdr/cli/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "emulator/numeric/float.hpp"
#include "emulator/numeric/integer.hpp"
#include "libgdr/cli/text.hpp"

namespace gdr::cli {
namespace {

[[noreturn]] void refuse(const DumpRequest& request, const std::string& why) {
  throw usage_error("--dump {}: {}", request.text, why);
}

std::string decimal(i128 value) {
  std::string digits;
  u128 rest = value < 0 ? u128{0} - static_cast<u128>(value) : static_cast<u128>(value);
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return value < 0 ? "-" + digits : digits;
}

/// Enough digits to tell any two words apart: 21 for a long, 9 for a short.
std::string float_text(u128 word, Width width) {
  const Long wide =
      width == Width::Long ? Long{word} : widen_float({static_cast<std::uint64_t>(word)});
  const bool negative = (wide.bits >> 71) != 0;
  const int exponent = static_cast<int>((wide.bits >> 60) & 2047);
  const auto fraction = static_cast<std::uint64_t>(wide.bits & ((u128{1} << 60) - 1));
  if (exponent == 2047) return fraction != 0 ? "nan" : negative ? "-inf" : "inf";
  if (exponent == 0) return negative ? "-0" : "0";
  const auto significand = static_cast<long double>((std::uint64_t{1} << 60) | fraction);
  const long double value = std::ldexp(significand, exponent - 1023 - 60);
  return fmt::format("{:.{}g}", negative ? -value : value, width == Width::Long ? 21 : 9);
}

/// Size of a memory and its name in dumps.
struct Shape {
  std::uint32_t size;  ///< shorts, or masks
  std::string_view name;
};

Shape shape_of(const DumpRequest& request, const Geometry& g) {
  const bool is_long = request.width == Width::Long;
  switch (request.memory) {
    case DumpMemory::Register:
      return {2 * g.register_words, is_long ? "lr" : "r"};
    case DumpMemory::Local:
      return {2 * g.local_words, is_long ? "lm" : "m"};
    case DumpMemory::T:
      return {2 * max_elements, is_long ? "t" : request.first.value_or(0) % 2 == 0 ? "th" : "tl"};
    case DumpMemory::Mask:
      return {mask_registers, "mask"};
    case DumpMemory::Bm:
      break;
  }
  return {2 * g.broadcast_words, is_long ? "lb" : "b"};
}

std::string mask_text(const BlockState& block, std::uint32_t mask, std::uint32_t pe) {
  std::string bits;
  for (unsigned e = 0; e < max_elements; ++e)
    bits += block.masks[std::size_t{mask * max_elements + e} * block.pes + pe] != 0 ? '1' : '0';
  return bits;
}

u128 word_at(const DumpRequest& request, const BlockState& block, std::uint32_t address,
             std::uint32_t pe) {
  if (request.memory == DumpMemory::Bm) return read_bm(block, address, request.width);
  const LaneMemory& memory = request.memory == DumpMemory::Register ? block.registers
                             : request.memory == DumpMemory::Local  ? block.local
                                                                    : block.t;
  const auto part = [&](std::uint32_t a) { return Short{memory[std::size_t{a} * block.pes + pe]}; };
  if (request.width == Width::Short) return part(address).bits;
  return join(part(address), part(address + 1)).bits;
}

struct Range {
  std::uint32_t first, last, step;
};

Range range_of(const DumpRequest& request, const Shape& shape) {
  const bool is_long = request.width == Width::Long;
  const bool t = request.memory == DumpMemory::T;
  const std::uint32_t step = t || (is_long && request.memory != DumpMemory::Mask) ? 2 : 1;
  const Range range{request.first.value_or(0),
                    request.last.value_or(shape.size - (is_long ? 2 : 1)), step};
  if (is_long && !t && range.first % 2 != 0)
    refuse(request, fmt::format("a long has an even address, not {}", range.first));
  if (range.last + (is_long ? 1 : 0) >= shape.size)
    refuse(request, fmt::format("address {} is behind the end; the last address of {} is {}",
                                range.last, shape.name, shape.size - (is_long ? 2 : 1)));
  return range;
}

}  // namespace

std::string word_text(u128 word, Width width, DumpFormat format, unsigned point) {
  if (format == DumpFormat::Float) return float_text(word, width);
  if (format == DumpFormat::Int) return decimal(signed_value(word, width));
  if (format == DumpFormat::Fixed) {
    const auto value = static_cast<long double>(signed_value(word, width));
    return fmt::format("{:.21g}", std::ldexp(value, -static_cast<int>(point)));
  }
  const auto low = static_cast<std::uint64_t>(word) & Short::mask;
  const auto high = static_cast<std::uint64_t>(word >> Short::bit_count);
  return width == Width::Long ? fmt::format("{:09x}{:09x}", high, low) : fmt::format("{:09x}", low);
}

std::string dump_text(const DumpRequest& request, const ChipState& chip) {
  const Geometry& g = chip.geometry;
  if (request.block && *request.block >= g.blocks)
    refuse(request, fmt::format("block {}: the chip has {}", *request.block, g.blocks));
  if (request.pe && *request.pe >= g.pes_per_block)
    refuse(request, fmt::format("PE {}: a block has {}", *request.pe, g.pes_per_block));
  const Shape shape = shape_of(request, g);
  const Range range = range_of(request, shape);
  const bool bm = request.memory == DumpMemory::Bm;
  const std::uint32_t first_pe = request.pe.value_or(0);
  const std::uint32_t end_pe = bm || request.pe ? first_pe + 1 : g.pes_per_block;
  const std::uint32_t first_block = request.block.value_or(0);
  const std::uint32_t end_block = request.block ? first_block + 1 : g.blocks;

  std::string text = fmt::format("# dump {} (location, block, PE, value)\n", request.text);
  for (std::uint32_t b = first_block; b < end_block; ++b) {
    const BlockState& block = chip.blocks[b];
    for (std::uint32_t pe = first_pe; pe < end_pe; ++pe) {
      for (std::uint32_t a = range.first; a <= range.last; a += range.step) {
        const std::uint32_t shown = request.memory == DumpMemory::T ? a / 2 : a;
        const std::string value = request.memory == DumpMemory::Mask
                                      ? mask_text(block, a, pe)
                                      : word_text(word_at(request, block, a, pe), request.width,
                                                  request.format, request.point);
        text += fmt::format("{}{} {} {} {}\n", shape.name, shown, b, bm ? "-" : std::to_string(pe),
                            value);
      }
    }
  }
  return text;
}

}  // namespace gdr::cli
