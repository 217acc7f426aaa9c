#include "emulator/board/board.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "emulator/board/board_state.hpp"
#include "emulator/board/command_executor.hpp"
#include "emulator/board/joined_boards.hpp"
#include "emulator/board/pass_builder.hpp"
#include "emulator/board/program_cache.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

void check_geometry(const Geometry& g) {
  const auto check = [](std::uint64_t value, std::uint64_t max, const char* what) {
    if (value >= 1 && value <= max) return;
    throw Error(ErrorCategory::Usage, std::string("a board with ") + std::to_string(value) + " " +
                                          what + " cannot be made; 1 to " + std::to_string(max) +
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

}  // namespace

struct Board::Impl {
  explicit Impl(const Geometry& geometry) : timer(geometry) {}

  BoardState board;
  ListTimer timer;
  ProgramCache programs{board};
  PassBuilder passes{board};
  CommandExecutor commands{board, programs, passes, timer};
  std::uint64_t max_results = ~std::uint64_t{0};  ///< maximum result of a list, words
  std::size_t done = 0;                           ///< number of executed commands of the last list
  bool records = false;                           ///< whether busy times are recorded
  std::vector<ListRecord> recorded = {};

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
  commands.begin_list(results, max_results);
  begin_list();
  try {
    for (; done < list.commands.size(); ++done) commands.execute(list, done);
    results.resize(commands.result_words());
    if (defers) {
      passes.memory_writes().finish(board.threads);
      passes.leave(list);
    } else {
      passes.flush();
      passes.memory_writes().finish(board.threads);
    }
  } catch (...) {
    passes.flush();  // executes the commands before the refused one
    passes.memory_writes().finish(board.threads);
    results.resize(commands.result_words());
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

void Board::complete(std::span<Board* const> boards) {
  std::vector<WaitingBoard> waiting;
  for (Board* const board : boards)
    if (!board->impl_->passes.pending().empty())
      waiting.push_back({&board->impl_->board, &board->impl_->passes});
  const auto discard_all = [&] {
    for (Board* const board : boards) board->discard();
  };
  try {
    if (waiting.size() > 1 && run_together(waiting)) return discard_all();
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
  constexpr std::uint64_t wanted = 131072, max_lists = 256;
  const Geometry& g = impl_->board.geometry;
  const std::uint64_t targets = std::uint64_t{g.chips_per_board} * g.pes() * max_elements;
  return static_cast<unsigned>(std::min(max_lists, wanted / targets));
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

EngineStats Board::engine_stats() const { return impl_->programs.stats(); }

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
  impl_->programs.invalidate_chips();
  return const_cast<ChipState&>(state);
}

}  // namespace gdr
