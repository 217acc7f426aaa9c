// What the debugger prints: positions, listings, changes.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/host/threads.hpp"
#include "libgdr/cli/debug/changes.hpp"
#include "libgdr/cli/debug/session.hpp"
#include "libgdr/cli/output.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {
namespace {

constexpr std::size_t max_watch_lines = 8;
constexpr unsigned body = 2, at_end = 4;

/// Runs work(stop) and requests a stop at a signal; returns the signal, or 0.
template <typename Work>
int interruptible(const Work& work) {
  const InterruptGuard guard;
  std::stop_source stop;
  // Where the system refuses the thread a signal takes effect after the work.
  const HostThread poll = start_thread([&stop](const std::stop_token& done) {
    while (!done.stop_requested()) {
      if (InterruptGuard::received() != 0) stop.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  work(stop.get_token());
  return InterruptGuard::received();
}

}  // namespace

Session::Session(Debugger debugger, Kernel kernel, SourceText source)
    : debugger_(std::move(debugger)), kernel_(std::move(kernel)), source_(std::move(source)) {
  std::set<std::pair<std::string, std::uint32_t>> seen;
  for (const std::string_view section : section_names)
    for (const MachineInstruction& i : debugger_.machine().listing(section))
      if (!i.text.starts_with("nop") && !seen.emplace(i.file, i.line).second)
        repeated_lines_.emplace(i.file, i.line);
}

std::string Session::section_of(const MachinePlace& place) const {
  return place.section == at_end ? std::string() : std::string(section_names[place.section]);
}

std::optional<InstructionPlace> Session::previous_instruction() const {
  if (debugger_.position() == 0) return std::nullopt;
  const MachinePlace place = debugger_.machine().place();
  if (place.section != at_end && place.instruction > 0)
    return InstructionPlace{place.section, place.instruction - 1};
  for (unsigned section = place.section + 1; section-- > 1;) {
    // The section itself comes before its beginning only in a later pass.
    if (section == place.section && (section != body || place.pass == 0)) continue;
    if (section == body && debugger_.machine().passes() == 0) continue;
    if (section != at_end && !program().sections[section].empty())
      return InstructionPlace{section, program().sections[section].size() - 1};
  }
  return std::nullopt;
}

std::string Session::source_line(const InstructionPlace& at) {
  const std::vector<SourceLine>& lines = program().lines[at.section];
  if (at.instruction >= lines.size()) return {};
  const SourceLine line = lines[at.instruction];
  return line.file < program().files.size() ? source_.line(program().files[line.file], line.line)
                                            : std::string();
}

std::string Session::position_text() {
  const MachinePlace place = debugger_.machine().place();
  const std::string clock = fmt::format("clock {}, position {}", place.clock, debugger_.position());
  if (place.section == at_end) return fmt::format("end of the program, {}\n", clock);
  const std::string section = section_of(place);
  std::string text = fmt::format("{} {} of {}", section, place.instruction,
                                 program().sections[place.section].size());
  if (place.section == body)
    text += fmt::format(", pass {} of {}", place.pass, debugger_.machine().passes());
  const MachinePosition at = debugger_.machine().position();
  const MachineInstruction next{at.text, at.file, at.line, 0};
  return fmt::format("{}, {}\n{}", text, clock,
                     instruction_line(place.instruction, next, true, false));
}

std::string Session::instruction_line(std::size_t index, const MachineInstruction& instruction,
                                      bool current, bool stopped) {
  // An instruction that the assembler has inserted has the line of the next one, and those of a
  // template have the same lines at every use.
  const bool own_line = !instruction.text.starts_with("nop") &&
                        !repeated_lines_.contains({instruction.file, instruction.line});
  const std::string source =
      own_line ? source_.line(instruction.file, instruction.line) : std::string();
  const std::string line = instruction.line == 0 ? std::string() : std::to_string(instruction.line);
  return fmt::format("{}{}{:>4} {:>5}  {}\n", current ? "=>" : "  ", stopped ? "*" : " ", index,
                     line, source.empty() ? instruction.text : source);
}

std::string Session::listing(std::string_view section, std::size_t first, std::size_t count) {
  const std::vector<MachineInstruction> all = debugger_.machine().listing(section);
  const MachinePlace place = debugger_.machine().place();
  const auto stopped = [&](std::size_t k) {
    return std::ranges::any_of(debugger_.conditions(), [&](const StopCondition& c) {
      return std::ranges::any_of(c.instructions, [&](const auto& at) {
        return section_names[at.first] == section && at.second == k;
      });
    });
  };
  std::string text = fmt::format("section {}, {} (number, source line)\n", section,
                                 counted(all.size(), "instruction"));
  for (std::size_t k = first; k < std::min(all.size(), first + count); ++k) {
    const bool current = section_of(place) == section && place.instruction == k;
    text += instruction_line(k, all[k], current, stopped(k));
    // The microcode, with locations instead of names.
    const std::string source = source_.line(all[k].file, all[k].line);
    if (current && !source.empty())
      text += fmt::format("               {} ({})\n",
                          instruction_text(program().sections[place.section][k], OperandNames()),
                          counted(all[k].clocks, "clock"));
  }
  return text;
}

std::string Session::shown_instruction(const InstructionPlace& at) {
  const std::string line = source_line(at);
  return line.empty() ? instruction_text(program().sections[at.section][at.instruction],
                                         OperandNames(program()))
                      : line.substr(0, line.find_last_not_of(' ', line.find('#') - 1) + 1);
}

std::string Session::watched_text(const StopCondition& condition, const StopReport& report) {
  const WordNames names(debugger_.machine());
  std::string text;
  std::size_t lines = 0, others = 0;
  for (const WordChange& change : report.changes) {
    if (change.number != condition.number) continue;
    if (lines == max_watch_lines) {
      ++others;
      continue;
    }
    ++lines;
    const MachineWord& word = condition.words[change.word];
    const WordNames::Name name = names.of(word.memory, word.address);
    const WordFormat format = name.is_long == word.is_long ? name.format : WordFormat{};
    const std::string label = name.is_long != word.is_long ? location_text(word)
                              : name.element < 0           ? name.text
                                                 : fmt::format("{}[{}]", name.text, name.element);
    text += fmt::format("  {} ({})  {} -> {}\n", label, pe_text(word),
                        value_text(change.before, word, format),
                        value_text(change.after, word, format));
  }
  if (others > 0) text += fmt::format("  and {} more\n", counted(others, "word"));
  return text;
}

std::string Session::report_text(const StopReport& report) {
  std::string text;
  for (const StopCondition& c : debugger_.conditions()) {
    if (std::ranges::find(report.conditions, c.number) == report.conditions.end()) continue;
    if (c.kind == StopKind::Change) {
      text += fmt::format("watch {}: {} has changed", c.number, c.text);
      if (const auto by = previous_instruction())
        text += fmt::format(" by {} {}: {}", section_names[by->section], by->instruction,
                            shown_instruction(*by));
      text += "\n";
      text += watched_text(c, report);
    } else {
      text += fmt::format("breakpoint {}, {}\n", c.number, c.text);
    }
  }
  if (report.reason == StopReason::Beginning) text += "beginning of the run\n";
  if (report.reason == StopReason::Interrupted) text += "interrupted\n";
  return text;
}

void Session::move(const std::function<StopReport(const std::stop_token&)>& movement) {
  const Machine& machine = debugger_.machine();
  const PeState before = pe_state(machine, focus_.block, focus_.pe);
  const std::uint64_t from = debugger_.position();
  const auto undone = previous_instruction();
  StopReport report;
  interrupted_ = interruptible([&](const std::stop_token& stop) { report = movement(stop); });
  const std::uint64_t to = debugger_.position();
  const auto changing = to == from + 1   ? previous_instruction()
                        : from == to + 1 ? undone
                                         : std::nullopt;
  const PeState after = pe_state(machine, focus_.block, focus_.pe);
  std::string changes;
  if (changing)
    changes = changes_text(
        before, after,
        WordNames(machine, program(), program().sections[changing->section][changing->instruction],
                  source_line(*changing)),
        ChangesOf::Instruction);
  else
    changes = changes_text(before, after, WordNames(machine), ChangesOf::Variables);
  std::string text = report_text(report);
  if (!changes.empty())
    text += fmt::format("changed in block {}, PE {}\n{}", focus_.block, focus_.pe, changes);
  else if (changing)
    text += fmt::format("nothing has changed in block {}, PE {}\n", focus_.block, focus_.pe);
  print("{}{}", text, position_text());
}

std::string Session::greeting() {
  const Machine& m = debugger_.machine();
  return fmt::format("{}: {}, {} of the body, on {} of {}\n{}", kernel_.name(),
                     counted(m.target_count(), "target"),
                     fmt::format("{} pass{}", m.passes(), m.passes() == 1 ? "" : "es"),
                     counted(m.blocks(), "block"), counted(m.pes(), "PE"), position_text());
}

Location Session::location(std::string_view text) const {
  return parse_location(debugger_.machine(), program(), text);
}

PeChoice Session::choice(Words& words, PeChoice chosen) const {
  const auto take = [&](std::string_view what, std::size_t& number, bool& all, std::size_t size) {
    if (words.take_if("all", 3) || words.take_if("*")) {
      all = true;
      return;
    }
    const std::uint64_t given = words.take_number(what);
    if (given >= size) throw usage_error("{} {}: the last one is {}", what, given, size - 1);
    number = given;
  };
  for (;;) {
    if (words.take_if("pe", 2))
      take("PE", chosen.pe, chosen.all_pes, debugger_.machine().pes());
    else if (words.take_if("block", 5))
      take("block", chosen.block, chosen.all_blocks, debugger_.machine().blocks());
    else
      return chosen;
  }
}

}  // namespace gdr::cli
