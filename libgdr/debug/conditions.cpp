#include "libgdr/debug/conditions.hpp"

#include <algorithm>

#include "gdr/error.hpp"
#include "libgdr/debug/words.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr {
namespace {

constexpr std::array<std::string_view, 3> sections{"start", "body", "end"};
constexpr unsigned first_section = 1;  ///< MachinePlace::section of "start"
constexpr unsigned body = 2;

std::size_t section_index(std::string_view name) {
  const auto* const found = std::ranges::find(sections, name);
  if (found == sections.end())
    usage_error(unknown_name("section", name, {sections.begin(), sections.end()}));
  return static_cast<std::size_t>(found - sections.begin());
}

std::string with_pass(std::string text, std::optional<std::uint64_t> pass) {
  if (pass) text += " pass " + std::to_string(*pass);
  return text;
}

void check_pass(std::size_t section, std::optional<std::uint64_t> pass) {
  if (pass && section + first_section != body) usage_error("only the body has several passes");
}

}  // namespace

Conditions::Conditions(const Machine& machine) {
  for (std::size_t k = 0; k < sections.size(); ++k) program_[k] = machine.listing(sections[k]);
}

StopCondition& Conditions::find(unsigned number) {
  const auto found = std::ranges::find(list_, number, &StopCondition::number);
  if (found == list_.end())
    usage_error("there is no breakpoint or watch with the number " + std::to_string(number));
  return *found;
}

void Conditions::remove(unsigned number) {
  find(number);
  std::erase_if(list_, [number](const StopCondition& c) { return c.number == number; });
}

unsigned Conditions::add(StopCondition condition) {
  condition.number = ++last_number_;
  list_.push_back(std::move(condition));
  return last_number_;
}

unsigned Conditions::add_instruction(std::string_view section, std::size_t instruction,
                                     std::optional<std::uint64_t> pass) {
  const std::size_t index = section_index(section);
  check_pass(index, pass);
  if (instruction >= program_[index].size())
    usage_error("section " + std::string(section) + " has no instruction " +
                std::to_string(instruction) + "; it has " + std::to_string(program_[index].size()) +
                ", counted from 0");
  StopCondition condition;
  condition.text = with_pass(std::string(section) + " " + std::to_string(instruction), pass);
  condition.instructions = {{static_cast<unsigned>(index) + first_section, instruction}};
  condition.pass = pass;
  return add(std::move(condition));
}

unsigned Conditions::add_section(std::string_view section, std::optional<std::uint64_t> pass) {
  const std::size_t index = section_index(section);
  check_pass(index, pass);
  if (program_[index].empty())
    usage_error("section " + std::string(section) + " has no instructions");
  StopCondition condition;
  condition.text = with_pass(std::string(section), pass);
  condition.instructions = {{static_cast<unsigned>(index) + first_section, 0}};
  condition.pass = pass;
  return add(std::move(condition));
}

std::string Conditions::main_file() const {
  for (const std::size_t section : {1U, 0U, 2U})
    for (const MachineInstruction& instruction : program_[section])
      if (!instruction.file.empty()) return instruction.file;
  return {};
}

unsigned Conditions::add_line(std::uint32_t line, std::string_view file) {
  const std::string wanted = file.empty() ? main_file() : std::string(file);
  StopCondition condition;
  std::vector<std::string_view> files;
  std::optional<std::uint32_t> next;
  for (std::size_t s = 0; s < program_.size(); ++s) {
    bool inside = false;
    for (std::size_t k = 0; k < program_[s].size(); ++k) {
      const MachineInstruction& instruction = program_[s][k];
      if (std::ranges::find(files, instruction.file) == files.end())
        files.push_back(instruction.file);
      const bool in_file = instruction.file == wanted && instruction.line != 0;
      const bool here = in_file && instruction.line == line;
      if (here && !inside)
        condition.instructions.emplace_back(static_cast<unsigned>(s) + first_section, k);
      inside = here;
      if (in_file && instruction.line > line) next = std::min(next.value_or(~0U), instruction.line);
    }
  }
  if (std::ranges::find(files, wanted) == files.end())
    usage_error(unknown_name("source file", wanted, files));
  if (condition.instructions.empty())
    usage_error("line " + std::to_string(line) + " of " + wanted + " has no instructions" +
                (next ? "; the next one is line " + std::to_string(*next) : std::string()));
  condition.text = wanted + ":" + std::to_string(line);
  return add(std::move(condition));
}

unsigned Conditions::add_clock(std::uint64_t clock) {
  StopCondition condition;
  condition.kind = StopKind::Clock;
  condition.clock = clock;
  condition.text = "clock " + std::to_string(clock);
  return add(std::move(condition));
}

unsigned Conditions::add_watch(const Machine& machine, std::vector<MachineWord> words,
                               std::string text) {
  if (words.empty()) usage_error("give at least one word to watch");
  for (const MachineWord& word : words) bits_of(machine, word);  // checks the location
  StopCondition condition;
  condition.kind = StopKind::Change;
  condition.text = text.empty() ? std::to_string(words.size()) + " words" : std::move(text);
  condition.words = std::move(words);
  return add(std::move(condition));
}

ConditionCheck::ConditionCheck(const Conditions& conditions, const Machine& machine)
    : conditions_(conditions.list()), machine_(machine) {
  for (const StopCondition& condition : conditions_)
    values_.emplace_back(condition.enabled ? condition.words.size() : 0);
  refresh();
}

void ConditionCheck::refresh() {
  before_ = machine_.place();
  for (std::size_t c = 0; c < values_.size(); ++c)
    for (std::size_t w = 0; w < values_[c].size(); ++w)
      values_[c][w] = bits_of(machine_, conditions_[c].words[w]);
}

StopReport ConditionCheck::after_step() {
  const MachinePlace now = machine_.place();
  StopReport report;
  for (std::size_t c = 0; c < conditions_.size(); ++c) {
    const StopCondition& condition = conditions_[c];
    if (!condition.enabled) continue;
    bool met = false;
    if (condition.kind == StopKind::Instruction)
      met = (!condition.pass || *condition.pass == now.pass) &&
            std::ranges::find(condition.instructions, std::pair(now.section, now.instruction)) !=
                condition.instructions.end();
    else if (condition.kind == StopKind::Clock)
      met = before_.clock < condition.clock && now.clock >= condition.clock;
    for (std::size_t w = 0; w < values_[c].size(); ++w) {
      const MachineBits after = bits_of(machine_, condition.words[w]);
      if (after == values_[c][w]) continue;
      report.changes.push_back({condition.number, w, values_[c][w], after});
      met = true;
    }
    if (met) report.conditions.push_back(condition.number);
  }
  if (!report.conditions.empty()) report.reason = StopReason::Condition;
  return report;
}

}  // namespace gdr
