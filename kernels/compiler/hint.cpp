// Hints: a line of the source that says where the search found its schedule.
#include <fmt/core.h>

#include <charconv>

#include "kernels/compiler/back.hpp"

namespace gdr::kc {
namespace {

constexpr std::string_view mark = "schedule: elements ";

constexpr std::string_view again = " recompute";

/// The number after a word, or false.
bool read(std::string_view& text, std::string_view word, std::uint64_t& number) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string to_text(const Hint& h) {
  return fmt::format("{}{} interval {} copies {} guard {} seed {} moves {}{}", mark, h.elements,
                     h.interval, h.copies, h.guarded ? 1 : 0, h.seed, h.moves,
                     h.recompute ? again : "");
}

std::optional<Hint> find_hint(std::string_view source) {
  const std::size_t at = source.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = source.substr(at);
  std::uint64_t elements = 0, interval = 0, copies = 0, guard = 0;
  Hint h;
  const bool complete = read(text, mark, elements) && read(text, " interval ", interval) &&
                        read(text, " copies ", copies) && read(text, " guard ", guard) &&
                        read(text, " seed ", h.seed) && read(text, " moves ", h.moves);
  constexpr std::uint64_t most_moves = 1'000'000'000;
  if (!complete || elements < 1 || elements > max_elements || interval < 1 || interval > 10000 ||
      copies < 1 || copies > 2 || guard > 1 || h.moves > most_moves)
    return std::nullopt;
  h.elements = static_cast<unsigned>(elements);
  h.interval = static_cast<unsigned>(interval);
  h.copies = static_cast<unsigned>(copies);
  h.guarded = guard == 1;
  h.recompute = text.starts_with(again);
  return h;
}

}  // namespace gdr::kc
