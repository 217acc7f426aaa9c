// The debugger's commands. Each takes the words of its line and prints.
#include "libgdr/cli/debug/session_commands.hpp"

#include <algorithm>
#include <array>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/debug/changes.hpp"
#include "libgdr/cli/kernel_inputs.hpp"
#include "libgdr/io/atomic_file.hpp"

namespace gdr::cli {
namespace {

constexpr std::size_t lines_around = 5;
constexpr unsigned most_script_depth = 16;

bool is_section(std::string_view word) {
  return word == "start" || word == "body" || word == "loop" || word == "end";
}
/// Whether a program writes only shorts to the long at an address.
bool holds_shorts(const Program& program, Space space, std::size_t address) {
  bool shorts = false, longs = false;
  const auto look = [&](const Operand& operand, unsigned elements) {
    if (operand.space != space) return;
    for (unsigned e = 0; e < elements; ++e) {
      // The address in T counts halves of the element.
      const bool here = space == Space::T || (operand.at(e) & ~1U) == address;
      (operand.width == Width::Long ? longs : shorts) |= here;
    }
  };
  for (const auto& section : program.sections)
    for (const Instruction& i : section) {
      look(i.mul.dst, i.vlen);
      look(i.alu.dst, i.vlen);
      if (i.move.op == Op::Bget) look(i.move.pe, i.vlen);
    }
  return shorts && !longs;
}

/// `loop` is another word for the body.
std::string section_named(std::string word) { return word == "loop" ? "body" : word; }

}  // namespace

/// The commands; a friend of the session.
struct SessionCommands {
  using Stop = const std::stop_token&;

  // --- movement

  static void step(Session& s, Words& words) {
    const std::uint64_t n = words.take_number().value_or(1);
    const bool clocks = words.take_if("clocks", 5);
    words.finish();
    s.move([&](Stop stop) {
      return clocks ? s.debugger_.step_clocks(n, stop) : s.debugger_.step(n, stop);
    });
  }
  static void back(Session& s, Words& words) {
    const std::uint64_t n = words.take_number().value_or(1);
    words.finish();
    s.move([&](Stop stop) { return s.debugger_.back(n, stop); });
  }
  static void next(Session& s, Words& words) {
    words.take_if("pass");
    words.finish();
    s.move([&](Stop stop) { return s.debugger_.next_pass(stop); });
  }
  static void previous(Session& s, Words& words) {
    words.take_if("pass");
    words.finish();
    s.move([&](Stop stop) { return s.debugger_.previous_pass(stop); });
  }
  static void run(Session& s, Words& words) {
    words.finish();
    s.move([&](Stop stop) { return s.debugger_.run(stop); });
  }
  static void run_back(Session& s, Words& words) {
    words.finish();
    s.move([&](Stop stop) { return s.debugger_.run_back(stop); });
  }
  static void go_to(Session& s, Words& words) {
    const std::uint64_t position = words.take_number("the position");
    words.finish();
    s.move([&](Stop stop) { return s.debugger_.go_to(position, stop); });
  }
  static void restart(Session& s, Words& words) {
    words.finish();
    s.move([&](Stop stop) { return s.debugger_.go_to(0, stop); });
  }

  // --- conditions

