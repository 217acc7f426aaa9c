// Sources in a GPU's memory, as the exact engine's loops read them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/gpu/gpu.hpp"

namespace gdr {

constexpr std::size_t gpu_word_bytes = sizeof(std::uint64_t);
/// Threads of a work-group.
constexpr std::size_t threads_of_group = 128;

/// The streams of some blocks, one after the other. A stream that follows the revision that is
/// there is sent in part. Used by several threads.
class ResidentSources {
 public:
  /// A stream and its number of groups.
  struct Part {
    SourceStream stream;
    std::uint64_t groups = 0;
  };
  /// What the program for sources made of the streams, for all groups.
  struct Made {
    std::shared_ptr<gpu::Buffer> words;
    std::uint64_t failure = 0;  ///< bits of DoublesFailure
  };

  /// `program`: PassText::sources, which makes `kept` words of the `read` ones of a group.
  ResidentSources(Gpu& gpu, std::shared_ptr<const gpu::Kernel> program, std::size_t read,
                  std::size_t kept)
      : gpu_(gpu), program_(std::move(program)), read_(read), kept_(kept) {}

  Made update(const std::vector<Part>& parts);

 private:
  /// A part that is there.
  struct Resident {
    const std::byte* groups = nullptr;
    std::uint64_t count = 0, revision = 0;
  };
  /// Transfers and launches that are queued, with what they use.
  struct Queued {
    std::shared_ptr<gpu::Buffer> failures;  ///< a word, the bits of all launches
    std::vector<std::shared_ptr<gpu::Buffer>> words;
  };
  bool same_places(const std::vector<Part>& parts) const;
  void send_changes(const Part& part, std::uint64_t first, std::uint64_t resident, Queued& queued);
  void send(const std::byte* groups, std::uint64_t first, std::uint64_t count, Queued& queued);

  Gpu& gpu_;
  const std::shared_ptr<const gpu::Kernel> program_;
  const std::size_t read_, kept_;
  std::mutex mutex_;  ///< protects what follows
  std::vector<Resident> resident_;
  Made made_;
};

}  // namespace gdr
