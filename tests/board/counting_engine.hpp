// The example of "Add an engine" in HACKING.md: an engine that executes programs with the reference
// and counts what their operations would cost a host: one for each lane of an operation.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "emulator/engine/reference/reference.hpp"
#include "emulator/engine/runners/blockwise.hpp"

namespace gdr::test {

/// Kinds of operations that are counted apart.
enum class Work : std::uint8_t { Product, Sum, Integer, Transfer };
constexpr std::size_t work_kinds = 4;

/// Operations by Work. Threads add to them.
class WorkCounts {
 public:
  void add(Work kind, std::uint64_t count) noexcept {
    counts_[static_cast<std::size_t>(kind)].fetch_add(count, std::memory_order_relaxed);
  }
  std::uint64_t of(Work kind) const noexcept { return counts_[static_cast<std::size_t>(kind)]; }

 private:
  std::array<std::atomic<std::uint64_t>, work_kinds> counts_{};
};

/// A program on this engine. BlockwiseExecutable brings the runner of passes, which calls `run` for
/// every block and section, from several threads.
class CountingExecutable final : public BlockwiseExecutable {
 public:
  CountingExecutable(const Program& program, const Geometry& geometry, WorkCounts& counts)
      : good_(ReferenceEngine().prepare(program, geometry)), counts_(counts) {
    for (unsigned s = 0; s < section_count; ++s)
      for (const Instruction& instruction : program.sections[s]) add(instruction, work_[s]);
  }

  void run(BlockState& block, const BlockRun& run) const override {
    good_->run(block, run);
    const auto& work = work_[static_cast<unsigned>(run.section)];
    for (std::size_t k = 0; k < work_kinds; ++k)
      counts_.add(static_cast<Work>(k), work[k] * run.iterations * block.pes);
  }

 private:
  using Counts = std::array<std::uint64_t, work_kinds>;

  /// Lanes of an instruction's operations in one PE.
  static void add(const Instruction& instruction, Counts& to) {
    const auto count = [&](Work kind) { to[static_cast<std::size_t>(kind)] += instruction.vlen; };
    if (instruction.mul.used()) count(Work::Product);
    if (instruction.alu.used()) count(instruction.alu.op >= Op::Iadd ? Work::Integer : Work::Sum);
    if (instruction.move.used()) count(Work::Transfer);
  }

  std::shared_ptr<const Executable> good_;
  std::array<Counts, section_count> work_{};  ///< by section: of one iteration in one PE
  WorkCounts& counts_;
};

class CountingEngine final : public Engine {
 public:
  std::string_view name() const noexcept override { return "counting"; }
  Isa isa() const noexcept override { return Isa::Portable; }
  std::shared_ptr<const Executable> prepare(const Program& program,
                                            const Geometry& geometry) const override {
    return std::make_shared<CountingExecutable>(program, geometry, counts_);
  }
  const WorkCounts& counts() const noexcept { return counts_; }

 private:
  mutable WorkCounts counts_;
};

}  // namespace gdr::test
