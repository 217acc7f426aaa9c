#include "emulator/engine/native/gpu/list_text.hpp"

#include <fmt/format.h>

namespace gdr::native {
namespace {

static_assert(offsetof(jit::ListRows, stride) == 32 && offsetof(jit::ListRows, first) == 40 &&
              offsetof(jit::ListRows, last) == 48 && jit::ListRows::word_bits == 36);

constexpr const char* append_function = R"(
void append(ulong *counter, __global ulong* entries, ulong threads, __global const long* list,
            long word) {
  *counter = (*counter + as_ulong(list[4])) & 0xfffffffffUL;
  long address = as_long(*counter << 28) >> 28;
  if (address > list[6]) address = list[6];
  if (address >= list[5])
    entries[as_ulong(address - list[5]) * threads] = as_ulong(word) & 0xfffffffffUL;
}
)";

}  // namespace

std::string ListText::function() const { return lists_ != 0 ? append_function : ""; }

std::string ListText::arguments() const {
  if (lists_ == 0) return {};
  return ", __global ulong* restrict counters, __global ulong* restrict entries, ulong rows";
}

std::string ListText::begin() const {
  std::string text;
  for (std::uint32_t n = 0; n < lists_; ++n)
    text += fmt::format(
        "ulong count{0} = counters[{0} * threads + thread];\n"
        "__global const long* list{0} = (__global const long*)(items + thread / {1} * {2} + "
        "{3});\n",
        n, c_.target.lanes(), c_.kernel.layout.bytes() / c_.target.lane_bytes(),
        c_.kernel.layout.list(n) / c_.target.lane_bytes());
  return text;
}

std::string ListText::end() const {
  std::string text;
  for (std::uint32_t n = 0; n < lists_; ++n)
    text += fmt::format("counters[{0} * threads + thread] = count{0};\n", n);
  return text;
}

std::string ListText::append(std::uint32_t list, const std::string& mask,
                             const std::string& word) const {
  const bool floats = c_.target.precision == Precision::Float;
  return fmt::format(
      "if ({0}) append(&count{1}, entries + {1} * rows * threads + thread, threads, list{1}, {2});",
      mask, list,
      floats ? fmt::format("(long)as_signed({})", word)
             : fmt::format("as_signed({}) >> {}", word, short_shift));
}

}  // namespace gdr::native
