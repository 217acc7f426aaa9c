// Matrix products by a library for an interface's devices: cuBLAS for CUDA, CLBlast for OpenCL.
//
// The libraries are opened at run time; nothing of them is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "gdr/error.hpp"

namespace gdr::gpu {

class Buffer;

/// Where matrices of equal shape lie in a buffer, in column-major order. All in numbers.
struct BlasMatrices {
  const Buffer* buffer = nullptr;
  std::size_t offset = 0;    ///< offset of the first number of the first matrix
  std::size_t leading = 0;   ///< distance of columns
  std::size_t distance = 0;  ///< distance of matrices
};

/// Products C = A B of `count` matrices of equal shapes.
struct BlasProduct {
  bool doubles = true;                           ///< else floats
  std::size_t rows = 0, columns = 0, depth = 0;  ///< `depth`: columns of A and rows of B
  std::size_t count = 1;
  BlasMatrices a, b, c;
};

enum class BlasFailure : std::uint8_t {
  Memory,   ///< no memory is left: a smaller calculation may succeed
  Refused,  ///< the library cannot compute the product on this device, which other work may use
  Lost,     ///< a launch failed: the device is in an unknown state
};

/// A call of a library that failed, with the remedy.
class BlasError final : public Error {
 public:
  BlasError(BlasFailure failure, const std::string& message)
      : Error(ErrorCategory::Device, message), failure_(failure) {}
  BlasFailure failure() const noexcept { return failure_; }

 private:
  BlasFailure failure_;
};

/// A library in use on one device, which must live longer. Several threads may use it.
class Blas {
 public:
  virtual ~Blas() = default;
  /// Name and version: "cuBLAS 12.9.1".
  virtual std::string name() const = 0;
  /// Computes the products, and waits for them. All operations round at least as precisely as the
  /// type of the numbers: TF32 and the like are never used for floats. Equal shapes give equal
  /// bits on devices of a kind. Throws BlasError.
  virtual void multiply(std::span<const BlasProduct> products) = 0;
};

/// The library for a device, or why there is none.
struct BlasLibrary {
  std::shared_ptr<Blas> blas;
  std::string reason;  ///< reason why there is none, and what to install
};

}  // namespace gdr::gpu
