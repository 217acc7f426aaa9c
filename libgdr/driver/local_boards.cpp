// Boards in this process: the emulated board, and a time model of a board.
#include <deque>

#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/board_link.hpp"

namespace gdr {
namespace {

class EmulatedBoard;
/// The boards of a device, which compute the lists that were started together.
using BoardGroup = std::vector<EmulatedBoard*>;

class EmulatedBoard final : public BoardLink {
 public:
  EmulatedBoard(const Geometry& geometry, std::shared_ptr<const Engine> engine, unsigned threads,
                std::shared_ptr<BoardGroup> group)
      : board_(geometry, std::move(engine), threads), group_(std::move(group)) {
    group_->push_back(this);
  }
  EmulatedBoard(const EmulatedBoard&) = delete;
  EmulatedBoard& operator=(const EmulatedBoard&) = delete;
  ~EmulatedBoard() override { std::erase(*group_, this); }

  void execute(const CommandList& list, std::vector<std::uint64_t>& results,
               const std::stop_token& stop) override {
    const AddElapsed busy(busy_seconds_);
    const WorkMonitor monitor{stop, {}};
    const MonitoredScope scope(monitor);
    board_.execute(list, results);
  }
  void start(const CommandList& list, const std::stop_token& stop) override {
    const AddElapsed busy(busy_seconds_);
    const WorkMonitor monitor{stop, {}};
    const MonitoredScope scope(monitor);
    board_.start(list, started_.emplace_back());
    ++unfinished_;
  }
  void finish(std::vector<std::uint64_t>& results, const std::stop_token& stop) override {
    if (unfinished_ == started_.size()) {  // the first one as well
      const AddElapsed busy(busy_seconds_);
      const WorkMonitor monitor{stop, {}};
      const MonitoredScope scope(monitor);
      complete_all();
    }
    results = std::move(started_.front());
    started_.pop_front();
  }
  void discard_started() noexcept override {
    board_.discard();
    started_.clear();
    unfinished_ = 0;
  }
  unsigned lists_ahead() const noexcept override { return board_.lists_ahead(); }
  LinkTimes times() const override { return {0, busy_seconds_}; }
  WorkCounts counts() const override { return board_.counts(); }
  void reset_counts() override { board_.reset_counts(); }
  EngineStats engine_stats() const override { return board_.engine_stats(); }
  bool multiplies_all_bits() const noexcept override {
    return board_.engine().capabilities().multiplies_all_bits;
  }
  bool multiplies_arrays() const noexcept override {
    return board_.engine().capabilities().multiplies_arrays;
  }
  Isa isa() const noexcept override { return board_.engine().isa(); }
  void count(const CommandList& list) override {
    const AddElapsed busy(busy_seconds_);
    board_.count(list);
  }
  void record(bool on) override { board_.record(on); }
  const std::vector<ListRecord>& recorded() const noexcept override { return board_.recorded(); }
  Board* emulated() noexcept override { return &board_; }

 private:
  void complete_all() {
    std::vector<Board*> boards;
    for (EmulatedBoard* const one : *group_)
      if (one->unfinished_ > 0) boards.push_back(&one->board_);
    Board::complete(boards);
    for (EmulatedBoard* const one : *group_) one->unfinished_ = 0;
  }

  Board board_;
  double busy_seconds_ = 0;
  std::deque<std::vector<std::uint64_t>> started_;  ///< results, at addresses that do not change
  std::size_t unfinished_ = 0;                      ///< the last of these
  const std::shared_ptr<BoardGroup> group_;         ///< group of boards, this one included
};

class TimedBoard final : public BoardLink {
 public:
  TimedBoard(const Geometry& geometry, ProgramTiming program, const BoardRates& rates)
      : timer_(geometry, rates), program_(std::move(program)) {}

  void execute(const CommandList& list, std::vector<std::uint64_t>& results,
               const std::stop_token& stop) override {
    if (stop.stop_requested()) throw Cancelled();
    results.clear();
    timer_.begin(records_ ? &recorded_.emplace_back().busy : nullptr);
    for (const Command& command : list.commands) timer_.add(command, program_);
    timer_.end();
    if (records_) recorded_.back().seconds = timer_.list_seconds();
  }
  WorkCounts counts() const override { return timer_.counts(); }
  void reset_counts() override { timer_.reset(); }
  EngineStats engine_stats() const override { return {}; }
  bool multiplies_all_bits() const noexcept override { return false; }
  std::string name() const override { return "time model of a board"; }
  LinkTimes times() const override { return {}; }
  bool needs_data() const noexcept override { return false; }

 private:
  ListTimer timer_;
  ProgramTiming program_;
};

}  // namespace

std::vector<std::unique_ptr<BoardLink>> emulate_boards(unsigned count, const Geometry& geometry,
                                                       const std::shared_ptr<const Engine>& engine,
                                                       unsigned threads) {
  const auto group = std::make_shared<BoardGroup>();
  std::vector<std::unique_ptr<BoardLink>> boards;
  for (unsigned k = 0; k < count; ++k)
    boards.push_back(std::make_unique<EmulatedBoard>(geometry, engine, threads, group));
  return boards;
}

std::unique_ptr<BoardLink> emulate_board(const Geometry& geometry,
                                         const std::shared_ptr<const Engine>& engine,
                                         unsigned threads) {
  return std::move(emulate_boards(1, geometry, engine, threads).front());
}

std::unique_ptr<BoardLink> model_board(const Geometry& geometry, const ProgramTiming& program,
                                       const BoardRates& rates) {
  return std::make_unique<TimedBoard>(geometry, program, rates);
}

}  // namespace gdr
