// Fused runs whose iterations are executed on a device (loop_device.hpp), many blocks at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/vector/doubles/loop_device.hpp"
#include "emulator/engine/vector/verified_sections.hpp"

namespace gdr {

/// The runs of one program. Used by several threads.
class DeviceRuns {
 public:
  /// `device`: null if there is none. `sections` outlives this. `group_shorts`: shorts of a group
  /// of j-items.
  DeviceRuns(std::shared_ptr<LoopDevice> device, const VerifiedSections& sections,
             std::size_t group_shorts);

  /// Null if there is none.
  LoopDevice* device() const noexcept { return device_.get(); }
  /// Whether runs may be executed on the device.
  bool is_usable() const;
  /// Null if the device cannot execute the program.
  std::unique_ptr<FusedBatch> start_batch(std::size_t runs) const;
  /// Counts matrix products.
  void count(std::uint64_t completed, std::uint64_t failed) const noexcept;
  /// Adds the device's work, and in front of the reason why iterations did not run in doubles why
  /// they ran on the host. `failure`: that of another device, if any.
  void add_stats(SectionStats& body, std::string failure) const;

 private:
  class Batch;
  /// The loop of fused runs, compiled on their first use.
  struct FirstUse {
    codegen::Translate translate;
    std::once_flag made;
    std::unique_ptr<DeviceLoop> loop;  ///< written under lock_
  };

  DeviceLoop* loop(bool heads) const;
  std::string reason(std::string failure) const;

  const std::shared_ptr<LoopDevice> device_;
  const VerifiedSections& sections_;
  const std::size_t group_shorts_;
  mutable std::mutex lock_;                          ///< protects texts
  mutable std::array<FirstUse, 2> compiled_;         ///< [heads]
  mutable std::string refusal_;                      ///< why the device cannot execute the program
  mutable std::atomic<bool> refused_{false};         ///< whether the device cannot
  mutable std::atomic<bool> tails_seen_{false};      ///< whether longs with tails were read
  mutable std::atomic<std::uint64_t> completed_{0};  ///< number of block runs
  mutable std::atomic<std::uint64_t> failed_{0};     ///< number of block runs repeated on the host
};

}  // namespace gdr
