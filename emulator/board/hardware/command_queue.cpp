#include "emulator/board/hardware/command_queue.hpp"

namespace gdr {

std::vector<CommandQueue> make_queues(unsigned chips) {
  std::vector<CommandQueue> queues(1);
  queues[0].chips = chips >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << chips) - 1;
  for (unsigned c = 0; c < chips; ++c) {
    CommandQueue& queue = queues.emplace_back();
    queue.chip = c;
    queue.chips = std::uint64_t{1} << c;
    queue.registers = queue_registers(c);
  }
  return queues;
}

}  // namespace gdr
