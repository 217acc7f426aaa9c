// A device that executes the loops of fused runs, for many blocks at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr {

/// Blocks whose loops are executed together.
class LoopBatch {
 public:
  virtual ~LoopBatch() = default;
  /// Takes the rows of block `n` from its frame, before the first iteration, and words of its
  /// memory. Different blocks may be loaded by different threads.
  virtual void load(std::size_t n, const std::byte* frame, const std::uint64_t* memory,
                    const BlockRun& run) = 0;
  /// Executes all iterations of the blocks that were loaded. Throws Error (Device), unless the host
  /// may repeat what failed: then `failure` tells.
  virtual void run() = 0;
  /// Bits of DoublesFailure; 0: all steps were exact.
  virtual std::uint64_t failure(std::size_t n) const = 0;
  /// Writes the rows after the last iteration to the block's frame.
  virtual void store(std::size_t n, std::byte* frame) const = 0;
};

/// The loop of a section, compiled. Used by several threads.
class DeviceLoop {
 public:
  virtual ~DeviceLoop() = default;
  virtual std::unique_ptr<LoopBatch> batch(std::size_t blocks) = 0;
  /// Bytes of the programs' text, and the time that their compilation took.
  virtual std::size_t text_bytes() const = 0;
  virtual double compile_seconds() const = 0;
};

class LoopDevice {
 public:
  virtual ~LoopDevice() = default;
  /// Whether it is worth its launches for so many pairs of a target and a source.
  virtual bool is_faster(double pairs) = 0;
  /// Records the time of such work, here or on the host.
  virtual void record(double pairs, bool here, double seconds) = 0;
  /// False if the device has failed and the host does all work; throws Error (Device) with the
  /// reason if it may not.
  virtual bool is_usable() const { return true; }
  /// The last failure, and who took over; empty: none.
  virtual std::string failure() const { return {}; }
  /// Compiles `section.iteration`, a fused run's. `traced` is the section with the tracing kernels
  /// for a GPU. `group_shorts`: of j-items, as in BlockRun::stream. Null if the device cannot
  /// execute it, with the reason in `why`.
  virtual std::unique_ptr<DeviceLoop> compile(const DoublesSection& section,
                                              const DoublesSection& traced,
                                              std::size_t group_shorts, std::string& why) = 0;
};

}  // namespace gdr
