// Commands that print the program and tables, and read scripts.
#include <algorithm>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/debug/session_commands.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

constexpr std::size_t lines_around = 5;
constexpr unsigned max_script_depth = 16;

}  // namespace

// --- texts

void SessionCommands::list(Session& s, Words& words) {
  const MachinePlace place = s.debugger_.machine().place();
  std::string section = s.debugger_.at_end() ? "end" : s.section_of(place);
  std::size_t middle = place.instruction;
  if (!words.empty() && is_section(words.peek())) {
    section = section_named(words.take("section"));
    const auto given = words.take_number();
    words.finish();
    if (!given) return print("{}", s.listing(section, 0, ~std::size_t{0}));
    middle = *given;
  } else if (const auto given = words.take_number()) {
    middle = *given;
  }
  words.finish();
  const std::size_t first = middle > lines_around ? middle - lines_around : 0;
  print("{}", s.listing(section, first, 2 * lines_around + 1));
}

void SessionCommands::info(Session& s, Words& words) {
  if (words.empty())
    throw usage_error("info about what: breakpoints, program, variables or position");
  if (words.take_if("breakpoints") || words.take_if("watches")) {
    words.finish();
    if (s.debugger_.conditions().empty()) return print("no breakpoints and no watches\n");
    for (const StopCondition& c : s.debugger_.conditions())
      print("{:>3}  {:<10} {:<9} {:>5} {}  {}\n", c.number,
            c.kind == StopKind::Change ? "watch" : "breakpoint", c.enabled ? "" : "disabled",
            c.hits, c.hits == 1 ? "stop " : "stops", c.text);
  } else if (words.take_if("program", 2)) {
    words.finish();
    program_info(s);
  } else if (words.take_if("variables")) {
    words.finish();
    variables_info(s);
  } else if (words.take_if("position", 2)) {
    words.finish();
    print("{}", s.position_text());
  } else {
    throw usage_error("no info about '{}': breakpoints, program, variables or position",
                      words.peek());
  }
}
void SessionCommands::program_info(Session& s) {
  const Program& p = s.program();
  const Machine& m = s.debugger_.machine();
  const ReportRow row{22};
  std::string text = row("kernel", "{}", p.name);
  for (unsigned k = 1; k < section_count; ++k)
    text += row(fmt::format("section {}", section_names[k]), "{}, {}",
                counted(p.sections[k].size(), "instruction"),
                counted(p.clocks(static_cast<Section>(k)), "clock"));
  text += row("targets", "{} of {} that fit", m.target_count(), m.target_slots());
  text += row("targets of a PE", "{}", p.elements);
  text += row("passes of the body", "{}, {} each", m.passes(), counted(p.group, "source"));
  text += row("chip", "{} of {}", counted(m.blocks(), "block"), counted(m.pes(), "PE"));
  for (const std::string& file : p.files) text += row("source file", "{}", file);
  text += row("copies for back", "{}, {:.1f} MB", s.debugger_.checkpoints(),
              static_cast<double>(s.debugger_.checkpoint_bytes()) / 1e6);
  print("{}", text);
}
void SessionCommands::variables_info(Session& s) {
  for (const MachineVariable& v : s.debugger_.machine().variables()) {
    const MachineWord word{v.memory, 0, 0, v.address, v.is_long};
    std::string location = location_text(word);
    if (v.memory == MachineMemory::T) location = location.substr(0, location.find('['));
    if (v.count > 1 && v.memory != MachineMemory::T) location += 'v';
    const std::string line =
        fmt::format("  {:<6} {:<20} {:<8} {} {}", v.kind == "name" ? "" : v.kind, v.name, location,
                    v.conversion, v.reduction);
    print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void SessionCommands::source(Session& s, Words& words) {
  const std::string path = words.take("the file of commands");
  words.finish();
  if (s.script_depth_ >= max_script_depth)
    throw usage_error("scripts are nested too deeply: does {} read itself?", path);
  const std::string text = read_file(path);
  ++s.script_depth_;
  try {
    s.execute_script(text, path);
  } catch (...) {
    --s.script_depth_;
    throw;
  }
  --s.script_depth_;
}
void SessionCommands::quit(Session& s, Words& words) {
  words.finish();
  s.finished_ = true;
}

}  // namespace gdr::cli
