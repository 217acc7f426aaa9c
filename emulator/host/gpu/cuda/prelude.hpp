// The dialect of kernel texts in CUDA C++.
#pragma once

namespace gdr::gpu::cuda {

/// Definitions that precede a text in the dialect (emulator/host/gpu/README.md) and give its words
/// their meaning in CUDA C++, as NVRTC compiles it with `options`.
extern const char* const prelude;

}  // namespace gdr::gpu::cuda
