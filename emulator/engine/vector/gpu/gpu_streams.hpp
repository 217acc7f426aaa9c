// Sources in a GPU's memory, as the exact engine's loops read them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/sources/copied_groups.hpp"

namespace gdr {

constexpr std::size_t gpu_word_bytes = sizeof(std::uint64_t);
/// Threads of a work-group.
constexpr std::size_t threads_of_group = 128;

/// The streams of some blocks, one after the other. Of a stream that is there only changed groups
/// are sent. Used by several threads.
class GpuStreams {
 public:
  /// What the program for sources made of the streams, for all groups.
  struct Made {
    std::shared_ptr<gpu::Buffer> words;
    std::uint64_t failure = 0;  ///< bits of DoublesFailure
  };

  /// `program`: LoopText::sources, which makes `kept` words of the `read` ones of a group.
  GpuStreams(Gpu& gpu, std::shared_ptr<const gpu::Kernel> program, std::size_t read,
             std::size_t kept)
      : gpu_(gpu), program_(std::move(program)), read_(read), kept_(kept) {}

  Made update(const std::vector<EncodedGroups>& streams);

 private:
  /// Transfers and launches that are queued, with what they use.
  struct Queued {
    std::shared_ptr<gpu::Buffer> failures;  ///< a word, the bits of all launches
    std::vector<std::shared_ptr<gpu::Buffer>> words;
  };
  bool may_send_parts(const std::vector<EncodedGroups>& streams) const;
  void send(const std::byte* groups, std::uint64_t first, std::uint64_t count, Queued& queued);

  Gpu& gpu_;
  const std::shared_ptr<const gpu::Kernel> program_;
  const std::size_t read_, kept_;
  std::mutex mutex_;  ///< protects what follows
  std::vector<CopiedGroups> copied_;
  Made made_;
};

}  // namespace gdr
