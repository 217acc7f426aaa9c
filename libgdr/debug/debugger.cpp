// Movement of the debugger: execution, and repetition from checkpoints.
#include "gdr/debugger.hpp"

#include <algorithm>
#include <utility>

#include "libgdr/debug/checkpoints.hpp"
#include "libgdr/debug/conditions.hpp"
#include "libgdr/debug/words.hpp"

namespace gdr {
namespace {

StopReport ended(StopReason reason) {
  StopReport report;
  report.reason = reason;
  return report;
}

/// A word that a user has set.
struct Write {
  std::uint64_t position = 0;
  MachineWord word;
  MachineBits bits;
};

Machine loaded(Machine machine) {
  machine.place();  // throws without a program
  return machine;
}

}  // namespace

struct Debugger::Impl {
  explicit Impl(Machine given)
      : machine(loaded(std::move(given))), checkpoints(machine), conditions(machine) {}

  Machine machine;
  std::uint64_t position = 0;
  Checkpoints checkpoints;
  Conditions conditions;
  std::vector<Write> writes;  ///< writes in the order of their positions

  bool at_end() const { return machine.place().section == section_at_end; }
  void restore(const Checkpoints::Entry& entry) {
    machine.restore(entry.snapshot);
    position = entry.position;
  }

  /// Executes one instruction, and what the user has changed behind it. `seen` is called between.
  template <typename Seen>
  void advance(const Seen& seen);
  void advance() {
    advance([] {});
  }
  StopReport go_to(std::uint64_t target, const std::stop_token& stop);
  StopReport run(const std::stop_token& stop);
  StopReport run_back(const std::stop_token& stop);
  StopReport counted(StopReport report);
};

template <typename Seen>
void Debugger::Impl::advance(const Seen& seen) {
  machine.step();
  ++position;
  seen();
  const auto here = std::ranges::equal_range(writes, position, {}, &Write::position);
  for (const Write& write : here) set_bits(machine, write.word, write.bits);
  checkpoints.offer(position, machine);
}

StopReport Debugger::Impl::go_to(std::uint64_t target, const std::stop_token& stop) {
  const Checkpoints::Entry& entry = checkpoints.before(target);
  if (target < position || entry.position > position) restore(entry);
  while (position < target) {
    if (at_end()) return ended(StopReason::End);
    if (stop.stop_requested()) return ended(StopReason::Interrupted);
    advance();
  }
  return {};
}

StopReport Debugger::Impl::run(const std::stop_token& stop) {
  ConditionCheck check(conditions, machine);
  while (!at_end()) {
    if (stop.stop_requested()) return ended(StopReason::Interrupted);
    StopReport report;
    advance([&] { report = check.after_step(); });
    check.refresh();
    if (report.reason == StopReason::Condition) return counted(std::move(report));
  }
  return ended(StopReason::End);
}

/// Repeats the run between two checkpoints, from the last pair to the first, until one holds a
/// position before the present one at which a condition is met.
StopReport Debugger::Impl::run_back(const std::stop_token& stop) {
  std::uint64_t last = position - std::min<std::uint64_t>(position, 1);  // candidate
  while (last > 0) {
    // A checkpoint itself belongs to the piece before it, which shows what its instruction changes.
    const std::uint64_t first = checkpoints.before(last - 1).position;
    restore(checkpoints.before(last - 1));
    ConditionCheck check(conditions, machine);
    StopReport found;
    std::uint64_t where = 0;
    while (position < last) {
      if (stop.stop_requested()) return ended(StopReason::Interrupted);
      StopReport report;
      advance([&] { report = check.after_step(); });
      check.refresh();
      if (report.reason != StopReason::Condition) continue;
      found = std::move(report);
      where = position;
    }
    if (where > 0) {
      go_to(where, {});
      return counted(std::move(found));
    }
    last = first;
  }
  restore(checkpoints.entries().front());
  return ended(StopReason::Beginning);
}

StopReport Debugger::Impl::counted(StopReport report) {
  for (const unsigned number : report.conditions) ++conditions.find(number).hits;
  return report;
}

Debugger::Debugger(Machine machine) : impl_(std::make_unique<Impl>(std::move(machine))) {}
Debugger::~Debugger() = default;
Debugger::Debugger(Debugger&&) noexcept = default;
Debugger& Debugger::operator=(Debugger&&) noexcept = default;

const Machine& Debugger::machine() const noexcept { return impl_->machine; }
std::uint64_t Debugger::position() const noexcept { return impl_->position; }
bool Debugger::at_end() const { return impl_->at_end(); }

StopReport Debugger::go_to(std::uint64_t position, const std::stop_token& stop) {
  return impl_->go_to(position, stop);
}

StopReport Debugger::step(std::uint64_t instructions, const std::stop_token& stop) {
  const std::uint64_t most = ~std::uint64_t{0} - position();
  return impl_->go_to(position() + std::min(instructions, most), stop);
}

StopReport Debugger::back(std::uint64_t instructions, const std::stop_token& stop) {
  const bool beyond = instructions > position();
  StopReport report = impl_->go_to(beyond ? 0 : position() - instructions, stop);
  if (beyond && report.reason == StopReason::Steps) report.reason = StopReason::Beginning;
  return report;
}

StopReport Debugger::next_pass(const std::stop_token& stop) {
  const MachinePlace from = impl_->machine.place();
  while (!at_end()) {
    if (stop.stop_requested()) return ended(StopReason::Interrupted);
    impl_->advance();
    const MachinePlace now = impl_->machine.place();
    if (now.section != from.section || now.pass != from.pass)
      return ended(at_end() ? StopReason::End : StopReason::Steps);
  }
  return ended(StopReason::End);
}

StopReport Debugger::previous_pass(const std::stop_token& stop) {
  if (position() == 0) return ended(StopReason::Beginning);
  if (impl_->machine.place().instruction == 0) {
    const StopReport report = back(1, stop);
    if (report.reason != StopReason::Steps) return report;
  }
  // Sections are straight lines of instructions.
  return back(std::min<std::uint64_t>(position(), impl_->machine.place().instruction), stop);
}

StopReport Debugger::step_clocks(std::uint64_t clocks, const std::stop_token& stop) {
  const std::uint64_t start = impl_->machine.place().clock;
  do {
    if (at_end()) return ended(StopReason::End);
    if (stop.stop_requested()) return ended(StopReason::Interrupted);
    impl_->advance();
  } while (impl_->machine.place().clock - start < clocks);
  return {};
}

StopReport Debugger::run(const std::stop_token& stop) { return impl_->run(stop); }
StopReport Debugger::run_back(const std::stop_token& stop) { return impl_->run_back(stop); }

unsigned Debugger::break_at(std::string_view section, std::size_t instruction,
                            std::optional<std::uint64_t> pass) {
  return impl_->conditions.add_instruction(section, instruction, pass);
}
unsigned Debugger::break_at_section(std::string_view section, std::optional<std::uint64_t> pass) {
  return impl_->conditions.add_section(section, pass);
}
unsigned Debugger::break_at_line(std::uint32_t line, std::string_view file) {
  return impl_->conditions.add_line(line, file);
}
unsigned Debugger::break_at_clock(std::uint64_t clock) {
  return impl_->conditions.add_clock(clock);
}
unsigned Debugger::watch(std::vector<MachineWord> words, std::string text) {
  return impl_->conditions.add_watch(impl_->machine, std::move(words), std::move(text));
}
const std::vector<StopCondition>& Debugger::conditions() const noexcept {
  return impl_->conditions.list();
}
void Debugger::remove(unsigned number) { impl_->conditions.remove(number); }
void Debugger::enable(unsigned number, bool enabled) {
  impl_->conditions.find(number).enabled = enabled;
}

MachineBits Debugger::read(const MachineWord& word) const { return bits_of(impl_->machine, word); }

void Debugger::write(const MachineWord& word, const MachineBits& bits) {
  Impl& d = *impl_;
  set_bits(d.machine, word, bits);
  while (!d.writes.empty() && d.writes.back().position > d.position) d.writes.pop_back();
  d.writes.push_back({d.position, word, bits});
  d.checkpoints.replace_from(d.position, d.machine);
}

std::size_t Debugger::checkpoints() const noexcept { return impl_->checkpoints.entries().size(); }
std::size_t Debugger::checkpoint_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Checkpoints::Entry& entry : impl_->checkpoints.entries())
    bytes += entry.snapshot.bytes();
  return bytes;
}

}  // namespace gdr
