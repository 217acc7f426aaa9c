// Snapshots as plain text: a line `m x y z vx vy vz` for each particle.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "emulator/host/parse_number.hpp"
#include "gdr/error.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

constexpr std::array<std::string_view, 7> column_names = {"m", "x", "y", "z", "vx", "vy", "vz"};
constexpr std::string_view blanks = " \t\r\f\v";
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

void set_state(Snapshot& snapshot, const Line& line, std::string_view name, double value) {
  if (name == "time") {
    snapshot.time = value;
    return;
  }
  RunState run = snapshot.run.value_or(RunState{});
  if (name == "step") {
    if (value < 0 || value > 9e15 || value != std::floor(value))
      line.fail(0, fmt::format("step = {} is not a number of steps", value));
    run.step = static_cast<std::int64_t>(value);
    snapshot.run = run;
    return;
  }
  for (const RunNumber& number : run_numbers) {
    if (number.text_name != name) continue;
    run.*number.value = value;
    snapshot.run = run;
    return;
  }
  for (const RunNumber& number : hermite_numbers) {
    if (number.text_name != name) continue;
    run.integrator = IntegratorKind::Hermite4;
    run.*number.value = value;
    snapshot.run = run;
    return;
  }
  line.fail(0, fmt::format("unknown name '{}' in a '#gdr:' line; use '#' for a remark", name));
}

/// `#gdr: name = number`
void parse_state(const Line& line, Snapshot& snapshot) {
  std::size_t offset = state_mark.size();
  const std::string_view name = next_word(line.text, offset);
  offset += name.size();
  const std::string_view equals = next_word(line.text, offset);
  if (name.empty() || equals != "=")
    line.fail(offset, "a '#gdr:' line reads '#gdr: name = number'");
  offset += equals.size();
  const std::string_view word = next_word(line.text, offset);
  // Energies of extreme masses and speeds overflow; such a run can continue nevertheless.
  const double value = number_at(line, offset, word, name != "start_energy");
  offset += word.size();
  if (!next_word(line.text, offset).empty()) line.fail(offset, "nothing may follow the number");
  set_state(snapshot, line, name, value);
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

/// A run with inconsistent numbers cannot be continued.
void check_run(const Snapshot& snapshot, const std::string& name) {
  if (!snapshot.run) return;
  if (snapshot.run->time_step > 0 && snapshot.run->time() == snapshot.time) return;
  throw Error(
      ErrorCategory::Input,
      fmt::format("{}: time is not start_time + step * time_step in its '#gdr:' lines; remove "
                  "all of them except the time to start a new run",
                  name));
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
  Snapshot snapshot;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Line line{name, ++number, text.substr(0, end)};
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.text.substr(0, state_mark.size()) == state_mark) {
      parse_state(line, snapshot);
      continue;
    }
    if (line.text.substr(0, hermite_mark.size()) == hermite_mark) {
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
  check_run(snapshot, name);
  check_hermite(snapshot, name);
  snapshot.type_counts.assign(usual_particle_types, 0);
  snapshot.type_counts[1] = n;
  for (std::size_t i = 0; i < n; ++i) snapshot.id.push_back(i + 1);
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
