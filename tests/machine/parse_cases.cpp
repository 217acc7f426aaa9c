#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "emulator/numeric/integer.hpp"
#include "machine/case.hpp"

namespace gdr::test {
namespace {

using Words = std::vector<std::string>;

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

Words split(const std::string& line) {
  std::istringstream in(line.substr(0, line.find('#')));
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::uint32_t number(const std::string& text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) fail("'" + text + "' is not a number");
  return value;
}

/// `$lr4v` and the like; `m3` as a mask.
void parse_location(const std::string& text, Cell& cell) {
  if (text.size() == 2 && text[0] == 'm') {
    cell.mask = true;
    cell.location.address = static_cast<std::uint16_t>(number(text.substr(1)));
    return;
  }
  Operand& x = cell.location;
  if (text == "$t" || text == "$th" || text == "$tl") {
    x = {Space::T, text == "$t" ? Width::Long : Width::Short, false,
         static_cast<std::uint16_t>(text == "$tl" ? 1 : 0)};
    return;
  }
  std::size_t at = 1;
  x.width = text.size() > 1 && text[1] == 'l' ? Width::Long : Width::Short;
  if (x.width == Width::Long) ++at;
  const char letter = at < text.size() ? text[at] : ' ';
  x.space = letter == 'r'   ? Space::Register
            : letter == 'm' ? Space::Local
            : letter == 'b' ? Space::Bm
                            : Space::None;
  if (text[0] != '$' || !x.used()) fail("'" + text + "' is no location");
  x.vector = text.back() == 'v';
  x.address =
      static_cast<std::uint16_t>(number(text.substr(at + 1, text.size() - at - 1 - x.vector)));
}

/// A float of either width from a decimal number: the fields of the IEEE double moved into place.
u128 float_value(const std::string& text, Width width) {
  const auto bits = std::bit_cast<std::uint64_t>(std::stod(text));
  const std::uint64_t sign = bits >> 63, exponent = bits >> 52 & 2047;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (width == Width::Long) {
    return u128{sign} << 71 | u128{exponent} << 60 | u128{fraction} << 8;
  }
  if ((fraction & ((std::uint64_t{1} << 28) - 1)) != 0) fail(text + " is not exact as a short");
  return sign << 35 | exponent << 24 | fraction >> 28;
}

u128 hex_value(const std::string& text, Width width) {
  const std::size_t digits = text.size() - 2;
  if (digits != (width == Width::Long ? 18U : 9U)) fail(text + " has a wrong number of digits");
  u128 value = 0;
  for (const char c : text.substr(2)) {
    const std::string all = "0123456789abcdef";
    const auto digit = all.find(c);
    if (digit == std::string::npos) fail(text + " is not hex");
    value = value << 4 | digit;
  }
  return value;
}

u128 parse_value(const std::string& text, Width width) {
  if (text.starts_with("0x")) return hex_value(text, width);
  if (text.find('.') != std::string::npos) return float_value(text, width);
  const bool negative = text[0] == '-';
  const u128 value = number(negative ? text.substr(1) : text);
  return (negative ? ~value + 1 : value) & bit_mask(width);
}

/// `[pe N] [block N] = VALUES` from word `at` on.
void parse_rest(const Words& words, std::size_t at, const std::string& equals, Cell& cell) {
  for (; at + 1 < words.size() && words[at] != equals; at += 2) {
    if (words[at] != "pe" && words[at] != "block") fail("'" + words[at] + "' means nothing here");
    (words[at] == "pe" ? cell.pe : cell.block) = static_cast<int>(number(words[at + 1]));
  }
  if (at >= words.size() || words[at] != equals) fail("'" + equals + "' is missing");
  for (++at; at < words.size(); ++at) {
    cell.values.push_back(parse_value(words[at], cell.location.width));
  }
  const bool elements = cell.mask || cell.location.vector || cell.location.space == Space::T;
  if (cell.values.empty() || cell.values.size() > (elements ? max_elements : 1)) {
    fail("a wrong number of values");
  }
}

Cell parse_cell(const Words& words, const std::string& equals) {
  Cell cell;
  if (words.size() < 4) fail("a location, '" + equals + "' and values are needed");
  parse_location(words[1], cell);
  parse_rest(words, 2, equals, cell);
  return cell;
}

FlagsCell parse_flags(const Words& words) {
  FlagsCell cell;
  std::size_t at = 2;
  if (words.size() == 6 && words[2] == "block") {
    cell.block = static_cast<int>(number(words[3]));
    at = 4;
  }
  if (words.size() != at + 2 || words[at] != "==") fail(".expect flags [block N] == LETTERS");
  for (const char c : words[at + 1]) {
    if (c != '-' && c != 'i' && c != 'o' && c != 'u') fail("flags are i, o, u or -");
    cell.flags |= c == 'i'   ? flag_invalid
                  : c == 'o' ? flag_overflow
                  : c == 'u' ? flag_underflow
                             : no_flags;
  }
  return cell;
}

ReduceCell parse_reduce(const Words& words) {
  constexpr std::array<const char*, 10> names{"pass", "fadd", "fmax", "fmin", "iadd",
                                              "imax", "imin", "iand", "ior",  "ixor"};
  if (words.size() != 6 || words[4] != "==") fail(".expect reduce OPERATION LOCATION == VALUE");
  ReduceCell cell;
  std::size_t op = 0;
  while (op < names.size() && words[2] != names[op]) ++op;
  if (op == names.size()) fail("'" + words[2] + "' is no reduction");
  cell.op = static_cast<Reduce>(op);
  Cell where;
  parse_location(words[3], where);
  cell.address = where.location.address;
  cell.value = parse_value(words[5], Width::Long);
  return cell;
}

void parse_range(const std::string& text, std::uint32_t& base, std::uint32_t& step) {
  const auto plus = text.find('+');
  if (plus == std::string::npos) fail("BASE+STEP is needed");
  base = number(text.substr(0, plus));
  step = number(text.substr(plus + 1));
}

void parse_run(const Words& words, MachineCase& test) {
  for (std::size_t n = 1; n < words.size(); ++n) {
    const auto equals = words[n].find('=');
    const std::string key = words[n].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : words[n].substr(equals + 1);
    if (key == "flags") {
      test.run.collect_flags = true;
    } else if (key == "iterations") {
      test.run.iterations = number(value);
    } else if (key == "source") {
      parse_range(value, test.run.source_base, test.run.source_step);
      test.source_given = true;
    } else if (key == "output") {
      parse_range(value, test.run.output_base, test.run.output_step);
      test.output_given = true;
    } else {
      fail("'" + words[n] + "' means nothing here");
    }
  }
}

void parse_geometry(const Words& words, Geometry& geometry) {
  for (std::size_t n = 1; n < words.size(); ++n) {
    const auto equals = words[n].find('=');
    if (equals == std::string::npos) fail("NAME=VALUE is needed");
    const std::string wrong =
        set_geometry_field(geometry, words[n].substr(0, equals), words[n].substr(equals + 1));
    if (!wrong.empty()) fail(wrong);
  }
}

/// True if the line describes the test; else it belongs to the program.
bool parse_line(const std::string& line, unsigned number_of_line, MachineCase& test) {
  const Words words = split(line);
  if (words.empty()) return false;
  if (words[0] == ".set") {
    test.before.push_back(parse_cell(words, "="));
    test.before.back().line = number_of_line;
  } else if (words[0] == ".expect" && words.size() > 1 && words[1] == "flags") {
    test.flags.push_back(parse_flags(words));
  } else if (words[0] == ".expect" && words.size() > 1 && words[1] == "reduce") {
    test.reduced.push_back(parse_reduce(words));
    test.reduced.back().line = number_of_line;
  } else if (words[0] == ".expect") {
    test.after.push_back(parse_cell(words, "=="));
    test.after.back().line = number_of_line;
  } else if (words[0] == ".geometry") {
    parse_geometry(words, test.geometry);
  } else if (words[0] == ".run") {
    parse_run(words, test);
  } else if (words[0] == ".refused") {
    test.refused = line.substr(line.find(".refused") + 9);
  } else {
    return false;
  }
  return true;
}

MachineCase new_case(const std::string& file, const std::string& name, unsigned line) {
  MachineCase test;
  test.file = file;
  test.name = name;
  test.line = line;
  test.geometry.blocks = 1;
  test.geometry.pes_per_block = 3;
  test.program.assign(line, '\n');
  return test;
}

}  // namespace

std::vector<MachineCase> parse_cases(const std::string& text, const std::string& file) {
  std::vector<MachineCase> cases;
  std::istringstream in(text);
  unsigned n = 0;
  for (std::string line; std::getline(in, line);) {
    ++n;
    try {
      if (line.starts_with(".case ")) {
        cases.push_back(new_case(file, line.substr(6), n));
        continue;
      }
      if (cases.empty()) {
        if (!split(line).empty()) fail("a case begins with .case");
        continue;
      }
      cases.back().program += parse_line(line, n, cases.back()) ? "\n" : line + "\n";
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", file, n, error.what()));
    }
  }
  return cases;
}

}  // namespace gdr::test
