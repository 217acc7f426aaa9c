#include "emulator/engine/native/run/gpu_batch.hpp"

#include <algorithm>
#include <cstring>

namespace gdr::native {
namespace {

/// Calls `visit(list, thread, lane, rows)` for the lanes of a block's items that hold targets.
/// `thread` counts the lanes of all items, of which `first` come before.
template <typename Visit>
void each_list(const ItemLayout& layout, std::size_t lanes, const std::byte* items,
               std::size_t first, std::size_t count, const Visit& visit) {
  for (std::size_t n = 0; n < count; ++n, items += layout.bytes())
    for (std::uint32_t list = 0; list < layout.lists; ++list) {
      jit::ListRows rows;
      std::memcpy(&rows, items + layout.list(list), sizeof rows);
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if ((rows.live >> lane & 1) != 0) visit(list, (first + n) * lanes + lane, lane, rows);
    }
}

/// Rows that every list of the items fits.
std::size_t rows_of(const ItemLayout& layout, const std::byte* item) {
  std::int64_t most = 1;
  for (std::uint32_t list = 0; list < layout.lists; ++list) {
    jit::ListRows rows;
    std::memcpy(&rows, item + layout.list(list), sizeof rows);
    most = std::max(most, rows.last - rows.first + 1);
  }
  return static_cast<std::size_t>(most);
}

/// Repeats a lane's appends up to the counter `end`, with the entries that the GPU has stored. The
/// entries at one address are the same word, the last one.
void replay(const jit::ListRows& rows, std::size_t lane, std::uint64_t end,
            const std::uint64_t* entries, std::size_t threads) {
  constexpr unsigned unused = 64 - jit::ListRows::word_bits;
  std::uint64_t& counter = rows.counters[lane];
  for (bool is_last = false; counter != end && !is_last;) {
    const auto next =
        static_cast<std::int64_t>((counter + static_cast<std::uint64_t>(rows.stride)) << unused) >>
        unused;
    is_last = next >= rows.last;
    const std::int64_t row = std::min(next, rows.last) - rows.first;
    rows.append(lane, row < 0 ? 0 : entries[static_cast<std::size_t>(row) * threads]);
  }
  counter = end;
}

}  // namespace

bool GpuBatch::load(const GpuSlot& slot, const CompiledKernels& code, const std::byte* items,
                    const std::vector<std::size_t>& begins,
                    const std::vector<std::size_t>& instances, const std::byte* uniforms,
                    std::size_t uniform_bytes) {
  {
    const std::scoped_lock lock(mutex_);
    if (code_ == nullptr) {
      code_ = &code;
      uniforms_.assign(uniforms, uniforms + uniform_bytes);
      kernels_.resize(code.kernels.size());
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        const ItemLayout& layout = code.kernels[k].code.layout;
        kernels_[k].instances = instances[k];
        kernels_[k].items.resize(vectors_ * instances[k] * layout.bytes());
        kernels_[k].results.resize(vectors_ * instances[k] * layout.outputs * layout.vector_bytes);
        if (layout.lists != 0)
          kernels_[k].lists =
              std::make_unique<GpuLists>(layout.lists, rows_of(layout, items + begins[k]),
                                         vectors_ * instances[k] * code.target.lanes());
      }
    }
  }
  if (code_ != &code || !std::equal(uniforms_.begin(), uniforms_.end(), uniforms)) return false;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const ItemLayout& layout = code.kernels[k].code.layout;
    const std::size_t first = slot.first * instances[k], count = slot.count * instances[k];
    std::memcpy(kernels_[k].items.data() + first * layout.bytes(), items + begins[k],
                count * layout.bytes());
    GpuLists* const lists = kernels_[k].lists.get();
    each_list(
        layout, code.target.lanes(), items + begins[k], first, count,
        [&](std::uint32_t list, std::size_t thread, std::size_t lane, const jit::ListRows& rows) {
          lists->counters[list * lists->threads + thread] = rows.counters[lane];
        });
  }
  return true;
}

void GpuBatch::run() {
  if (code_ == nullptr) return;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    KernelItems& kernel = kernels_[k];
    code_->kernels[k].gpu->run(kernel.items.data(), vectors_ * kernel.instances, sources_.buffers(),
                               first_group_, uniforms_.data(), uniforms_.size(), iterations_,
                               shared_, kernel.results.data(), kernel.lists.get());
  }
}

void GpuBatch::store(const GpuSlot& slot, std::byte* items, const std::vector<std::size_t>& begins,
                     const std::vector<std::size_t>& instances) const {
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const ItemLayout& layout = code_->kernels[k].code.layout;
    const std::size_t bytes = layout.outputs * layout.vector_bytes;
    const std::byte* from = kernels_[k].results.data() + slot.first * instances[k] * bytes;
    std::byte* to = items + begins[k] + layout.output(0);
    for (std::size_t n = 0; n < slot.count * instances[k]; ++n, from += bytes, to += layout.bytes())
      std::memcpy(to, from, bytes);
    const GpuLists* const lists = kernels_[k].lists.get();
    each_list(
        layout, code_->target.lanes(), items + begins[k], slot.first * instances[k],
        slot.count * instances[k],
        [&](std::uint32_t list, std::size_t thread, std::size_t lane, const jit::ListRows& rows) {
          const std::size_t own = list * lists->threads;
          replay(rows, lane, lists->counters[own + thread],
                 lists->entries.data() + own * lists->rows + thread, lists->threads);
        });
  }
}

}  // namespace gdr::native
