// Saved schedules: a comment in the source with the parameters of a successful search.
#include <fmt/core.h>

#include <array>
#include <charconv>

#include "kernels/compiler/codegen.hpp"

namespace gdr::kc {
namespace {

/// The words before the numbers of the comment.
constexpr std::array<std::string_view, 6> words{"schedule: elements ",  " ii ",   " unroll ",
                                                " prologue_predicate ", " seed ", " steps "};
constexpr std::string_view rematerialize_word = " rematerialize";

}  // namespace

std::string to_text(const SavedSchedule& s) {
  const std::uint64_t numbers[] = {s.elements, s.ii,   s.unroll, s.prologue_predicated ? 1U : 0U,
                                   s.seed,     s.steps};
  std::string text;
  for (std::size_t k = 0; k < words.size(); ++k) text += fmt::format("{}{}", words[k], numbers[k]);
  if (s.rematerialize) text += rematerialize_word;
  return text;
}

std::optional<SavedSchedule> find_saved_schedule(std::string_view source) {
  const std::size_t at = source.find(words[0]);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = source.substr(at);
  constexpr std::array<std::uint64_t, 6> least{1, 1, 1, 0, 0, 0};
  constexpr std::array<std::uint64_t, 6> most{max_elements,      10000,        2, 1,
                                              ~std::uint64_t{0}, 1'000'000'000};
  std::array<std::uint64_t, 6> numbers{};
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (!text.starts_with(words[k])) return std::nullopt;
    text.remove_prefix(words[k].size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[k]);
    if (error != std::errc{} || numbers[k] < least[k] || numbers[k] > most[k]) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return SavedSchedule{.elements = static_cast<unsigned>(numbers[0]),
                       .ii = static_cast<unsigned>(numbers[1]),
                       .unroll = static_cast<unsigned>(numbers[2]),
                       .prologue_predicated = numbers[3] == 1,
                       .rematerialize = text.starts_with(rematerialize_word),
                       .seed = numbers[4],
                       .steps = numbers[5]};
}

}  // namespace gdr::kc
