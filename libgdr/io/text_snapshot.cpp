// Snapshots as plain text: a line `m x y z vx vy vz` for each particle.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

constexpr std::array<std::string_view, 7> column_names = {"m", "x", "y", "z", "vx", "vy", "vz"};
constexpr std::string_view blanks = " \t\f\v";
constexpr std::string_view state_mark = "#gdr:";
constexpr std::string_view hermite_mark = "#hermite4:";

/// One line of the file, for messages.
struct Line {
  const std::string& file;
  std::size_t number;
  std::string_view text;

  [[noreturn]] void fail(std::size_t offset, const std::string& message) const {
    throw Error(ErrorCategory::Input,
                fmt::format("{}:{}:{}: {}", file, number, offset + 1, message));
  }
};

/// The next run of characters that are not blank, from `offset` on.
std::string_view next_word(std::string_view text, std::size_t& offset) {
  offset = std::min(text.find_first_not_of(blanks, offset), text.size());
  const std::size_t end = std::min(text.find_first_of(blanks, offset), text.size());
  return text.substr(offset, end - offset);
}

/// The next line, which ends with CR, LF or both; removes it from `text`.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
  const std::string_view line = text.substr(0, end);
  const bool both = text.substr(end).starts_with("\r\n");
  text.remove_prefix(std::min(end + (both ? 2 : 1), text.size()));
  return line;
}

/// The whole word as a decimal number; nothing if it is none. Overflow gives an infinity.
std::optional<double> to_number(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  return parse_decimal(word);
}

double number_at(const Line& line, std::size_t offset, std::string_view word, bool finite = true) {
  const std::optional<double> value = to_number(word);
  if (!value) {
    const bool comma = word.find(',') != std::string_view::npos;
    line.fail(offset, fmt::format("'{}' is not a number{}", word.substr(0, 40),
                                  comma ? "; separate the columns by blanks" : ""));
  }
  if (finite && !std::isfinite(*value))
    line.fail(offset, fmt::format("'{}' is not a finite number", word));
  return *value;
}

void parse_particle(const Line& line, Snapshot& snapshot) {
  std::array<double, column_names.size()> row{};
  std::size_t offset = 0;
  std::size_t columns = 0;
  for (std::string_view word = next_word(line.text, offset); !word.empty();
       word = next_word(line.text, offset)) {
    if (columns == row.size())
      line.fail(offset, "more than the seven columns m x y z vx vy vz; start remarks with '#'");
    row[columns++] = number_at(line, offset, word);
    offset += word.size();
  }
  if (columns == 0) return;
  if (columns < row.size())
    line.fail(line.text.size(),
              fmt::format("{} missing: a line is m x y z vx vy vz, this one has {} "
                          "column{}",
                          column_names[columns], columns, columns == 1 ? "" : "s"));
  snapshot.mass.push_back(row[0]);
  snapshot.position.insert(snapshot.position.end(), row.begin() + 1, row.begin() + 4);
  snapshot.velocity.insert(snapshot.velocity.end(), row.begin() + 4, row.end());
}

/// What has been read of a file.
struct TextFile {
  Snapshot snapshot;
  std::set<std::string, std::less<>> names;  ///< names in '#gdr:' lines
};

/// The number of a run with this name in text, and whether only runs with Hermite4 have it.
std::pair<const RunNumber*, bool> find_number(std::string_view name) {
  for (const RunNumber& number : run_numbers)
    if (number.text_name == name) return {&number, false};
  for (const RunNumber& number : optional_numbers)
    if (number.text_name == name) return {&number, false};
  for (const RunNumber& number : hermite_numbers)
    if (number.text_name == name) return {&number, true};
  return {nullptr, false};
}

void set_state(TextFile& file, const Line& line, std::string_view name, double value) {
  file.names.emplace(name);
  if (name == "time") {
    file.snapshot.time = value;
    return;
  }
  const auto [number, hermite] = find_number(name);
  if (number == nullptr && name != "step")
    line.fail(0, fmt::format("unknown name '{}' in a '#gdr:' line; use '#' for a remark", name));
  if (!file.snapshot.run) file.snapshot.run.emplace();
  RunState& run = *file.snapshot.run;
  if (number == nullptr) {
    if (value < 0 || value > 9e15 || value != std::floor(value))
      line.fail(0, fmt::format("step = {} is not a number of steps", value));
    run.step = static_cast<std::int64_t>(value);
    return;
  }
  if (const std::string defect = run_number_defect(*number, value); !defect.empty())
    line.fail(0, fmt::format("{}: {}", name, defect));
  if (hermite) run.integrator = IntegratorKind::Hermite4;
  run.*number->value = value;
}

/// `#gdr: name = number`
void parse_state(const Line& line, TextFile& file) {
  std::size_t offset = state_mark.size();
  const std::string_view name = next_word(line.text, offset);
  offset += name.size();
  const std::string_view equals = next_word(line.text, offset);
  if (name.empty() || equals != "=")
    line.fail(offset, "a '#gdr:' line reads '#gdr: name = number'");
  offset += equals.size();
  const std::string_view word = next_word(line.text, offset);
  const RunNumber* const number = find_number(name).first;
  const bool finite = number == nullptr || number->range != NumberRange::Any;
  const double value = number_at(line, offset, word, finite);
  offset += word.size();
  if (!next_word(line.text, offset).empty()) line.fail(offset, "nothing may follow the number");
  set_state(file, line, name, value);
}

