#include "libgdr/cli/debug/locations.hpp"

#include <algorithm>
#include <array>

#include "emulator/isa/geometry.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

/// A memory by its prefix in assembly.
struct Prefix {
  std::string_view text;
  MachineMemory memory;
  bool is_long;
};
constexpr std::array<Prefix, 6> prefixes{{{"lr", MachineMemory::Registers, true},
                                          {"lm", MachineMemory::Local, true},
                                          {"lb", MachineMemory::Broadcast, true},
                                          {"r", MachineMemory::Registers, false},
                                          {"m", MachineMemory::Local, false},
                                          {"b", MachineMemory::Broadcast, false}}};

/// T and its halves.
struct TName {
  std::string_view text;
  bool is_long;
  std::size_t half;
};
constexpr std::array<TName, 3> t_names{{{"t", true, 0}, {"th", false, 0}, {"tl", false, 1}}};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw usage_error("'{}': {}", text, why);
}

/// A location in assembly or a mask; nothing for other texts.
std::optional<Location> raw_location(std::string_view text, std::size_t elements) {
  const bool dollar = text.starts_with('$');
  std::string_view rest = text.substr(dollar ? 1 : 0);
  Location out;
  out.name = text;
  for (const TName& t : t_names)
    if (rest == t.text) {
      out.memory = MachineMemory::T;
      out.is_long = t.is_long;
      for (std::size_t e = 0; e < max_elements; ++e) out.addresses.push_back(2 * e + t.half);
      return out;
    }
  const std::string_view mask = rest.starts_with("mask")           ? rest.substr(4)
                                : !dollar && rest.starts_with('m') ? rest.substr(1)
                                                                   : std::string_view();
  if (const auto number = parse_all<std::size_t>(mask)) {
    if (*number >= mask_registers)
      refuse(text, fmt::format("masks are m0 to m{}", mask_registers - 1));
    out.memory = MachineMemory::Masks;
    out.is_long = false;
    for (std::size_t e = 0; e < max_elements; ++e)
      out.addresses.push_back(*number * max_elements + e);
    return out;
  }
  for (const Prefix& prefix : prefixes) {
    if (!rest.starts_with(prefix.text)) continue;
    std::string_view digits = rest.substr(prefix.text.size());
    const bool vector = digits.ends_with('v');
    if (vector) digits.remove_suffix(1);
    const auto address = parse_all<std::size_t>(digits);
    if (!address) continue;
    if (prefix.is_long && *address % 2 != 0)
      refuse(text, fmt::format("a long has an even address, not {}", *address));
    out.memory = prefix.memory;
    out.is_long = prefix.is_long;
    const std::size_t step = prefix.is_long ? 2 : 1;
    for (std::size_t e = 0; e < (vector ? elements : 1); ++e)
      out.addresses.push_back(*address + e * step);
    return out;
  }
  return std::nullopt;
}

std::optional<Location> variable(const Machine& machine, std::string_view name,
                                 std::vector<std::string>& known) {
  for (const MachineVariable& v : machine.variables()) {
    known.push_back(v.name);
    if (v.name != name) continue;
    Location out;
    out.name = name;
    out.kind = v.kind;
    out.reduction = v.reduction;
    out.memory = v.memory;
    out.is_long = v.is_long;
    out.format = format_of(v.conversion);
    for (std::size_t e = 0; e < v.count; ++e) out.addresses.push_back(v.address + e * v.step);
    return out;
  }
  return std::nullopt;
}

/// `[K]` at the end of a text.
std::optional<std::size_t> take_element(std::string_view& text) {
  if (!text.ends_with(']')) return std::nullopt;
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos) return std::nullopt;
  const auto element = parse_all<std::size_t>(text.substr(open + 1, text.size() - open - 2));
  if (element) text = text.substr(0, open);
  return element;
}

/// `.hi` or `.lo` at the end of a text: the half, 0 or 1.
std::optional<std::size_t> take_half(std::string_view& text) {
  for (const auto& [suffix, half] : {std::pair{".hi", 0U}, std::pair{".lo", 1U}})
    if (text.ends_with(suffix)) {
      text.remove_suffix(3);
      return half;
    }
  return std::nullopt;
}

/// `@K` at the end of a text: an item of the group.
std::optional<std::size_t> take_item(std::string_view& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto item = parse_all<std::size_t>(text.substr(at + 1));
  if (item) text = text.substr(0, at);
  return item;
}

Location find_location(const Machine& machine, std::string_view text, std::size_t elements) {
  std::vector<std::string> known;
  if (auto found = variable(machine, text, known)) return *found;
  if (auto found = raw_location(text, elements)) return *found;
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto nearest = nearest_name(text, names);
  throw usage_error(
      "unknown variable or location \"{}\"{}; info variables lists the variables, and locations "
      "are "
      "written as in assembly: $lr8, $m4v, $th, $lb10, m0",
      text, nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : std::string());
}

}  // namespace

std::string Location::word_name(std::size_t k) const {
  return addresses.size() == 1 ? name : fmt::format("{}[{}]", name, k);
}

std::vector<MachineWord> Location::words(const Machine& machine, const PeChoice& choice) const {
  const bool shared = memory == MachineMemory::Broadcast;
  const std::size_t last_block = choice.all_blocks ? machine.blocks() - 1 : choice.block;
  const std::size_t last_pe = choice.all_pes && !shared ? machine.pes() - 1 : choice.pe;
  std::vector<MachineWord> list;
  for (std::size_t b = choice.all_blocks ? 0 : choice.block; b <= last_block; ++b)
    for (std::size_t p = choice.all_pes && !shared ? 0 : choice.pe; p <= last_pe; ++p)
      for (const std::size_t address : addresses)
        list.push_back({memory, b, shared ? 0 : p, address, is_long});
  return list;
}

Location parse_location(const Machine& machine, const Program& program, std::string_view text) {
  std::string_view rest = text;
  const auto half = take_half(rest);
  const auto element = take_element(rest);
  const auto item = take_item(rest);
  Location out = find_location(machine, rest, program.elements);
  if (item) {
    if (out.kind != "jvar") refuse(text, "only a jvar has several items, as in xj@1");
    if (*item >= program.group)
      refuse(text, fmt::format("a group has {}, counted from 0", counted(program.group, "item")));
    for (std::size_t& address : out.addresses) address += *item * program.item_shorts;
  }
  if (element) {
    if (*element >= out.addresses.size())
      refuse(text,
             fmt::format("it has {}, counted from 0", counted(out.addresses.size(), "element")));
    out.addresses = {out.addresses[*element]};
  }
  if (half) {
    if (!out.is_long) refuse(text, "only longs have the halves .hi and .lo");
    out.is_long = false;
    out.format = {};
    for (std::size_t& address : out.addresses) address += *half;
  }
  out.name = text;
  // A location of one PE that does not exist is refused here rather than in the middle of a list.
  for (const std::size_t address : out.addresses)
    if (address + (out.is_long ? 1 : 0) >= machine.memory_size(out.memory))
      refuse(text, fmt::format("the last address of this memory is {}",
                               machine.memory_size(out.memory) - (out.is_long ? 2 : 1)));
  return out;
}

}  // namespace gdr::cli
