// NVRTC, the compiler of CUDA C++, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace gdr::gpu::cuda {

/// Code for a device.
struct Image {
  std::string bytes;    ///< ends with a zero
  bool is_ptx = false;  ///< assembly, which the driver translates; else machine code (CUBIN)
};

/// An NVRTC library.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// "NVRTC 12.9"
  virtual std::string name() const = 0;
  /// Whether it makes machine code for a device of this compute capability (90: sm_90).
  virtual bool makes_binary(int capability) const = 0;
  /// The capability of the PTX for such a device; 0: the library is too new for the device.
  virtual int ptx_capability(int capability) const = 0;
  /// Compiles a text in the dialect (../README.md). `as_ptx`: PTX even where it can make machine
  /// code. Throws Error (Program) with the compiler's messages.
  virtual Image compile(const std::string& text, int capability, bool as_ptx) const = 0;
};

/// Opens a library; null if it cannot be opened, or is no NVRTC of CUDA 11.2 or later. It is never
/// unloaded.
std::unique_ptr<Compiler> open_compiler(const std::string& path);

/// The NVRTC library for a device: GDR_NVRTC_LIBRARY, or the first that supports the device among
/// those that are found, of the driver's version first. Throws Error (Unsupported) with the remedy
/// if there is none.
const Compiler& compiler_for(int capability, int driver_version);

/// Names of the libraries that are tried for a driver of this version (13000), best first: machine
/// code of an older NVRTC runs with a newer driver, but not always the reverse.
std::vector<std::string> library_names(int driver_version);

}  // namespace gdr::gpu::cuda
