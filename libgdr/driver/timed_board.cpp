#include "libgdr/driver/timed_board.hpp"

#include "emulator/host/parallel.hpp"

namespace gdr {

void TimedBoard::execute(const CommandList& list, std::vector<std::uint64_t>& results,
                         const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
  results.clear();
  timer_.begin(records_ ? &recorded_.emplace_back().busy : nullptr);
  for (const Command& command : list.commands) timer_.add(command, program_);
  timer_.end();
  if (records_) recorded_.back().seconds = timer_.list_seconds();
}

}  // namespace gdr
