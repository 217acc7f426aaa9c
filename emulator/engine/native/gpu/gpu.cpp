#include "emulator/engine/native/gpu/gpu.hpp"

#include <cstring>
#include <string>

#include "emulator/engine/native/gpu/kernel_text.hpp"

namespace gdr::native {

void GpuSources::update(const LaneSources& sources) {
  const std::size_t bytes = sources.group_count() * sources.group_bytes();
  const bool follows = buffer_ != nullptr && bytes == bytes_;
  if (follows && sources.revision() == revision_) return;
  if (!follows || sources.revision() != revision_ + 1) {
    buffer_.reset();
    buffer_ = gpu_.pool.take(bytes);
    gpu_.device->write(*buffer_, 0, sources.groups(), bytes);
  } else {
    for (const LaneSources::Range& groups : sources.converted_groups()) {
      const std::size_t first = groups.first * sources.group_bytes();
      gpu_.device->write(*buffer_, first, sources.groups() + first,
                         groups.count * sources.group_bytes());
    }
  }
  bytes_ = bytes;
  revision_ = sources.revision();
}

GpuKernel::GpuKernel(Gpu& gpu, const CodeContext& context)
    : gpu_(gpu),
      layout_(context.kernel.layout),
      lanes_(context.target.lanes()),
      group_words_(context.group_bytes() / context.target.lane_bytes()) {
  const std::string text = kernel_text(context);
  text_bytes_ = text.size();
  kernel_ = gpu.compile(text);
}

void GpuKernel::run(std::byte* items, std::size_t count, const GpuSources& sources,
                    std::uint64_t first_group, const std::byte* uniforms, std::size_t uniform_bytes,
                    std::uint64_t passes) const {
  constexpr std::size_t group = 128;
  const std::size_t bytes = layout_.bytes(), outputs = layout_.outputs * layout_.vector_bytes;
  const auto input = gpu_.pool.take(count * bytes);
  const auto results = gpu_.pool.take(count * outputs);
  const auto words = gpu_.pool.take(uniform_bytes);
  gpu_.device->write(*input, 0, items, count * bytes);
  gpu_.device->write(*words, 0, uniforms, uniform_bytes);
  const std::size_t threads = count * lanes_;
  gpu_.device->run(*kernel_,
                   {{input.get()},
                    {results.get()},
                    {&sources.buffer()},
                    {words.get()},
                    {nullptr, threads},
                    {nullptr, first_group * group_words_},
                    {nullptr, passes}},
                   (threads + group - 1) / group * group, group);
  thread_local std::vector<std::byte> made;
  if (made.size() < count * outputs) made.resize(count * outputs);
  gpu_.device->read(*results, 0, made.data(), count * outputs);
  for (std::size_t n = 0; n < count; ++n)
    std::memcpy(items + n * bytes + layout_.output(0), made.data() + n * outputs, outputs);
}

}  // namespace gdr::native
