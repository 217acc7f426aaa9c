#include "emulator/board/board.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <list>
#include <string>
#include <utility>

#include "emulator/assembler/object.hpp"
#include "emulator/board/board_state.hpp"
#include "emulator/board/pass_builder.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Maximum number of cached programs. Callers that alternate between many (quantum chemistry has
/// about 35) would otherwise compile them for the fast engines in every round.
constexpr std::size_t max_ready = 64;

using Payload = std::span<const std::uint64_t>;

void check_geometry(const Geometry& g) {
  const auto check = [](std::uint64_t value, std::uint64_t most, const char* what) {
    if (value >= 1 && value <= most) return;
    throw Error(ErrorCategory::Usage, std::string("a board with ") + std::to_string(value) + " " +
                                          what + " cannot be made; 1 to " + std::to_string(most) +
                                          " are possible");
  };
  check(g.chips_per_board, GeometryLimits::chips, "chips");
  check(g.blocks, GeometryLimits::blocks, "blocks a chip");
  check(g.pes_per_block, GeometryLimits::pes_per_block, "PEs a block");
  check(g.register_words, GeometryLimits::register_words, "register words");
  check(g.local_words, GeometryLimits::memory_words, "local memory words");
  check(g.broadcast_words, GeometryLimits::memory_words, "broadcast memory words");
  if (!(g.clock_hz > 0))
    throw Error(ErrorCategory::Usage, "the clock of a board must be above 0 Hz");
}

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

/// Calls `work(number, chip)` for each chip of a mask.
template <typename Work>
void for_each_chip(BoardState& board, std::uint64_t mask, const Work& work) {
  for (std::size_t number = 0; number < board.chips.size(); ++number)
    if (takes_part(mask, number)) work(number, board.chips[number]);
}

}  // namespace

struct Board::Impl {
  explicit Impl(const Geometry& geometry) : timer(geometry) {}

  BoardState board;
  ListTimer timer;
  /// Cache of prepared programs, most recently loaded first.
  std::list<std::shared_ptr<ReadyProgram>> ready = {};
  EngineStats idle;                               ///< statistics of the programs not in a chip
  std::uint64_t max_results = ~std::uint64_t{0};  ///< maximum result of a list, words
  std::uint64_t last_written_chips = 0;           ///< chips of the last write to memories
  std::size_t done = 0;                           ///< number of executed commands of the last list
  PassBuilder passes{board};
  bool records = false;
  std::vector<ListRecord> recorded = {};

  /// Whether passes of both boards may be passes of this one: for the same program, with the same
  /// parameters in all chips.
  bool has_state_of(const Impl& other) const {
    if (board.loaded == nullptr || other.board.loaded == nullptr ||
        board.loaded->object != other.board.loaded->object)
      return false;
    const Params& params = board.chips.front().chip.params();
    const auto has_params = [&](const BoardChip& chip) { return chip.chip.params() == params; };
    return std::ranges::all_of(board.chips, has_params) &&
           std::ranges::all_of(other.board.chips, has_params);
  }
  bool has_sources_of(const PendingPass& pass);
  static bool run_together(std::span<Impl* const> boards);

  /// State of the execution of one list.
  struct Execution {
    const CommandList& list;
    std::vector<std::uint64_t>& results;
    PassBuilder& pass;
    std::uint64_t max_words = 0;
    std::size_t words = 0;      ///< results so far
    bool shared_write = false;  ///< whether several chips share the memory of the last write

    /// Extends the results and returns the offset of the new words, which are overwritten.
    std::size_t expect(std::size_t more) {
      const std::size_t offset = words;
      if (more > max_words - words)
        throw Error(ErrorCategory::Device, "the list returns more than the " +
                                               std::to_string(max_words) +
                                               " words that this board allows; divide it");
      words += more;
      if (results.size() < words) results.resize(words);
      return offset;
    }
  };

  /// `defers`: passes at the end of the list wait.
  void execute(const CommandList& list, std::vector<std::uint64_t>& results, bool defers);

  void begin_list() {
    done = 0;
    if (records) recorded.emplace_back().host_begin = steady_seconds();
    timer.begin(records ? &recorded.back().busy : nullptr);
  }

  void end_list() noexcept {
    timer.end();
    if (!records) return;
    recorded.back().host_end = steady_seconds();
    recorded.back().seconds = timer.list_seconds();
  }

