#include "emulator/board/program_cache.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "emulator/assembler/object.hpp"

namespace gdr {
namespace {

/// Maximum number of cached programs. Callers that alternate between many (quantum chemistry has
/// about 35) would otherwise compile them for the fast engines in every round.
constexpr std::size_t max_ready = 64;

void add_work(const Executable& executable, EngineStats& work) {
  for (const SectionStats& stats : executable.stats()) {
    work.fast_runs += stats.runs;
    work.fallback_runs += stats.fallback_runs;
    work.gpu_runs += stats.gpu_runs;
    work.compile_seconds += stats.compile_seconds;
    // A section that is not compiled need not have run: products have other ways.
    const bool has_run = stats.runs != 0 || stats.fallback_runs != 0;
    if (work.reason.empty() && (stats.compiled || has_run))
      work.reason = stats.first_failure.empty() ? stats.reason : stats.first_failure;
  }
}

}  // namespace

/// Reuses a cached program with the same object.
std::shared_ptr<ReadyProgram> ProgramCache::get(std::span<const std::uint8_t> object) {
  const auto known = std::ranges::find_if(ready_, [&](const std::shared_ptr<ReadyProgram>& p) {
    return std::ranges::equal(p->object, object);
  });
  if (known != ready_.end()) {
    ready_.splice(ready_.begin(), ready_, known);
    return ready_.front();
  }
  std::vector<std::uint8_t> bytes(object.begin(), object.end());
  Program read = read_object(bytes);
  ProgramTiming timing = program_timing(read, board_.geometry);
  auto executable = board_.engine->prepare(read, board_.geometry);
  const auto program = std::make_shared<ReadyProgram>(
      ReadyProgram{gdr::load_program(std::move(read), board_.geometry, board_.engine->isa(),
                                     board_.engine->capabilities().exact()),
                   std::move(bytes), std::move(timing), std::move(executable), nullptr});
  program->runner = program->executable->pass_runner(*program, board_.geometry);
  add_work(*program->executable, idle_);
  return ready_.emplace_front(program);
}

void ProgramCache::load(const std::shared_ptr<ReadyProgram>& program, std::uint64_t chips) {
  const EngineStats all = stats();
  program->runner->invalidate_chips();
  for_each_chip(board_, chips, [&](std::size_t, BoardChip& chip) {
    chip.targets.reset();
    chip.loaded = program;
    chip.chip.load(*program, *program->executable);
  });
  EngineStats held;
  add_work_in_chips(held);
  idle_.fast_runs = all.fast_runs - held.fast_runs;
  idle_.fallback_runs = all.fallback_runs - held.fallback_runs;
  idle_.gpu_runs = all.gpu_runs - held.gpu_runs;
  idle_.compile_seconds = all.compile_seconds - held.compile_seconds;
  drop_old_programs();
}

bool ProgramCache::is_in_chip(const ReadyProgram* program) const noexcept {
  return std::ranges::any_of(board_.chips,
                             [&](const BoardChip& chip) { return chip.loaded.get() == program; });
}

void ProgramCache::add_work_in_chips(EngineStats& work) const {
  for (const auto& program : ready_)
    if (is_in_chip(program.get())) add_work(*program->executable, work);
}

EngineStats ProgramCache::stats() const {
  EngineStats work = idle_;
  work.reason.clear();
  add_work_in_chips(work);
  return work;
}

void ProgramCache::invalidate_chips() noexcept {
  for (const auto& program : ready_) program->runner->invalidate_chips();
}

void ProgramCache::drop_old_programs() {
  for (auto p = ready_.end(); ready_.size() > max_ready && p != ready_.begin();) {
    --p;
    if (!is_in_chip(p->get())) p = ready_.erase(p);
  }
}

}  // namespace gdr
