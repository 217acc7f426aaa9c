// An emulated board in this process.
#include "emulator/host/parallel.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/driver/board_link.hpp"

namespace gdr {
namespace {

class Emulated final : public BoardLink {
 public:
  Emulated(const Geometry& geometry, std::shared_ptr<const Engine> engine, unsigned threads)
      : board_(geometry, std::move(engine), threads) {}

  void execute(const CommandList& list, std::vector<std::uint64_t>& results,
               const std::stop_token& stop) override {
    const AddElapsed busy(busy_seconds_);
    const WorkMonitor monitor{stop, {}};
    const MonitoredScope scope(monitor);
    board_.execute(list, results);
  }
  LinkTimes times() const override { return {0, busy_seconds_}; }
  WorkCounts counts() const override { return board_.counts(); }
  void reset_counts() override { board_.reset_counts(); }
  EngineStats engine_stats() const override { return board_.engine_stats(); }
  bool multiplies_all_bits() const noexcept override {
    return board_.engine().multiplies_all_bits();
  }
  void record(bool on) override { board_.record(on); }
  const std::vector<ListRecord>& recorded() const noexcept override { return board_.recorded(); }
  Board* emulated() noexcept override { return &board_; }

 private:
  Board board_;
  double busy_seconds_ = 0;
};

}  // namespace

std::unique_ptr<BoardLink> emulate_board(const Geometry& geometry,
                                         std::shared_ptr<const Engine> engine, unsigned threads) {
  return std::make_unique<Emulated>(geometry, std::move(engine), threads);
}

}  // namespace gdr