  /// Reuses a cached program with the same object.
  std::shared_ptr<ReadyProgram> ready_program(const std::uint8_t* bytes, std::size_t size) {
    const auto known = std::ranges::find_if(ready, [&](const std::shared_ptr<ReadyProgram>& p) {
      return p->object.size() == size && std::equal(bytes, bytes + size, p->object.begin());
    });
    if (known != ready.end()) {
      ready.splice(ready.begin(), ready, known);
      return ready.front();
    }
    std::vector<std::uint8_t> object(bytes, bytes + size);
    Program read = read_object(object);
    ProgramTiming timing = program_timing(read, board.geometry);
    auto executable = board.engine->prepare(read, board.geometry);
    const auto program = std::make_shared<ReadyProgram>(
        ReadyProgram{gdr::load_program(std::move(read), board.geometry, board.engine->isa(),
                                       board.engine->capabilities().exact()),
                     std::move(object), std::move(timing), std::move(executable), nullptr});
    program->runner = program->executable->pass_runner(*program, board.geometry);
    add_work(*program->executable, idle);
    return ready.emplace_front(program);
  }

  bool holds(const ReadyProgram* program) const noexcept {
    return std::ranges::any_of(board.chips,
                               [&](const BoardChip& chip) { return chip.loaded.get() == program; });
  }

  /// Adds the statistics of the programs in chips.
  void add_held_work(EngineStats& work) const {
    for (const auto& program : ready)
      if (holds(program.get())) add_work(*program->executable, work);
  }
  /// Only programs in chips run, so that the cost does not depend on the number of cached ones.
  EngineStats engine_stats() const {
    EngineStats work = idle;
    work.reason.clear();
    add_held_work(work);
    return work;
  }

  /// Evicts the oldest programs that no chip holds.
  void drop_old_programs() {
    for (auto p = ready.end(); ready.size() > max_ready && p != ready.begin();) {
      --p;
      if (!holds(p->get())) p = ready.erase(p);
    }
  }

  void load_program(Execution& x, const Command& c, Payload payload) {
    x.pass.flush();
    board.loaded = ready_program(reinterpret_cast<const std::uint8_t*>(payload.data()), c.count);
    const EngineStats all = engine_stats();
    board.loaded->runner->invalidate_chips();
    for_each_chip(board, chips_of(c), [&](std::size_t, BoardChip& chip) {
      chip.targets.reset();
      chip.loaded = board.loaded;
      chip.chip.load(*board.loaded, *board.loaded->executable);
    });
    EngineStats held;
    add_held_work(held);
    idle.fast_runs = all.fast_runs - held.fast_runs;
    idle.fallback_runs = all.fallback_runs - held.fallback_runs;
    idle.gpu_runs = all.gpu_runs - held.gpu_runs;
    idle.compile_seconds = all.compile_seconds - held.compile_seconds;
    drop_old_programs();
  }

  /// Selects the program of the chips that a command names.
  void select_program(Execution& x, const Command& c) {
    const bool of_memory = c.kind == CommandKind::WriteMemory || c.kind == CommandKind::ReadMemory;
    if (of_memory || c.kind == CommandKind::LoadProgram) return;
    const auto first = static_cast<std::size_t>(std::countr_zero(c.chips));
    if (first >= board.chips.size() || board.chips[first].loaded == board.loaded) return;
    x.pass.flush();
    board.loaded = board.chips[first].loaded;
  }

  /// Chips with equal memories stay equal and share one copy. So do those that are equal after this
  /// write, if the last one was for the same chips: where writes for one chip alternate with those
  /// for all, a shared copy would have to be separated each time.
  void write_memory(Execution& x, const Command& c, Payload payload) {
    x.pass.flush_run();
    const bool one_chip = std::has_single_bit(c.chips);
    // For the comparisons, and before a memory gets a copy of its own.
    if (!one_chip || x.shared_write) x.pass.memory_writes().finish(board.threads);
    x.shared_write = false;
    const bool may_join = std::exchange(last_written_chips, c.chips) == c.chips;
    const auto will_equal = [&](const BoardMemory& a, const BoardMemory& b) {
      return a.revision() == b.revision() ||
             (may_join && a.equals_except(b, c.address, payload.size()));
    };
    std::uint64_t written = 0;
    for_each_chip(board, c.chips, [&](std::size_t number, BoardChip& chip) {
      if (takes_part(written, number)) return;
      std::vector<BoardMemory*> equal;
      for_each_chip(board, c.chips & ~written, [&](std::size_t other, BoardChip& candidate) {
        if (other <= number || !will_equal(candidate.memory, chip.memory)) return;
        written |= std::uint64_t{1} << other;
        candidate.memory.release(c.address, payload.size());
        equal.push_back(&candidate.memory);
      });
      if (x.shared_write) x.pass.memory_writes().finish(board.threads);
      x.pass.memory_writes().begin({&chip.memory, c.address, payload}, board.threads);
      for (BoardMemory* const memory : equal)
        memory->share_chunks(chip.memory, c.address, payload.size());
      x.shared_write = !equal.empty();
    });
  }

