// Commands that move the chip, and conditions that stop it.
#include <algorithm>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/debug/session_commands.hpp"

namespace gdr::cli {
namespace {

using Stop = const std::stop_token&;

}  // namespace

// --- movement

void SessionCommands::step(Session& s, Words& words) {
  const std::uint64_t n = words.take_number().value_or(1);
  const bool clocks = words.take_if("clocks", 5);
  words.finish();
  s.move([&](Stop stop) {
    return clocks ? s.debugger_.step_clocks(n, stop) : s.debugger_.step(n, stop);
  });
}
void SessionCommands::back(Session& s, Words& words) {
  const std::uint64_t n = words.take_number().value_or(1);
  words.finish();
  s.move([&](Stop stop) { return s.debugger_.back(n, stop); });
}
void SessionCommands::next(Session& s, Words& words) {
  words.take_if("pass");
  words.finish();
  s.move([&](Stop stop) { return s.debugger_.next_pass(stop); });
}
void SessionCommands::previous(Session& s, Words& words) {
  words.take_if("pass");
  words.finish();
  s.move([&](Stop stop) { return s.debugger_.previous_pass(stop); });
}
void SessionCommands::run(Session& s, Words& words) {
  words.finish();
  s.move([&](Stop stop) { return s.debugger_.run(stop); });
}
void SessionCommands::run_back(Session& s, Words& words) {
  words.finish();
  s.move([&](Stop stop) { return s.debugger_.run_back(stop); });
}
void SessionCommands::go_to(Session& s, Words& words) {
  const std::uint64_t position = words.take_number("the position");
  words.finish();
  s.move([&](Stop stop) { return s.debugger_.go_to(position, stop); });
}
void SessionCommands::restart(Session& s, Words& words) {
  words.finish();
  s.move([&](Stop stop) { return s.debugger_.go_to(0, stop); });
}

// --- conditions

void SessionCommands::add_break(Session& s, Words& words) {
  Debugger& d = s.debugger_;
  const auto pass = [&]() -> std::optional<std::uint64_t> {
    if (!words.take_if("pass", 4)) return std::nullopt;
    return words.take_number("the pass");
  };
  unsigned number = 0;
  if (words.empty()) {
    const MachinePlace place = d.machine().place();
    if (d.at_end()) throw usage_error("the program has ended: name a place, as in break body 3");
    number = d.break_at(section_names[place.section], place.instruction);
  } else if (words.take_if("clock", 5)) {
    const std::uint64_t clock = words.take_number("the clock");
    words.finish();
    number = d.break_at_clock(clock);
  } else if (is_section(words.peek())) {
    const std::string section = section_named(words.take("section"));
    const auto instruction = words.take_number();
    const auto in_pass = pass();
    words.finish();
    number = instruction ? d.break_at(section, *instruction, in_pass)
                         : d.break_at_section(section, in_pass);
  } else {
    const std::string where = words.take("place");
    words.finish();
    const std::size_t colon = where.rfind(':');
    const std::string file = colon == std::string::npos ? "" : where.substr(0, colon);
    const auto line = parse_all<std::uint32_t>(
        std::string_view(where).substr(colon == std::string::npos ? 0 : colon + 1));
    if (!line)
      throw usage_error(
          "'{}' is no place: give a source line (95, gravity.gds:95), an "
          "instruction (body 12), a section (start, body, end), or clock N",
          where);
    number = d.break_at_line(*line, file);
  }
  const StopCondition& added = d.conditions().back();
  print("breakpoint {}: {}{}\n", number, added.text,
        added.instructions.size() > 1
            ? fmt::format(", {}", counted(added.instructions.size(), "place"))
            : std::string());
}

void SessionCommands::watch(Session& s, Words& words) {
  const std::string text = words.take("what to watch (a variable or a location)");
  const Location location = s.location(text);
  const PeChoice choice = s.choice(words, s.focus_);
  words.finish();
  const std::vector<MachineWord> list = location.words(s.debugger_.machine(), choice);
  std::string where = pe_text(list.front());
  if (choice.all_pes && location.memory != MachineMemory::Broadcast)
    where = choice.all_blocks ? "all PEs" : fmt::format("block {}, all PEs", choice.block);
  else if (choice.all_blocks)
    where = location.memory == MachineMemory::Broadcast
                ? "all blocks"
                : fmt::format("PE {} of all blocks", choice.pe);
  const unsigned number = s.debugger_.watch(list, fmt::format("{} ({})", text, where));
  print("watch {}: {} ({})\n", number, text, where);
}

void SessionCommands::for_numbers(Session& s, Words& words, const char* what,
                                  const std::function<void(unsigned)>& apply) {
  std::vector<unsigned> numbers;
  if (words.empty() || words.take_if("all", 3)) {
    for (const StopCondition& c : s.debugger_.conditions()) numbers.push_back(c.number);
    if (numbers.empty()) throw usage_error("there is nothing to {}", what);
  }
  while (!words.empty())
    numbers.push_back(static_cast<unsigned>(
        std::min<std::uint64_t>(words.take_number("a number of info breakpoints"), ~0U)));
  // All numbers are checked before the first one has an effect.
  for (const unsigned number : numbers)
    if (std::ranges::find(s.debugger_.conditions(), number, &StopCondition::number) ==
        s.debugger_.conditions().end())
      throw usage_error("there is no breakpoint or watch with the number {}", number);
  for (const unsigned number : numbers) apply(number);
}
void SessionCommands::remove(Session& s, Words& words) {
  for_numbers(s, words, "delete", [&](unsigned n) {
    const auto& all = s.debugger_.conditions();
    if (std::ranges::find(all, n, &StopCondition::number) != all.end()) s.debugger_.remove(n);
  });
}
void SessionCommands::enable(Session& s, Words& words) {
  for_numbers(s, words, "enable", [&](unsigned n) { s.debugger_.enable(n, true); });
}
void SessionCommands::disable(Session& s, Words& words) {
  for_numbers(s, words, "disable", [&](unsigned n) { s.debugger_.enable(n, false); });
}

}  // namespace gdr::cli