/// `#hermite4: time step x y z vx vy vz ax ay az jx jy jz`: the state of the next particle.
void parse_hermite(const Line& line, Snapshot& snapshot) {
  if (!snapshot.hermite) snapshot.hermite.emplace();
  std::size_t offset = hermite_mark.size();
  for (const HermiteArray& array : hermite_arrays)
    for (std::size_t k = 0; k < array.width; ++k) {
      const std::string_view word = next_word(line.text, offset);
      if (word.empty())
        line.fail(offset,
                  "a '#hermite4:' line has 14 numbers: time and step of a particle, and "
                  "its position, velocity, acceleration and jerk");
      ((*snapshot.hermite).*array.values).push_back(number_at(line, offset, word));
      offset += word.size();
    }
  if (!next_word(line.text, offset).empty()) line.fail(offset, "nothing may follow the 14 numbers");
}

/// A run has all of its numbers.
void check_run(const TextFile& file, const std::string& name) {
  if (!file.snapshot.run) return;
  const auto require = [&](std::string_view number) {
    if (!file.names.contains(number))
      throw Error(ErrorCategory::Input,
                  fmt::format("{}: no line '#gdr: {} = ...'; remove all '#gdr:' lines except the "
                              "time, and all '#hermite4:' lines, to start a new run",
                              name, number));
  };
  require("step");
  for (const RunNumber& number : run_numbers) require(number.text_name);
  if (file.snapshot.run->integrator == IntegratorKind::Hermite4)
    for (const RunNumber& number : hermite_numbers) require(number.text_name);
}

void append_hermite(fmt::memory_buffer& out, const HermiteState& state) {
  auto to = std::back_inserter(out);
  fmt::format_to(to, "# time and step of each particle, x y z vx vy vz ax ay az jx jy jz\n");
  for (std::size_t i = 0; i < state.size(); ++i) {
    fmt::format_to(to, "{}", hermite_mark);
    for (const HermiteArray& array : hermite_arrays)
      for (std::size_t k = 0; k < array.width; ++k)
        fmt::format_to(to, " {}", (state.*array.values)[array.width * i + k]);
    fmt::format_to(to, "\n");
  }
}

/// A run with the Hermite scheme has a state of every particle.
void check_hermite(const Snapshot& snapshot, const std::string& name) {
  const bool needed = snapshot.run && snapshot.run->integrator == IntegratorKind::Hermite4;
  const std::size_t lines = snapshot.hermite ? snapshot.hermite->size() : 0;
  if (lines == (needed ? snapshot.size() : 0)) return;
  throw Error(
      ErrorCategory::Input,
      fmt::format("{}: {} '#hermite4:' lines for {} particles{}; remove them and all "
                  "'#gdr:' lines except the time to start a new run",
                  name, lines, snapshot.size(), needed ? "" : " without the state of their run"));
}

}  // namespace

Snapshot parse_text_snapshot(std::string_view text, const std::string& name) {
  TextFile file;
  Snapshot& snapshot = file.snapshot;
  std::size_t number = 0;
  while (!text.empty()) {
    Line line{name, ++number, next_line(text)};
    if (line.text.starts_with(state_mark)) {
      parse_state(line, file);
      continue;
    }
    if (line.text.starts_with(hermite_mark)) {
      parse_hermite(line, snapshot);
      continue;
    }
    line.text = line.text.substr(0, line.text.find('#'));
    parse_particle(line, snapshot);
  }
  const std::size_t n = snapshot.size();
  if (n == 0)
    throw Error(ErrorCategory::Input,
                name + ": no particles; a snapshot has lines m x y z vx vy vz");
  check_run(file, name);
  check_hermite(snapshot, name);
  snapshot.type_counts.assign(usual_particle_types, 0);
  snapshot.type_counts[1] = n;
  snapshot.id.resize(n);
  std::iota(snapshot.id.begin(), snapshot.id.end(), std::uint64_t{1});
  return snapshot;
}

std::string text_snapshot(const Snapshot& snapshot) {
  fmt::memory_buffer out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "# m x y z vx vy vz: {} particles\n#gdr: time = {}\n", snapshot.size(),
                 snapshot.time);
  if (snapshot.run) {
    fmt::format_to(to, "#gdr: step = {}\n", snapshot.run->step);
    for (const RunNumber& number : run_numbers)
      fmt::format_to(to, "#gdr: {} = {}\n", number.text_name, (*snapshot.run).*number.value);
    for (const RunNumber& number : optional_numbers)
      if ((*snapshot.run).*number.value != 0)
        fmt::format_to(to, "#gdr: {} = {}\n", number.text_name, (*snapshot.run).*number.value);
  }
  // fmt's default form of a double is the shortest text that reads back as the same bits.
  if (snapshot.run && snapshot.hermite)
    for (const RunNumber& number : hermite_numbers)
      fmt::format_to(to, "#gdr: {} = {}\n", number.text_name, (*snapshot.run).*number.value);
  const double* x = snapshot.position.data();
  const double* v = snapshot.velocity.data();
  for (std::size_t i = 0; i < snapshot.size(); ++i, x += 3, v += 3)
    fmt::format_to(to, "{} {} {} {} {} {} {}\n", snapshot.mass[i], x[0], x[1], x[2], v[0], v[1],
                   v[2]);
  if (snapshot.run && snapshot.hermite) append_hermite(out, *snapshot.hermite);
  return fmt::to_string(out);
}

}  // namespace gdr