  void write_targets(Execution& x, const Command& c, Payload payload) {
    x.pass.add_write(c, payload.data());
    for_each_chip(board, c.chips, [&](std::size_t, BoardChip& chip) {
      const std::uint64_t end = c.first + c.count;
      chip.targets = c.first == 0 ? end : std::max(end, chip.targets.value_or(0));
    });
  }

  void write_param(Execution& x, const Command& c, Payload payload) {
    bool keeps_value = x.pass.takes_params();
    if (keeps_value)
      for_each_chip(board, c.chips, [&](std::size_t, BoardChip& chip) {
        keeps_value =
            keeps_value && std::ranges::equal(chip.chip.params().words(c.variable), payload);
      });
    if (keeps_value)
      return x.pass.add_param({c.chips, c.variable, {payload.begin(), payload.end()}});
    x.pass.flush();
    for_each_chip(board, c.chips,
                  [&](std::size_t, BoardChip& chip) { chip.chip.set_param(c.variable, payload); });
  }

  void run(Execution& x, const Command& c) {
    const LoadedProgram& loaded = *board.loaded;
    const LoopPlan plan = make_plan(loaded, board.geometry, c.partition, c.count);
    const std::uint64_t output_words =
        c.count * board.loaded->timing.output_words_of_source(c.partition);
    const bool returns = (c.flags & run_return) != 0;
    if (output_words > 0) x.pass.memory_writes().finish(board.threads);
    for_each_chip(board, c.chips, [&](std::size_t number, BoardChip& chip) {
      if (!returns) chip.memory.reserve(c.output_address, output_words);
      const std::uint64_t pairs = targets_of(board, c, number) * c.count;
      timer.counts().interactions += pairs;
      timer.counts().flops += static_cast<double>(pairs) * loaded.program.flops;
    });
    x.pass.add_run(c, plan, returns ? x.expect(output_words) : 0);
  }

  void read_targets(Execution& x, const Command& c) {
    x.pass.add_read(c, x.expect(c.count * words_of_target(board.loaded->layout, c.flags)));
  }

  void read_memory(Execution& x, const Command& c) {
    x.pass.flush_run();
    x.pass.memory_writes().finish(board.threads);
    const std::size_t offset = x.expect(c.count);
    const auto chip = static_cast<std::size_t>(std::countr_zero(c.chips));
    board.chips[chip].memory.read(c.address, std::span(x.results).subspan(offset, c.count));
  }

  void step(Execution& x, std::size_t index) {
    const Command& c = x.list.commands[index];
    select_program(x, c);
    const Payload payload = check_command(board, x.list, index);
    switch (c.kind) {
      case CommandKind::LoadProgram:
        load_program(x, c, payload);
        break;
      case CommandKind::WriteMemory:
        write_memory(x, c, payload);
        break;
      case CommandKind::WriteTargets:
        write_targets(x, c, payload);
        break;
      case CommandKind::WriteParam:
        write_param(x, c, payload);
        break;
      case CommandKind::Run:
        run(x, c);
        break;
      case CommandKind::ReadTargets:
        read_targets(x, c);
        break;
      case CommandKind::ReadMemory:
        read_memory(x, c);
        break;
    }
    timer.add(c, board.timing());
  }
};

Board::Board(const Geometry& geometry, std::shared_ptr<const Engine> engine, unsigned threads)
    : impl_(std::make_unique<Impl>(geometry)) {
  check_geometry(geometry);
  impl_->board.geometry = geometry;
  impl_->board.engine = std::move(engine);
  impl_->board.threads = threads;
  impl_->board.chips.reserve(geometry.chips_per_board);
  for (std::uint32_t c = 0; c < geometry.chips_per_board; ++c) {
    impl_->board.chips.push_back(
        {LoadedChip(geometry), BoardMemory(geometry.dram_bytes / word_bytes), {}, {}});
  }
}
Board::~Board() = default;
Board::Board(Board&&) noexcept = default;
Board& Board::operator=(Board&&) noexcept = default;

void Board::Impl::execute(const CommandList& list, std::vector<std::uint64_t>& results,
                          bool defers) {
  passes.begin(results, defers);
  Execution x{list, results, passes, max_results};
  begin_list();
  try {
    for (; done < list.commands.size(); ++done) step(x, done);
    results.resize(x.words);
    if (defers) {
      x.pass.memory_writes().finish(board.threads);
      x.pass.leave(list);
    } else {
      x.pass.flush();
      x.pass.memory_writes().finish(board.threads);
    }
  } catch (...) {
    x.pass.flush();  // executes the commands before the refused one
    x.pass.memory_writes().finish(board.threads);
    results.resize(x.words);
    end_list();
    throw;
  }
  end_list();
}

void Board::execute(const CommandList& list, std::vector<std::uint64_t>& results) {
  impl_->execute(list, results, false);
}

