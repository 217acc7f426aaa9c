// Saved schedules: a comment in the source with the parameters of a successful search.
#include <fmt/core.h>

#include <charconv>

#include "kernels/compiler/codegen.hpp"

namespace gdr::kc {
namespace {

constexpr std::string_view mark = "schedule: elements ";

constexpr std::string_view rematerialize_word = " rematerialize";

/// Reads the number after a word; false if it is missing.
bool read_number(std::string_view& text, std::string_view word, std::uint64_t& number) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string to_text(const SavedSchedule& h) {
  return fmt::format("{}{} ii {} unroll {} prologue_predicate {} seed {} steps {}{}", mark,
                     h.elements, h.ii, h.unroll, h.prologue_predicated ? 1 : 0, h.seed, h.steps,
                     h.rematerialize ? rematerialize_word : "");
}

std::optional<SavedSchedule> find_saved_schedule(std::string_view source) {
  const std::size_t at = source.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = source.substr(at);
  std::uint64_t elements = 0, ii = 0, unroll = 0, prologue_predicate = 0;
  SavedSchedule h;
  const bool complete = read_number(text, mark, elements) && read_number(text, " ii ", ii) &&
                        read_number(text, " unroll ", unroll) &&
                        read_number(text, " prologue_predicate ", prologue_predicate) &&
                        read_number(text, " seed ", h.seed) &&
                        read_number(text, " steps ", h.steps);
  constexpr std::uint64_t max_steps = 1'000'000'000;
  if (!complete || elements < 1 || elements > max_elements || ii < 1 || ii > 10000 || unroll < 1 ||
      unroll > 2 || prologue_predicate > 1 || h.steps > max_steps)
    return std::nullopt;
  h.elements = static_cast<unsigned>(elements);
  h.ii = static_cast<unsigned>(ii);
  h.unroll = static_cast<unsigned>(unroll);
  h.prologue_predicated = prologue_predicate == 1;
  h.rematerialize = text.starts_with(rematerialize_word);
  return h;
}

}  // namespace gdr::kc
