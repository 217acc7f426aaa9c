// What the host does of a factorisation itself, for each of its instruction sets: products and the
// loops over columns.
//
// Every element is computed by the same operations in the same order on every host: a product's sum
// over `product_depth` inner indices one after the other, each product rounded before it is added
// (nothing is fused), then taken off C. So vectors of any length give the same bits.
//
// Plain data without inline functions: the kernels are compiled once for each instruction set, and
// nothing that they share with the rest of the library may be compiled twice.
#pragma once

#include <cstddef>

#include "emulator/engine/engine.hpp"

namespace gdr::dense {

/// Inner indices whose products are added up before they are taken off C.
constexpr std::size_t product_depth = 192;

/// Element (i, j) of a factor as op() has it: at `data[i * down + j * across]`.
struct HostFactor {
  const double* data;
  std::size_t down, across;
};

/// C -= A B, of m rows, n columns and any inner dimension k; C by columns, `stride` apart.
struct HostProduct {
  std::size_t m, n, k;
  HostFactor a, b;
  double* c;
  std::size_t stride;
  double* scratch;  ///< as many doubles as `scratch` of the kernels says
};

struct HostKernels {
  Isa isa;
  /// Doubles for a product of up to m rows and n columns.
  std::size_t (*scratch)(std::size_t m, std::size_t n);
  void (*subtract_product)(const HostProduct& product);
  /// y -= factor x, elementwise.
  void (*subtract_scaled)(double* y, const double* x, double factor, std::size_t n);
  /// y /= divisor, elementwise.
  void (*divide)(double* y, double divisor, std::size_t n);
};

/// Those of the best instruction set of this host, or of the one that GDR_ISA names.
const HostKernels& host_kernels() noexcept;
/// Those of an instruction set; null where there are none.
const HostKernels* host_kernels_of(Isa isa) noexcept;

const HostKernels& host_kernels_portable() noexcept;
const HostKernels& host_kernels_avx2() noexcept;
const HostKernels& host_kernels_avx512() noexcept;

}  // namespace gdr::dense
