#include "emulator/board/hardware/faults.hpp"

#include <algorithm>

#include "emulator/host/parse_number.hpp"

namespace gdr {
namespace {

/// In the order of FaultKind.
constexpr std::string_view kinds[] = {
    "crash",        "crash-after-execution", "hang",           "hang-with-heartbeat",
    "delay",        "flip-command",          "flip-payload",   "flip-result",
    "wrong-result", "flip-completion",       "lose-interrupt", "no-memory",
    "no-area"};

/// Removes a number from the front of a text.
bool consume_number(std::string_view& text, std::uint64_t& number) {
  const auto found = take_number<std::uint64_t>(text);
  if (found) number = *found;
  return found.has_value();
}

bool consume(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<Fault> parse_fault(std::string_view text) {
  const std::size_t at = std::min(text.find('@'), text.size());
  const auto kind = std::ranges::find(kinds, text.substr(0, at));
  if (kind == std::end(kinds)) return {};
  Fault fault{static_cast<FaultKind>(kind - kinds)};
  text.remove_prefix(at);
  if (!consume(text, '@') || !consume_number(text, fault.list)) return {};
  if (consume(text, ':') && !consume_number(text, fault.value)) return {};
  if (consume(text, 'x') && !consume_number(text, fault.times)) return {};
  return text.empty() ? std::optional(fault) : std::nullopt;
}

const Fault* find_fault(const std::vector<Fault>& faults, FaultKind kind,
                        std::uint64_t list) noexcept {
  for (const Fault& fault : faults)
    if (fault.kind == kind && list >= fault.list && list - fault.list < fault.times) return &fault;
  return nullptr;
}

bool FaultInjector::flip(FaultKind kind, std::uint64_t* words, std::uint64_t count) const noexcept {
  const Fault* const f = active(kind);
  if (f == nullptr || count == 0) return false;
  const std::uint64_t bit = f->value % (count * 64);
  words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
  return true;
}

}  // namespace gdr
