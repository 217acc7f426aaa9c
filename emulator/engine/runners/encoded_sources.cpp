#include "emulator/engine/runners/encoded_sources.hpp"

#include "emulator/engine/runners/transfers.hpp"

namespace gdr {

RecordSegment segment_of(const PassState& pass, std::size_t chip, GroupRange groups) noexcept {
  const LoopPlan& plan = pass.run().plan;
  const std::uint64_t group_words = plan.record_words(pass.program()) * plan.group;
  return {&pass.memory_of(chip), pass.run().address + groups.first * group_words,
          plan.items_in(groups)};
}

void EncodedSources::reserve(const LoadedProgram& program, const StreamingExecutable* engine,
                             std::uint64_t groups) {
  const std::uint64_t size = groups * program.halves.source_step;
  if (words.size() < size) words.resize(size);
  if (engine == nullptr || engine->streams_memory_words()) return;
  const std::size_t bytes = groups * engine->stream_bytes();
  if (own.size() < bytes) own.resize(bytes);
}

void EncodedSources::encode(const PassState& pass, std::size_t chip, std::uint64_t part,
                            std::uint64_t base, GroupRange groups,
                            const StreamingExecutable* engine) {
  thread_local std::vector<std::uint64_t> scratch;
  const std::uint32_t step = pass.program().halves.source_step;
  std::uint64_t* const to = words.data() + groups.first * step;
  load_sources(pass.program(), pass.run().plan, pass.memory_of(chip), {pass.run().address, part},
               {base + groups.first, groups.count}, to, scratch);
  if (engine == nullptr || engine->streams_memory_words()) return;
  if (!engine->convert_sources(to, groups.count, step,
                               own.data() + groups.first * engine->stream_bytes()))
    usable = false;
}

const std::byte* EncodedSources::stream(const StreamingExecutable& engine,
                                        std::uint64_t first) const noexcept {
  const std::byte* const groups =
      engine.streams_memory_words() ? reinterpret_cast<const std::byte*>(words.data()) : own.data();
  return groups + first * engine.stream_bytes();
}

}  // namespace gdr
