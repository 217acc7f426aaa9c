#include "emulator/engine/matmul/gpu/matmul_card.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gdr {

MatmulCard::MatmulCard(std::shared_ptr<Gpu> used, DeviceNumbers kind, std::size_t most)
    : gpu(std::move(used)), numbers(kind), multiplications_of_launch(first_multiplications) {
  const gpu::DeviceInfo& info = gpu->device->info();
  // Several runners share the memory; the pool has buffers of powers of two.
  std::uint64_t allowed = std::min(info.largest_buffer_bytes, info.memory_bytes / 8);
  if (most != 0) allowed = std::min<std::uint64_t>(allowed, most);
  max_bytes = std::bit_floor(std::max<std::uint64_t>(allowed, 1));
  resident_bytes = info.memory_bytes / 4;
}

void MatmulCard::run_for_each(const std::string& text, const std::vector<gpu::Argument>& arguments,
                              std::size_t count) const {
  constexpr std::size_t group = 128;
  device().run(*kernel(text), arguments, parts_of(count, group) * group, group);
}

}  // namespace gdr
