#include "libgdr/relay/rules.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <sstream>
#include <string>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/relay/units.hpp"

namespace gdr::relay {
namespace {

bool covers(const Endpoint& rule, const Endpoint& packet) noexcept {
  return (rule.address == 0 || rule.address == packet.address) &&
         (rule.port == 0 || rule.port == packet.port);
}

[[noreturn]] void refuse(std::string_view rule, const std::string& reason) {
  throw Error(ErrorCategory::Usage, fmt::format("rule '{}': {}", rule, reason));
}

Endpoint parse_end(std::string_view rule, const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string host = text.substr(0, colon);
  Endpoint end;
  if (colon != std::string::npos) {
    const auto port = parse_all<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0) refuse(rule, fmt::format("'{}' has no port from 1 to 65535", text));
    end.port = *port;
  }
  in_addr address{};
  if (host == "*") return end;
  if (::inet_pton(AF_INET, host.c_str(), &address) != 1)
    refuse(rule, fmt::format("'{}' is no IPv4 address; * stands for any", host));
  end.address = ntohl(address.s_addr);
  return end;
}

}  // namespace

bool Rule::matches(Direction way, const PacketFields& packet, Time since_start) const noexcept {
  return (!direction || *direction == way) && covers(source, packet.source) &&
         covers(destination, packet.destination) && since_start >= from && since_start < until;
}

Rule parse_rule(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  if (word != "drop" && word != "reset") refuse(text, "it must begin with drop or reset");
  Rule rule;
  rule.reset = word == "reset";
  while (words >> word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "from")
      rule.source = parse_end(text, value);
    else if (name == "to")
      rule.destination = parse_end(text, value);
    else if (name == "after")
      rule.from = parse_time(name, value);
    else if (name == "until")
      rule.until = parse_time(name, value);
    else if (name == "direction" && (value == "server" || value == "client"))
      rule.direction = value == "server" ? Direction::ToServer : Direction::ToClient;
    else
      refuse(text, fmt::format("'{}': known are from=, to=, after=, until=, "
                               "direction=server and direction=client",
                               word));
  }
  if (rule.until <= rule.from) refuse(text, "it ends before it begins");
  return rule;
}

}  // namespace gdr::relay
