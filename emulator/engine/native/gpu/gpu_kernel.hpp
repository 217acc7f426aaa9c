// Native kernels on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/host/gpu/device.hpp"

namespace gdr::native {

/// What the iterations of a kernel read: lanes of sources, and the ranges of compared words, as
/// kernel_text reads them.
struct SourceBuffers {
  const gpu::Buffer& lanes;
  const gpu::Buffer& ranges;
};

/// The lists of some work items. A lane of an item is a thread.
struct GpuLists {
  GpuLists(std::size_t lists, std::size_t addresses, std::size_t lanes)
      : rows(addresses), threads(lanes), counters(lists * lanes) {}
  std::size_t rows;     ///< addresses of a list
  std::size_t threads;  ///< threads of all items
  std::vector<std::uint64_t>
      counters;  ///< counters [list][thread], before the iterations, then after them
  std::vector<std::uint64_t>
      entries;  ///< entries after the iterations: [list][address - first][thread]
};

/// A kernel that was compiled for a GPU. Used by several threads.
class GpuKernel {
 public:
  /// `compared`: source words whose ranges are known. Throws Unsupported for kernels that a GPU
  /// cannot execute.
  GpuKernel(Gpu& gpu, const CodeContext& context, std::span<const LeafKey> compared);
  /// As a KernelFunction, for `count` consecutive work items; `first_group`: the group of iteration
  /// 0. `uniforms`: invariant words and tables. `results` gets the outputs of the items, one behind
  /// the other. Many iterations take several launches, between which the calculation can be
  /// cancelled. `lists`: of the items; null for a kernel without. `shared`: several threads share
  /// the iterations of an item, if the kernel allows it (KernelCode::can_share_iterations); their
  /// sums are added up in an order that depends on the number of iterations only.
  void run(const std::byte* items, std::size_t count, SourceBuffers sources,
           std::uint64_t first_group, const std::byte* uniforms, std::size_t uniform_bytes,
           std::uint64_t iterations, bool shared, std::byte* results, GpuLists* lists) const;
  std::size_t text_bytes() const noexcept { return text_bytes_; }

 private:
  /// The buffers of a launch, and what they hold.
  struct Launch {
    std::vector<gpu::Argument> first, last;  ///< arguments before and after those of a LoopShare
    std::size_t threads = 0;
    std::uint64_t iterations = 0;
  };
  void run_iterations(const Launch& launch) const;
  void run_parts(const Launch& launch) const;
  void start(const gpu::Kernel& kernel, const Launch& launch,
             std::initializer_list<std::uint64_t> share, std::size_t threads) const;
  void read_lists(const gpu::Buffer& counters, const gpu::Buffer& entries, GpuLists& lists) const;

  Gpu& gpu_;
  ItemLayout layout_;
  std::uint32_t lanes_, lane_bytes_, group_words_;
  bool may_pause_;  ///< whether its iterations may be divided into launches
  /// Programs of threads that share iterations, compiled at their first use; empty: they cannot.
  std::string part_text_, join_text_;
  mutable std::once_flag parts_compiled_;
  mutable std::shared_ptr<const gpu::Kernel> part_, join_;
  std::size_t text_bytes_ = 0;
  std::shared_ptr<const gpu::Kernel> kernel_;
};

}  // namespace gdr::native
