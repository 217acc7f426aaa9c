#include "libgdr/cli/environment.hpp"

namespace gdr::cli {

std::span<const EnvironmentVariable> environment_variables() noexcept {
  static constexpr EnvironmentVariable list[] = {
      {"GDR_DEVICE", "device of commands that name none"},
      {"GDR_ENGINE", "engine of emulated boards"},
      {"GDR_ISA", "instruction set of the host that engines use"},
      {"GDR_JIT", "0: the vector engine generates no machine code"},
      {"GDR_OPENCL_LIBRARY", "OpenCL loader of the engines gpu, if it is not libOpenCL.so.1"},
      {"GDR_OPENCL_PARTS", "number of parts into which OpenCL devices are divided"},
      {"GDR_CUDA_LIBRARY", "CUDA driver of the engines gpu, if it is not libcuda.so.1"},
      {"GDR_NVRTC_LIBRARY", "CUDA's compiler NVRTC, if it is not found by itself"},
      {"GDR_GPU_BACKEND", "interface to GPUs, opencl or cuda, if not all are to be used"},
      {"GDR_GPU_PAIRS", "least number of pairs for which GPU engines use the GPU"},
      {"GDR_GPU_FALLBACK", "cpu: the processor takes over work of a GPU that fails"},
      {"GDR_GPU_TEXT", "folder for the text of programs for GPUs"},
      {"GDR_CACHE_DIR", "folder of compiled kernels, or none"},
      {"GDR_SOCKET", "default socket of gdr serve"},
      {"GDR_MPI_LIBRARY", "library that carries the messages of devices mpi"},
      {"GDR_PSK", "key of board servers on other hosts, if a device name has no credentials"},
      {"GDR_NETWORK_LIBRARY", "library that connects to board servers on other hosts"},
      {"OMP_NUM_THREADS", "number of threads of a device, if it is not given"},
      {"NO_COLOR", "no colours and no progress on terminals"}};
  return list;
}

}  // namespace gdr::cli
