// A board that only applies the time model to command lists, without executing them.
#pragma once

#include <memory>
#include <vector>

#include "emulator/board/list_timer.hpp"
#include "libgdr/driver/board_link.hpp"

namespace gdr {

/// Payloads are not read, so lists may refer to memory that does not exist, and reads return no
/// results. Every chip runs the program whose timing is given.
class TimedBoard final : public BoardLink {
 public:
  TimedBoard(const Geometry& geometry, ProgramTiming program, const BoardRates& rates = {})
      : timer_(geometry, rates), program_(std::move(program)) {}

  void execute(const CommandList& list, std::vector<std::uint64_t>& results,
               const std::stop_token& stop = {}) override;
  WorkCounts counts() const override { return timer_.counts(); }
  void reset_counts() override { timer_.reset(); }
  EngineStats engine_stats() const override { return {}; }
  bool multiplies_all_bits() const noexcept override { return false; }
  std::string name() const override { return "time model of a board"; }
  LinkTimes times() const override { return {}; }
  bool needs_data() const noexcept override { return false; }
  void record(bool on) override { recorded_.clear(), records_ = on; }
  const std::vector<ListRecord>& recorded() const noexcept override { return recorded_; }

 private:
  ListTimer timer_;
  ProgramTiming program_;
  bool records_ = false;
  std::vector<ListRecord> recorded_;
};

}  // namespace gdr
