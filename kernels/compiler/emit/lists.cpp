#include "kernels/compiler/emit/lists.hpp"

#include <fmt/core.h>

#include <bit>

#include "emulator/numeric/words.hpp"

namespace gdr::kc {
namespace {

/// A signed integer as the bits of a short.
std::string short_bits(std::int64_t x) {
  return fmt::format("0x{:09x}", static_cast<std::uint64_t>(x) & Short::mask);
}

/// Initial accumulator of element 0: one stride before the first entry.
std::int64_t begin(const MachineList& list) {
  return static_cast<std::int64_t>(list.address) - static_cast<std::int64_t>(list.stride);
}

}  // namespace

std::string place_in_list(const MachineList& list) {
  return fmt::format("$m[$t:{}..{}]", list.address, list.overflow_slot());
}

std::string list_declarations(const MachineList& list, const std::string& count,
                              const std::string& name, const std::string& at) {
  std::string text = fmt::format("fvar short {} i64int iadd at {}\n", count, at);
  for (unsigned k = 0; k < list.capacity; ++k)
    text += fmt::format("fvar short {}_{} i64int pass at $m{}v\n", name, k,
                        list.address + k * list.stride);
  return text;
}

std::string empty_list(const MachineList& list, int accumulator, unsigned elements) {
  std::string text;
  for (unsigned k = 0; k < list.capacity; ++k)
    text += fmt::format("    ipass $m{}v {}\n", list.address + k * list.stride, short_bits(-1));
  text += "    vlen 1\n";
  for (unsigned e = 0; e < elements; ++e)
    text += fmt::format("    ipass $r{} {}\n", accumulator + static_cast<int>(e),
                        short_bits(begin(list) + e));
  return text + fmt::format("    vlen {}\n", elements);
}

std::string count_list(const MachineList& list, const std::string& at) {
  return fmt::format("    isub {0} {0} {1}\n    iasr {0} {0} {2}\n", at, short_bits(begin(list)),
                     std::countr_zero(list.stride));
}

}  // namespace gdr::kc
