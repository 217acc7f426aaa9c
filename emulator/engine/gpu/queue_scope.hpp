// Buffers outlive the launches that use them.
#pragma once

#include "emulator/host/gpu/device.hpp"
#include "gdr/error.hpp"

namespace gdr {

/// Waits at its end for what this thread has queued, so that no buffer returns to the pool while a
/// launch uses it.
class QueueScope {
 public:
  explicit QueueScope(gpu::Device& device) : device_(device) {}
  QueueScope(const QueueScope&) = delete;
  ~QueueScope() {
    if (is_empty_) return;
    try {
      device_.finish();
    } catch (const Error&) {  // another error is on its way
    }
  }
  /// The last call has waited.
  void set_empty() { is_empty_ = true; }

 private:
  gpu::Device& device_;
  bool is_empty_ = false;
};

}  // namespace gdr
