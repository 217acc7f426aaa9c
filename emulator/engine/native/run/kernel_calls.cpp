#include "emulator/engine/native/run/kernel_calls.hpp"

#include <algorithm>

#include "emulator/engine/native/run/near_sources.hpp"

namespace gdr::native {

std::uint64_t zero_words(const CompiledSection& section, const BlockState& block) {
  std::uint64_t zeros = 0;
  const auto& words = section.uniform_words().words;
  for (std::size_t w = 0; w < std::min<std::size_t>(words.size(), 64); ++w) {
    if (((section.zero_candidates() >> w) & 1) == 0) continue;
    std::uint64_t bits = 0;
    words_to_lanes(words[w].type, Precision::Double,
                   memory_words(block, words[w].type, words[w].place, 0), 1,
                   reinterpret_cast<std::byte*>(&bits), sizeof bits);
    if (bits == 0) zeros |= std::uint64_t{1} << w;
  }
  return zeros;
}

bool uniform_lanes(const CompiledSection& section, Precision precision, const BlockState& block,
                   std::byte* to) {
  const std::size_t lane = precision == Precision::Float ? sizeof(float) : sizeof(double);
  bool fits = true;
  for (const LeafKey word : section.uniform_words().words) {
    const WordsIn in = memory_words(block, word.type, word.place, 0);
    fits = words_to_lanes(word.type, precision, in, 1, to, lane) && fits;
    to += lane;
  }
  return fits;
}

void call_kernel(const KernelCalls& calls, std::size_t kernel, std::byte* items, std::size_t count,
                 CallBuffers& buffers) {
  // Planning a short loop for each call would take longer than its conditions.
  constexpr std::uint64_t short_iterations = 10 * SourceWindows::groups;
  const auto& entry = calls.code.kernels[kernel];
  const std::size_t item = entry.code.layout.bytes(), lanes = calls.code.target.lanes();
  LoopSources sources = calls.sources;
  const bool planned_once = calls.near == nullptr && sources.count <= short_iterations;
  const LoopRun* runs = nullptr;
  std::byte* at = items;
  for (std::size_t left = count; left > 0;) {
    const std::size_t done = count - left;
    const CompiledKernel* const code =
        entry.portable ? nullptr : &calls.section.code_for(entry, calls.code.target, left);
    const std::size_t copies = code != nullptr ? code->copies : 1;
    if (calls.near != nullptr) sources = calls.near->select(done * lanes, copies * lanes);
    if (code == nullptr) {
      entry.portable(at, sources.groups, calls.uniforms, sources.count);
    } else {
      grow(buffers.spills, code->spill_bytes);
      if (!planned_once || done == 0)
        runs = buffers.planner.plan(
            {entry.code, calls.code.target, calls.section.uniform_words(), calls.uniforms, items,
             calls.vectors, calls.live, sources.count, sources.windows, sources.first_window},
            done, planned_once ? count : std::min(left, copies));
      code->function(at, sources.groups, calls.uniforms, sources.count, buffers.spills.data(),
                     runs);
    }
    at += copies * item;
    left -= copies;
  }
}

}  // namespace gdr::native
