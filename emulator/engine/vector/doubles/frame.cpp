#include "emulator/engine/vector/doubles/frame.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/engine/lanes/doubles/verified.hpp"

namespace gdr {
namespace {

/// Frames are reused: one per thread, as large as the largest so far.
thread_local std::vector<double, LineAllocator<double>> frame_memory;
/// The section whose constants are in a thread's frame.
thread_local std::uint64_t frame_section = 0;

/// Rows saved by Frame::save_checkpoint.
thread_local LaneMemory checkpoint_memory;
/// Words of the broadcast memory, to roll back a failed run.
thread_local LaneMemory saved_memory;
/// Exported words until verification succeeds.
thread_local std::vector<std::uint64_t> exported_words;

/// The thread's frame, large enough for a section.
double* frame_for(const DoublesSection& section) {
  const std::size_t doubles = section.frame_bytes / sizeof(double);
  if (frame_memory.size() < doubles) {
    frame_memory.resize(doubles);
    frame_section = 0;
  }
  return frame_memory.data();
}

}  // namespace

Frame::Frame(const DoublesSection& section, const DoublesKernels& kernels, BlockState& block,
             const BlockRun& steps, SourceLanes sources)
    : section_(section),
      kernels_(kernels),
      block_(block),
      writes_memory_(section.writes_memory && steps.outputs == nullptr),
      source_step_(sources.step),
      output_step_(steps.output_step),
      transfer_(section, kernels, block, frame_for(section)) {
  run_.frame = reinterpret_cast<std::byte*>(frame_memory.data());
  run_.memory[0] = block.bm.data();
  run_.memory[1] = const_cast<std::uint64_t*>(sources.first);
  run_.memory[2] = steps.outputs != nullptr ? steps.outputs : block.bm.data() + steps.output_base;
  if (!writes_memory_) return;
  saved_memory.clear();
  if (section.bm_stores.empty()) saved_memory = block.bm;
  for (const std::uint32_t at : section.bm_stores) saved_memory.push_back(block.bm[at]);
}

std::uint64_t Frame::failure() const {
  const bool flags = (raised_flags() & kernels_.failure_flags) != 0;
  return run_.failure | (flags ? std::uint64_t{inexact} : 0);
}

void Frame::clear_failure() {
  clear_flags();
  run_.failure = 0;
}

bool Frame::import() {
  clear_failure();
  transfer_.fill_constants(frame_section == section_.number);
  frame_section = section_.number;
  run_.failure |= transfer_.import();
  return failure() == 0;
}

void Frame::before_passes() {
  once(section_.before);
  once(section_.enter);
  kernels_.leave();
}

bool Frame::all_passes(const BlockRun& run) {
  const auto pass = [this](const OpList& list) {
    once(list);
    next_group();
  };
  bool has_checkpoint = false;
  once(section_.before);
  std::uint64_t left = run.iterations;
  const std::uint64_t last = section_.last_count(run);
  if (left > last) {
    once(section_.enter);
    for (; left > last; --left) pass(section_.pass);
    has_checkpoint = section_.resumable && !section_.writes_memory && failure() == 0;
    if (has_checkpoint) save_checkpoint();
  }
  for (; left > 0; --left) pass(section_.last);
  once(section_.after);
  kernels_.leave();
  return has_checkpoint;
}

void Frame::save_checkpoint() const {
  const std::size_t row = section_.row_lanes;
  if (checkpoint_memory.size() < row * section_.checkpoint.size())
    checkpoint_memory.resize(row * section_.checkpoint.size());
  std::uint64_t* to = checkpoint_memory.data();
  for (const std::uint32_t offset : section_.checkpoint) {
    std::memcpy(to, lanes(offset), row * sizeof(double));
    to += row;
  }
}

void Frame::restore_checkpoint() {
  clear_failure();
  const std::uint64_t* from = checkpoint_memory.data();
  for (const std::uint32_t offset : section_.checkpoint) {
    std::memcpy(lanes(offset), from, section_.row_lanes * sizeof(double));
    from += section_.row_lanes;
  }
}

void Frame::test_export() { run_.failure |= transfer_.export_to(exported_words, Wanted::All); }

bool Frame::leave(Wanted wanted) {
  if (run_.failure == 0) run_.failure = transfer_.export_to(exported_words, wanted);
  kernels_.leave();
  if (failure() != 0) return false;
  transfer_.commit(exported_words, wanted);
  return true;
}

void Frame::restore_memory() const {
  if (!writes_memory_) return;
  std::uint64_t* const bm = block_.bm.data();  // in place: callers point into it
  if (section_.bm_stores.empty()) std::ranges::copy(saved_memory, bm);
  for (std::size_t k = 0; k < section_.bm_stores.size(); ++k)
    bm[section_.bm_stores[k]] = saved_memory[k];
}

}  // namespace gdr
