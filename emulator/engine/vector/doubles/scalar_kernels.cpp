// Kernels that need no vectors (op.hpp): transfers to the broadcast memory, and the ends of lists.
#include <cstring>

#include "emulator/engine/lanes/doubles/op.hpp"

namespace gdr {
namespace {

void run_next(const DoublesOp& op, DoublesRun& run) {
  const DoublesOp& next = *(&op + 1);
  next.kernel(next, run);
}
void write_word(const DoublesOp& op, DoublesRun& run) {
  run.memory[op.memory][op.address] = run.bm_words[op.element];
}

}  // namespace

void read_lane(const DoublesOp& op, DoublesRun& run) {
  std::uint64_t bits;
  std::memcpy(&bits, run.frame + op.a.lanes + op.lane * sizeof bits, sizeof bits);
  run.bm_words[op.element] = bits >> 28;
  run_next(op, run);
}
void write_always(const DoublesOp& op, DoublesRun& run) {
  write_word(op, run);
  run_next(op, run);
}
void write_masked_word(const DoublesOp& op, DoublesRun& run) {
  std::uint64_t mask;
  std::memcpy(&mask, run.frame + op.mask.lanes + op.lane * sizeof mask, sizeof mask);
  if ((mask != 0) == op.value) write_word(op, run);
  run_next(op, run);
}
void store_longs(const DoublesOp& op, DoublesRun& run) {
  const std::byte* const lane = run.frame + op.lane * sizeof(std::uint64_t);
  std::uint64_t* to = run.memory[op.memory] + op.address;
  for (std::uint32_t k = 0; k < op.elements; ++k, to += 2) {
    std::uint64_t upper, lower;
    std::memcpy(&upper, lane + op.a.lanes + k * op.a.step, sizeof upper);
    std::memcpy(&lower, lane + op.a.tail + k * op.a.step, sizeof lower);
    to[0] = upper >> 28;
    to[1] = lower >> 28;
  }
  run_next(op, run);
}
bool touches_memory(DoublesKernel kernel) {
  return kernel == store_longs || kernel == read_lane || kernel == write_always ||
         kernel == write_masked_word;
}
void stop(const DoublesOp&, DoublesRun& run) { run.next = nullptr; }
void pause(const DoublesOp& op, DoublesRun& run) { run.next = &op + 1; }

DoublesOp plain_operation(DoublesKernel kernel) {
  DoublesOp op;
  op.kernel = kernel;
  return op;
}

}  // namespace gdr
