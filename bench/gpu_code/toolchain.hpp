// Compilers that translate the text of GPU kernels on a host without a GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/gpu_code/listing.hpp"
#include "emulator/host/gpu/cuda/compiler.hpp"

namespace gdr::bench {

/// What a kernel takes on a card of compute capability 9.0 (sm_90).
struct MachineCode {
  unsigned registers = 0;      ///< registers of a thread
  unsigned spilled_bytes = 0;  ///< stored to and loaded from memory for want of registers
  std::vector<LoopCode> loops;
};

/// clang with libclc, which compiles OpenCL C for NVIDIA's and AMD's cards, and ptxas and nvdisasm
/// of CUDA's toolkit, or of PyPI's packages nvidia-cuda-nvcc and nvidia-cuda-nvdisasm. With
/// GDR_NVRTC_LIBRARY in the environment, NVRTC compiles the texts for NVIDIA's cards, as the CUDA
/// back end does.
class Toolchain {
 public:
  /// Searches for clang in GDR_CLANG or PATH, and for ptxas and nvdisasm in the folder
  /// GDR_CUDA_TOOLS, the folders bin of CUDA_HOME and /usr/local/cuda, or PATH.
  Toolchain();

  /// Why no text can be compiled; empty: it can be.
  const std::string& no_compiler() const noexcept { return no_compiler_; }
  /// Why there is no machine code for NVIDIA's cards; empty: there is.
  const std::string& no_machine_code() const noexcept { return no_machine_code_; }
  /// "clang-15, ptxas of CUDA 13.0"
  std::string description() const;

  /// Compiles a text for AMD's cards and, if possible, to NVIDIA's machine code. Throws Error
  /// (Program) with the messages of a compiler that refuses it.
  std::optional<MachineCode> compile(const std::string& text) const;

 private:
  void find_clang();
  void find_cuda();
  std::string clang_arguments(const std::string& target) const;

  std::string clang_, library_, ptxas_, nvdisasm_, no_compiler_, no_machine_code_;
  std::unique_ptr<gpu::cuda::Compiler> nvrtc_;
};

}  // namespace gdr::bench
