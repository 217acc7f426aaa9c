#include "emulator/engine/native/gpu/unguarded_text.hpp"

#include <algorithm>

namespace gdr::native {

bool UnguardedText::usable() const {
  const UnguardedLoop& loop = c_.kernel.unguarded;
  return loop.usable && std::ranges::all_of(loop.equal, [&](const EqualWords& e) {
           return std::ranges::find(compared_, e.source) != compared_.end();
         });
}

void UnguardedText::begin(TextLines& text) const {
  const UnguardedLoop& loop = c_.kernel.unguarded;
  const auto input = [&](std::uint32_t slot) {
    return values_.place(CodeContext::item(c_.kernel.input_offset[slot]));
  };
  text.line("const ulong first_group = first_word / {};", values_.group_words());
  std::string positive = "true";
  const auto add = [&](const std::string& word) {
    positive += fmt::format(" && as_signed({}) >= {}", word,
                            values_.floats() ? "0x00800000" : "0x0010000000000000L");
  };
  for (const std::uint32_t slot : loop.positive_slots) add(input(slot));
  for (const LeafKey word : loop.positive_uniforms)
    add(fmt::format("uniforms[{}]", c_.uniform_words.number(word)));
  text.line("const bool is_free = {};", positive);
  for (std::size_t n = 0; n < loop.equal.size(); ++n)
    text.line("const long id{} = integer_of({});", n, input(loop.equal[n].slot));
}

std::string UnguardedText::condition(const std::string& window) const {
  const UnguardedLoop& loop = c_.kernel.unguarded;
  std::string all = "true";
  for (std::size_t n = 0; n < loop.equal.size(); ++n) {
    const auto number = std::ranges::find(compared_, loop.equal[n].source) - compared_.begin();
    const std::string range = fmt::format("({} * {} + {}) * 2", window, compared_.size(), number);
    all += fmt::format(" && (id{0} < ranges[{1}] || ranges[{1} + 1] < id{0})", n, range);
  }
  return all;
}

}  // namespace gdr::native
