#include "emulator/board/hardware/faults.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gdr {
namespace {

constexpr std::pair<std::string_view, FaultKind> kinds[] = {
    {"die", FaultKind::Die},
    {"die-later", FaultKind::DieLater},
    {"hang", FaultKind::Hang},
    {"hang-with-heartbeat", FaultKind::HangWithHeartbeat},
    {"delay", FaultKind::Delay},
    {"flip-command", FaultKind::FlipCommand},
    {"flip-payload", FaultKind::FlipPayload},
    {"flip-result", FaultKind::FlipResult},
    {"wrong-result", FaultKind::WrongResult},
    {"flip-completion", FaultKind::FlipCompletion},
    {"lose-interrupt", FaultKind::LoseInterrupt},
    {"no-memory", FaultKind::NoMemory},
    {"no-area", FaultKind::NoArea}};

/// Removes a number from the front of a text.
bool consume_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool consume(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<Fault> parse_fault(std::string_view text) {
  const std::size_t at = std::min(text.find('@'), text.size());
  const auto kind =
      std::ranges::find_if(kinds, [&](const auto& k) { return k.first == text.substr(0, at); });
  if (kind == std::end(kinds)) return {};
  Fault fault{kind->second};
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

}  // namespace gdr
