// Commands that print and change words.
#include <algorithm>
#include <array>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/debug/changes.hpp"
#include "libgdr/cli/debug/expressions.hpp"
#include "libgdr/cli/debug/session_commands.hpp"
#include "libgdr/cli/kernel_inputs.hpp"

namespace gdr::cli {
namespace {

/// Whether a program writes only shorts to the long at an address.
bool holds_shorts(const Program& program, Space space, std::size_t address) {
  bool shorts = false, longs = false;
  const auto note_writes = [&](const Operand& operand, unsigned elements) {
    if (operand.space != space) return;
    for (unsigned e = 0; e < elements; ++e) {
      // The address in T counts halves of the element.
      const bool here = space == Space::T || (operand.at(e) & ~1U) == address;
      (operand.width == Width::Long ? longs : shorts) |= here;
    }
  };
  for (const auto& section : program.sections)
    for (const Instruction& i : section) {
      note_writes(i.mul.dst, i.vlen);
      note_writes(i.alu.dst, i.vlen);
      if (i.move.op == Op::Bget) note_writes(i.move.pe, i.vlen);
    }
  return shorts && !longs;
}

/// The next words up to the end of an expression: those that an operator joins.
std::string take_expression(Words& words) {
  constexpr std::string_view binary = "+-*/", open = "+-*/(";
  std::string text = words.take("expression");
  const auto open_parentheses = [&text] {
    return std::ranges::count(text, '(') > std::ranges::count(text, ')');
  };
  while (!words.empty() &&
         (open.find(text.back()) != std::string_view::npos || open_parentheses() ||
          binary.find(words.peek().front()) != std::string_view::npos ||
          words.peek().front() == ')'))
    text += " " + words.take("expression");
  return text;
}

}  // namespace

// --- values

void SessionCommands::print_words(Session& s, Words& words) {
  std::vector<std::string> texts;
  std::optional<WordFormat> format;
  PeChoice choice = s.choice(words, s.focus_);
  while (!words.empty()) {
    const auto given = texts.empty() ? std::nullopt : parse_format(words.peek());
    if (given) {
      words.take("format");
      format = given;
    } else {
      texts.push_back(take_expression(words));
    }
    choice = s.choice(words, choice);
  }
  if (texts.empty())
    throw usage_error("what to print is missing: a variable (info variables) or a location");
  std::string text;
  for (const std::string& expression : texts)
    text += has_operator(expression) ? expression_text(s, expression, choice)
                                     : values_text(s, s.location(expression), choice, format);
  print("{}", text);
}

std::string SessionCommands::expression_text(Session& s, const std::string& expression,
                                             const PeChoice& choice) {
  const Machine& machine = s.debugger_.machine();
  const std::size_t last_block = choice.all_blocks ? machine.blocks() - 1 : choice.block;
  const std::size_t last_pe = choice.all_pes ? machine.pes() - 1 : choice.pe;
  std::string text;
  for (std::size_t b = choice.all_blocks ? 0 : choice.block; b <= last_block; ++b)
    for (std::size_t p = choice.all_pes ? 0 : choice.pe; p <= last_pe; ++p) {
      const std::vector<long double> values = evaluate(expression, [&](std::string_view name) {
        const Location location = s.location(name);
        std::vector<long double> numbers;
        for (const MachineWord& word : location.words(machine, {b, p}))
          numbers.push_back(number_of(s.debugger_.read(word), word, location.format));
        return numbers;
      });
      for (std::size_t k = 0; k < values.size(); ++k) {
        text += values.size() == 1 ? expression : fmt::format("({})[{}]", expression, k);
        if (choice.all_blocks || choice.all_pes) text += fmt::format(" (block {}, PE {})", b, p);
        text += fmt::format(" = {}\n", static_cast<double>(values[k]));
      }
    }
  return text;
}

std::string SessionCommands::values_text(Session& s, const Location& location,
                                         const PeChoice& choice,
                                         const std::optional<WordFormat>& format) {
  const Machine& machine = s.debugger_.machine();
  const std::vector<MachineWord> list = location.words(machine, choice);
  const bool many = choice.all_pes || choice.all_blocks;
  std::string text;
  if (location.kind == "jvar" && machine.place().section != 2)
    text += "(sources are in the broadcast memory during the body)\n";
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

void SessionCommands::set(Session& s, Words& words) {
  const Location location = s.location(words.take("a variable or a location"));
  const PeChoice choice = s.choice(words, s.focus_);
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
std::string SessionCommands::table(Session& s, const std::vector<MachineWord>& list,
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

void SessionCommands::registers(Session& s, Words& words) {
  PeChoice choice = s.choice(words, s.focus_);
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

void SessionCommands::memory(Session& s, Words& words) {
  Location location = s.location(words.take("an address, such as $lm0 or $b4, or a variable"));
  const auto count = words.take_number();
  PeChoice choice = s.choice(words, s.focus_);
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

void SessionCommands::reduce(Session& s, Words& words) {
  const Location location = s.location(words.take("a variable or a location"));
  const PeChoice choice = s.choice(words, s.focus_);
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

void SessionCommands::results(Session& s, Words& words) {
  const std::uint64_t most = words.take_number().value_or(10);
  words.finish();
  const Machine& m = s.debugger_.machine();
  std::vector<Column> columns = columns_of(s.program(), VarKind::Result);
  if (columns.empty()) throw usage_error("the kernel has no results: it declares no fvar");
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

void SessionCommands::focus(Session& s, Words& words) {
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

}  // namespace gdr::cli
