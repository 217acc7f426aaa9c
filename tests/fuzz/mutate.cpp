// The mutations and their frequencies.
#include "fuzz/mutate.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace fuzz {
namespace {

/// Texts that are difficult for parsers.
constexpr std::array<std::string_view, 24> stumbling_blocks{
    "0",      "-1", "1e400",     "nan", "-inf", "0x", "2147483648",   "18446744073709551616",
    "1e-400", "\n", "\r\n",      "\t",  ";",    "#",  "\"",           "\"\\",
    "{",      "}",  "(((((((((", "))",  "$",    ".",  "\xef\xbb\xbf", std::string_view("\0", 1)};

bool is_blank(std::uint8_t c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

auto offset(Bytes& input, std::size_t at) {
  return input.begin() + static_cast<std::ptrdiff_t>(at);
}

}  // namespace

Mutator::Mutator(std::uint64_t seed, std::vector<Bytes> corpus, std::size_t max_length)
    : random_(seed), corpus_(std::move(corpus)), max_length_(max_length) {}

Bytes Mutator::piece(const Bytes& from, bool words) {
  std::size_t begin = below(from.size() + 1);
  std::size_t end = std::min(from.size(), begin + 1 + below(below(8) == 0 ? from.size() : 24));
  if (words) {
    while (begin > 0 && !is_blank(from[begin - 1])) --begin;
    while (end < from.size() && !is_blank(from[end])) ++end;
  }
  return {from.begin() + static_cast<std::ptrdiff_t>(begin),
          from.begin() + static_cast<std::ptrdiff_t>(end)};
}

void Mutator::insert(Bytes& input, std::size_t at, const Bytes& what) {
  input.insert(offset(input, at), what.begin(), what.end());
}

void Mutator::change_bytes(Bytes& input) {
  const std::size_t at = below(input.size());
  switch (below(4)) {
    case 0:
      input[at] ^= static_cast<std::uint8_t>(1U << below(8));
      break;
    case 1:
      input[at] = static_cast<std::uint8_t>(random_());
      break;
    case 2:
      input[at] = std::array<std::uint8_t, 4>{0, 255, 127, 128}[below(4)];
      break;
    default:
      std::swap(input[at], input[below(input.size())]);
      break;
  }
}

/// Sets a little-endian field of 1 to 8 bytes to a value near a limit or near its own.
void Mutator::change_number(Bytes& input) {
  const std::size_t size = std::min<std::size_t>(std::size_t{1} << below(4), input.size());
  const std::size_t at = below(input.size() - size + 1);
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = (value << 8) | input[at + i];
  switch (below(4)) {
    case 0:
      value += below(33);
      break;
    case 1:
      value -= below(33);
      break;
    case 2:
      value = (std::uint64_t{1} << below(64)) - below(3);
      break;
    default:
      value = below(300);
      break;
  }
  for (std::size_t i = 0; i < size; ++i, value >>= 8) {
    input[at + i] = static_cast<std::uint8_t>(value);
  }
}

void Mutator::change(Bytes& input) {
  const std::size_t at = below(input.size() + 1);
  const std::size_t kind = input.empty() ? 5 : below(8);
  switch (kind) {
    case 0:
      change_bytes(input);
      break;
    case 1:
      change_number(input);
      break;
    case 2: {  // delete a range
      const std::size_t length = 1 + below(below(4) == 0 ? input.size() : 8);
      input.erase(offset(input, at), offset(input, std::min(input.size(), at + length)));
      break;
    }
    case 3:
      insert(input, at, piece(input, below(2) != 0));
      break;  // repeat a range
    case 4:
      insert(input, at, piece(any_input(), below(4) != 0));
      break;  // insert a range of another input
    case 5: {
      const auto text = stumbling_blocks[below(stumbling_blocks.size())];
      insert(input, at, Bytes(text.begin(), text.end()));
      break;
    }
    case 6: {  // copy a range over another
      const Bytes from = piece(any_input(), false);
      const std::size_t length = std::min(from.size(), input.size() - at);
      std::copy_n(from.begin(), length, offset(input, at));
      break;
    }
    default:
      if (below(4) == 0) input.resize(at);  // truncate
      break;
  }
}

Bytes Mutator::next() {
  Bytes input = any_input();
  const std::size_t changes = std::size_t{1} << below(5);
  for (std::size_t i = 0; i < changes; ++i) change(input);
  if (input.size() > max_length_) input.resize(max_length_);
  return input;
}

}  // namespace fuzz