void Board::count(const CommandList& list) {
  impl_->begin_list();
  for (const Command& command : list.commands) impl_->timer.add(command, impl_->board.timing());
  impl_->done = list.commands.size();
  impl_->end_list();
}

void Board::start(const CommandList& list, std::vector<std::uint64_t>& results) {
  impl_->execute(list, results, true);
}

void Board::complete() {
  std::vector<std::uint64_t> none;
  impl_->passes.begin(none, false);
  impl_->passes.flush();
}

/// Whether all chips that take part in a run have the sources of the first chip of this board.
bool Board::Impl::has_sources_of(const PendingPass& pass) {
  const BoardMemory& own = board.chips.front().memory;
  return std::ranges::all_of(pass.runs, [&](const PassRun& run) {
    const std::uint64_t words = run.plan.items * board.loaded->layout.source_words;
    for (std::size_t c = 0; c < pass.chips.size(); ++c) {
      BoardMemory& memory = pass.chips[c].memory;
      if (!takes_part(run.chips, c) || memory.revision() == own.revision()) continue;
      if (!memory.equals(own, run.address, words)) return false;
      // Not compared again until one of them is written to.
      if (memory.equals_except(own, run.address, words)) memory.take_revision(own);
    }
    return true;
  });
}

/// The runner of the first board executes the passes of all, on the sources in its memory. False:
/// nothing was done.
bool Board::Impl::run_together(std::span<Impl* const> boards) {
  Impl& first = *boards.front();
  std::vector<std::vector<PassChip>> chips;
  std::vector<Pass> passes;
  for (const Impl* const one : boards) {
    if (!one->has_state_of(first)) return false;
    for (const PendingPass& p : one->passes.pending()) {
      if (!first.has_sources_of(p)) return false;
      std::vector<PassChip>& own = chips.emplace_back();
      own.reserve(p.chips.size());
      for (const PassChip& chip : p.chips)
        own.push_back({chip.chip, first.board.chips.front().memory, chip.targets});
      passes.push_back(p.pass(first.board.threads));
      passes.back().chips = own;
    }
  }
  return first.board.loaded->runner->run_together(passes);
}

void Board::complete(std::span<Board* const> boards) {
  std::vector<Impl*> waiting;
  for (Board* const board : boards)
    if (!board->impl_->passes.pending().empty()) waiting.push_back(board->impl_.get());
  const auto discard_all = [&] {
    for (Impl* const one : waiting) one->passes.discard();
  };
  try {
    if (waiting.size() > 1 && Impl::run_together(waiting)) return discard_all();
    for (Board* const board : boards) board->complete();
  } catch (...) {
    discard_all();
    throw;
  }
}

void Board::discard() noexcept { impl_->passes.discard(); }

unsigned Board::lists_ahead() const noexcept {
  if (!impl_->board.engine->capabilities().uses_gpu) return 0;
  // A list has the targets of all PEs. More targets than fit a launch need not wait.
  constexpr std::uint64_t wanted = 131072, most = 256;
  const Geometry& g = impl_->board.geometry;
  const std::uint64_t targets = std::uint64_t{g.chips_per_board} * g.pes() * max_elements;
  return static_cast<unsigned>(std::min(most, wanted / targets));
}

void Board::record(bool on) {
  impl_->records = on;
  impl_->recorded.clear();
}
const std::vector<ListRecord>& Board::recorded() const noexcept { return impl_->recorded; }
void Board::limit_results(std::uint64_t words) noexcept { impl_->max_results = words; }
std::size_t Board::commands_done() const noexcept { return impl_->done; }

const Geometry& Board::geometry() const noexcept { return impl_->board.geometry; }
const Engine& Board::engine() const noexcept { return *impl_->board.engine; }
const Program* Board::program(unsigned chip) const noexcept {
  const auto& chips = impl_->board.chips;
  const bool loaded = chip < chips.size() && chips[chip].loaded != nullptr;
  return loaded ? &chips[chip].loaded->program : nullptr;
}
const WorkCounts& Board::counts() const noexcept { return impl_->timer.counts(); }
void Board::reset_counts() noexcept { impl_->timer.reset(); }

EngineStats Board::engine_stats() const { return impl_->engine_stats(); }

const ChipState& Board::chip(unsigned number) const {
  if (number >= impl_->board.chips.size()) {
    throw Error(ErrorCategory::Device, "chip " + std::to_string(number) +
                                           " is not there; the board has " +
                                           std::to_string(impl_->board.chips.size()));
  }
  return impl_->board.chips[number].chip.state();
}
ChipState& Board::chip(unsigned number) {
  const ChipState& state = std::as_const(*this).chip(number);
  for (const auto& program : impl_->ready) program->runner->invalidate_chips();
  return const_cast<ChipState&>(state);
}

}  // namespace gdr