  static void add_break(Session& s, Words& words) {
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

  static void watch(Session& s, Words& words) {
    const std::string text = words.take("what to watch (a variable or a location)");
    const Location location = s.location(text);
    const PeChoice choice = s.choice(words);
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

  static void for_numbers(Session& s, Words& words, const char* what,
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
  static void remove(Session& s, Words& words) {
    for_numbers(s, words, "delete", [&](unsigned n) {
      const auto& all = s.debugger_.conditions();
      if (std::ranges::find(all, n, &StopCondition::number) != all.end()) s.debugger_.remove(n);
    });
  }
  static void enable(Session& s, Words& words) {
    for_numbers(s, words, "enable", [&](unsigned n) { s.debugger_.enable(n, true); });
  }
  static void disable(Session& s, Words& words) {
    for_numbers(s, words, "disable", [&](unsigned n) { s.debugger_.enable(n, false); });
  }

  // --- values

  static void print_words(Session& s, Words& words) {
    std::vector<Location> locations;
    std::optional<WordFormat> format;
    PeChoice choice = s.focus_;
    do {
      const PeChoice chosen = s.choice(words);
      if (chosen.all_pes || chosen.all_blocks || chosen.pe != s.focus_.pe ||
          chosen.block != s.focus_.block)
        choice = chosen;
      if (words.empty()) break;
      if (const auto given = locations.empty() ? std::nullopt : parse_format(words.peek())) {
        words.take("format");
        format = given;
      } else {
        locations.push_back(s.location(words.take("location")));
      }
    } while (!words.empty());
    if (locations.empty())
      throw usage_error("what to print is missing: a variable (info variables) or a location");
    std::string text;
    for (const Location& location : locations) text += values_text(s, location, choice, format);
    print("{}", text);
  }

  static std::string values_text(Session& s, const Location& location, const PeChoice& choice,
                                 const std::optional<WordFormat>& format) {
    const Machine& machine = s.debugger_.machine();
    const std::vector<MachineWord> list = location.words(machine, choice);
    const bool many = choice.all_pes || choice.all_blocks;
    std::string text;
    if (location.kind == "jvar" && machine.place().section == 1)
      text += "(sources are in the broadcast memory from the body on)\n";
    for (std::size_t k = 0; k < list.size(); ++k) {
      const MachineWord& word = list[k];
      const MachineBits bits = s.debugger_.read(word);
      const std::string value = cli::value_text(bits, word, format.value_or(location.format));
      const std::string hex = hex_text(bits, word);
      text += location.word_name(k % location.addresses.size());
      if (many) text += fmt::format(" ({})", pe_text(word));
      text += fmt::format(" = {}", value);
      if (word.memory != MachineMemory::Masks && value != "0x" + hex)
        text += fmt::format("  (0x{})", hex);
      text += '\n';
    }
    return text;
  }

  static void set(Session& s, Words& words) {
    const Location location = s.location(words.take("a variable or a location"));
    const PeChoice choice = s.choice(words);
    words.take_if("=");
    std::vector<std::string> values{words.take("the value")};
    while (!words.empty()) values.push_back(words.take("value"));
    const std::size_t count = location.addresses.size();
    if (values.size() != 1 && values.size() != count)
      throw usage_error("{} has {}: give one value, or one for each", location.name,
                        counted(count, "word"));
    const std::vector<MachineWord> list = location.words(s.debugger_.machine(), choice);
    std::vector<MachineBits> bits;
    for (std::size_t k = 0; k < list.size(); ++k)
      bits.push_back(
          parse_value(values[values.size() == 1 ? 0 : k % count], list[k], location.format));
    for (std::size_t k = 0; k < list.size(); ++k) s.debugger_.write(list[k], bits[k]);
    print("{}", values_text(s, location, choice, std::nullopt));
  }

  /// A line for each word of a memory: location, bits, value, name.
  static std::string table(Session& s, const std::vector<MachineWord>& list,
                           const std::optional<WordFormat>& format) {
    const WordNames names(s.debugger_.machine());
    std::string text;
    for (const MachineWord& word : list) {
      const MachineBits bits = s.debugger_.read(word);
      const WordNames::Name name = names.of(word.memory, word.address);
      const bool fits = name.is_long == word.is_long && word.memory != MachineMemory::T;
      const WordFormat shown = format.value_or(fits ? name.format : WordFormat{});
      std::string label = name.text.starts_with('$') ? std::string()
                          : name.element < 0         ? name.text
                                             : fmt::format("{}[{}]", name.text, name.element);
      if (word.memory == MachineMemory::Masks) label.clear();
      std::string line = fmt::format("  {:<8} {:>18}  {:<24} {}", location_text(word),
                                     hex_text(bits, word), value_text(bits, word, shown), label);
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
  }

  static void registers(Session& s, Words& words) {
    PeChoice choice = s.choice(words);
    std::optional<WordFormat> format;
    std::optional<bool> width;  // none: as the program writes them
    while (!words.empty()) {
      if (words.take_if("short", 5)) {
        width = false;
      } else if (words.take_if("long", 4)) {
        width = true;
      } else if (const auto given = parse_format(words.peek())) {
        words.take("format");
        format = given;
      } else {
        words.finish();
      }
    }
    choice.all_blocks = choice.all_pes = false;
    const Machine& m = s.debugger_.machine();
    std::vector<MachineWord> list;
    const auto add = [&](MachineMemory memory, std::size_t address, bool wide) {
      list.push_back({memory, choice.block, choice.pe, address, wide});
    };
    for (const auto& [memory, space] : {std::pair{MachineMemory::Registers, Space::Register},
                                        std::pair{MachineMemory::T, Space::T}})
      for (std::size_t a = 0; a < m.memory_size(memory); a += 2) {
        const bool wide = width.value_or(!holds_shorts(s.program(), space, a));
        add(memory, a, wide);
        if (!wide) add(memory, a + 1, false);
      }
    std::string text =
        fmt::format("block {}, PE {}\n{}", choice.block, choice.pe, table(s, list, format));
    const std::size_t elements = 4;
    for (std::size_t a = 0; a < m.memory_size(MachineMemory::Masks); a += elements) {
      text += fmt::format("  m{}       ", a / elements);
      for (std::size_t e = 0; e < elements; ++e)
        text += fmt::format(" {}", m.word(MachineMemory::Masks, choice.block, a + e, choice.pe));
      text += '\n';
    }
    const MachineFlags flags = m.flags(choice.block);
    text += fmt::format("  flags of the block:{}{}{}{}\n", flags.invalid ? " invalid" : "",
                        flags.overflow ? " overflow" : "", flags.underflow ? " underflow" : "",
                        flags == MachineFlags{} ? " none" : "");
    print("{}", text);
  }

  static void memory(Session& s, Words& words) {
    Location location = s.location(words.take("an address, such as $lm0 or $b4, or a variable"));
    const auto count = words.take_number();
    PeChoice choice = s.choice(words);
    std::optional<WordFormat> format;
    if (!words.empty() && (format = parse_format(words.peek()))) words.take("format");
    words.finish();
    choice.all_blocks = choice.all_pes = false;
    if (count) {
      const std::size_t step = location.is_long || location.memory == MachineMemory::T ? 2 : 1;
      const std::size_t first = location.addresses.front();
      const std::size_t size = s.debugger_.machine().memory_size(location.memory);
      const std::size_t most = (size - first + step - 1) / step;
      location.addresses.clear();
      for (std::size_t k = 0; k < std::min<std::uint64_t>(*count, most); ++k)
        location.addresses.push_back(first + k * step);
    }
    const std::vector<MachineWord> list = location.words(s.debugger_.machine(), choice);
    if (list.empty()) return;
    print("{}\n{}", pe_text(list.front()), table(s, list, format));
  }

  static void reduce(Session& s, Words& words) {
    const Location location = s.location(words.take("a variable or a location"));
    const PeChoice choice = s.choice(words);
    std::string operation = location.reduction.empty() ? "fadd" : location.reduction;
    if (!words.empty()) operation = words.take("operation");
    words.finish();
    if (!location.is_long)
      throw usage_error("the reduction network joins longs; '{}' is a short", location.name);
    const Machine& m = s.debugger_.machine();
    const std::vector<std::uint64_t> all = m.reduced(location.memory, operation);
    const bool shared = location.memory == MachineMemory::Broadcast;
    const std::size_t width = shared ? 1 : m.pes();
    const std::size_t pe = shared ? 0 : choice.pe;
    std::string text = fmt::format("{} over {}{}\n", operation, counted(m.blocks(), "block"),
                                   shared ? "" : fmt::format(", PE {}", pe));
    for (std::size_t k = 0; k < location.addresses.size(); ++k) {
      const std::size_t a = location.addresses[k];
      const MachineBits bits{all[a * width + pe], all[(a + 1) * width + pe]};
      const MachineWord word{location.memory, 0, pe, a, true};
      text += fmt::format("{} = {}  (0x{})\n", location.word_name(k),
                          value_text(bits, word, location.format), hex_text(bits, word));
    }
    print("{}", text);
  }

  static void results(Session& s, Words& words) {
    const std::uint64_t most = words.take_number().value_or(10);
    words.finish();
    const Machine& m = s.debugger_.machine();
    std::vector<Column> columns = columns_of(s.program(), VarKind::Result);
    std::vector<NamedResult> arrays;
    for (Column& column : columns) {
      column.words.assign(2 * m.target_count(), 0);
      arrays.push_back({column.name, array_of<MutableArray>(column)});
    }
    m.results(arrays);
    const std::size_t rows = std::min<std::uint64_t>(most, m.target_count());
    for (Column& column : columns) column.words.resize(2 * rows);
    print("{}", write_table(columns));
    if (rows < m.target_count())
      print("# {} of {} (results N prints N)\n", rows, counted(m.target_count(), "target"));
  }

  static void focus(Session& s, Words& words) {
    const Machine& m = s.debugger_.machine();
    if (!words.empty()) {
      std::uint64_t block = s.focus_.block, pe = words.take_number("the PE");
      if (!words.empty()) {
        block = pe;
        pe = words.take_number("the PE");
      }
      words.finish();
      if (block >= m.blocks())
        throw usage_error("block {}: the last one is {}", block, m.blocks() - 1);
      if (pe >= m.pes()) throw usage_error("PE {}: the last one is {}", pe, m.pes() - 1);
      s.focus_.block = block;
      s.focus_.pe = pe;
    }
    const std::size_t first = (s.focus_.block * m.pes() + s.focus_.pe) * s.program().elements;
    const std::size_t last = first + s.program().elements;
    print("block {}, PE {}: {}\n", s.focus_.block, s.focus_.pe,
          first >= m.target_count()
              ? std::string("no targets")
              : fmt::format("targets {} to {}", first, std::min(last, m.target_count()) - 1));
  }

  // --- texts

  static void list(Session& s, Words& words) {
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

  static void info(Session& s, Words& words) {
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
  static void program_info(Session& s) {
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
  static void variables_info(Session& s) {
    for (const MachineVariable& v : s.debugger_.machine().variables()) {
      const MachineWord word{v.memory, 0, 0, v.address, v.is_long};
      std::string location = location_text(word);
      if (v.memory == MachineMemory::T) location = location.substr(0, location.find('['));
      if (v.count > 1 && v.memory != MachineMemory::T) location += 'v';
      const std::string line =
          fmt::format("  {:<6} {:<20} {:<8} {} {}", v.kind == "name" ? "" : v.kind, v.name,
                      location, v.conversion, v.reduction);
      print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    }
  }

  static void source(Session& s, Words& words) {
    const std::string path = words.take("the file of commands");
    words.finish();
    if (s.script_depth_ >= most_script_depth)
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
  static void quit(Session& s, Words& words) {
    words.finish();
    s.finished_ = true;
  }
  static void help(Session& s, Words& words);
};

namespace {

constexpr std::array commands{
    SessionCommand{{"step", "s", "[N] [clocks]",
                    "execute one or N instructions, or the instructions of N clocks"},
                   &SessionCommands::step,
                   true},
    SessionCommand{
        {"back", "u", "[N]", "go back by one or N instructions"}, &SessionCommands::back, true},
    SessionCommand{{"next", "n", "[pass]", "go to the beginning of the next pass of the body"},
                   &SessionCommands::next,
                   true},
    SessionCommand{
        {"previous", "v", "[pass]", "go back to the beginning of this pass, or of the one before"},
        &SessionCommands::previous,
        true},
    SessionCommand{{"continue", "c", "", "run to the next breakpoint or change of a watched word"},
                   &SessionCommands::run,
                   true},
    SessionCommand{
        {"reverse-continue", "rc", "", "the same, back in time"}, &SessionCommands::run_back, true},
    SessionCommand{{"goto", "g", "POSITION", "go to a position: a number of executed instructions"},
                   &SessionCommands::go_to},
    SessionCommand{{"restart", "", "", "go to the beginning; breakpoints and watches stay"},
                   &SessionCommands::restart},
    SessionCommand{{"break", "b", "[WHERE]",
                    "stop before a source line (95, FILE:95), an instruction (body 12 [pass N]), a "
                    "section (start, body or loop [pass N], end), or after a time (clock N); "
                    "without WHERE here"},
                   &SessionCommands::add_break},
    SessionCommand{{"watch", "w", "EXPR [pe N|all] [block N|all]",
                    "stop when a variable, register, memory word, T or mask changes"},
                   &SessionCommands::watch},
    SessionCommand{
        {"delete", "d", "[N...]", "delete breakpoints and watches, all without a number"},
        &SessionCommands::remove},
    SessionCommand{{"enable", "", "[N...]", "enable breakpoints and watches"},
                   &SessionCommands::enable},
    SessionCommand{{"disable", "", "[N...]", "disable them, without deleting them"},
                   &SessionCommands::disable},
    SessionCommand{{"print", "p", "EXPR... [FORMAT] [pe N|all] [block N|all]",
                    "print variables or locations; FORMAT is hex, int, float or fixed.N"},
                   &SessionCommands::print_words},
    SessionCommand{{"set", "", "EXPR [pe N|all] [block N|all] = VALUE...",
                    "change words from this position on"},
                   &SessionCommands::set},
    SessionCommand{{"registers", "r", "[short|long] [FORMAT] [pe N] [block N]",
                    "print registers, T, masks and exception flags"},
                   &SessionCommands::registers},
    SessionCommand{{"memory", "x", "EXPR [COUNT] [FORMAT]",
                    "print COUNT words of a memory from an address ($lm0, $b4) or a variable on"},
                   &SessionCommands::memory},
    SessionCommand{{"reduce", "", "EXPR [OPERATION]",
                    "print what the reduction network makes of the blocks' words"},
                   &SessionCommands::reduce},
    SessionCommand{{"results", "", "[N]", "print the results of the targets as they are now"},
                   &SessionCommands::results},
    SessionCommand{{"pe", "", "[[BLOCK] PE]", "choose the PE that other commands show"},
                   &SessionCommands::focus},
    SessionCommand{{"list", "l", "[SECTION] [N]",
                    "list instructions around the next one or number N, or a whole section"},
                   &SessionCommands::list},
    SessionCommand{{"info", "i", "breakpoints|program|variables|position", "print a table"},
                   &SessionCommands::info},
    SessionCommand{{"source", "", "FILE", "execute the commands of a file"},
                   &SessionCommands::source},
    SessionCommand{{"help", "h", "[COMMAND]", "list the commands, or explain one"},
                   &SessionCommands::help},
    SessionCommand{{"quit", "q", "", "end the session"}, &SessionCommands::quit},
};

}  // namespace

std::span<const SessionCommand> session_commands() noexcept { return commands; }

void SessionCommands::help(Session&, Words& words) {
  std::string text;
  const auto usage = [](const Session::Help& h) {
    return fmt::format("{}{}{}", h.name, h.arguments.empty() ? "" : " ", h.arguments);
  };
  if (!words.empty()) {
    const std::string word = words.take("command");
    words.finish();
    for (const SessionCommand& command : commands)
      if (command.help.name.starts_with(word) || command.help.alias == word)
        text += fmt::format(
            "{}\n    {}{}\n", usage(command.help), wrap(command.help.meaning, 4, 80),
            command.help.alias.empty() ? std::string()
                                       : fmt::format("; short: {}", command.help.alias));
    if (text.empty()) throw usage_error("there is no command '{}'; help lists them", word);
    return print("{}", text);
  }
  for (const SessionCommand& command : commands)
    text += fmt::format("{:<17} {:<3} {}\n", command.help.name, command.help.alias,
                        wrap(command.help.meaning, 22, 76));
  text +=
      "\nEXPR is a variable of the kernel (info variables), one of its elements (ax[2]), an item\n"
      "of the group (xj@1) or a half (ax.hi), or a location as in assembly: $lr8, $m4v, $th,\n"
      "$lb10, m0. help COMMAND shows arguments; commands may be shortened.\n";
  print("{}", text);
}

}  // namespace gdr::cli
