// A cuBLAS for tests: the entry points that the CUDA back end calls. Products are computed by the
// host, in the memory of the fake driver, which checks contexts, streams and addresses. Sums are
// added in an order that depends on the number of columns, as a real library may choose another
// algorithm, and reduced modes reduce the precision.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/fake_cuda/settings.hpp"

namespace gdr::test::fake_cuda {

extern "C" {
// The fake driver's.
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes);
int cuMemFree_v2(std::uint64_t address);
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream);
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream);
}

namespace {

using Status = int;
constexpr Status success = 0, not_initialized = 1, no_memory = 3, invalid_value = 7,
                 execution_failed = 13;
constexpr int driver_out_of_memory = 2;
constexpr int default_math = 0, pedantic_math = 2;

struct Handle {
  std::uint64_t workspace = 0;
  void* stream = nullptr;
  int math_mode = default_math;
};

/// Numbers from the first one of the first matrix to the last one of the last.
std::size_t extent(int rows, int columns, int leading, long long distance, int count) {
  return static_cast<std::size_t>(count - 1) * static_cast<std::size_t>(distance) +
         static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(leading) +
         static_cast<std::size_t>(rows);
}

template <typename Number>
bool fetch(std::vector<Number>& numbers, const Number* from, std::size_t n, void* stream) {
  numbers.resize(n);
  return cuMemcpyDtoHAsync_v2(numbers.data(), reinterpret_cast<std::uint64_t>(from),
                              n * sizeof(Number), stream) == 0;
}

/// A factor in the precision of the mode: every mode but the pedantic one may be TF32 for floats,
/// which environment variables of a real cuBLAS can demand.
template <typename Number>
Number factor(Number x, int math_mode) {
  if constexpr (sizeof(Number) == sizeof(float))
    if (math_mode != pedantic_math)
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000U);
  return x;
}

template <typename Number>
Status gemm(const char* function, const Handle* handle, int transpose_a, int transpose_b, int m,
            int n, int k, const Number* alpha, const Number* a, int lda, long long stride_a,
            const Number* b, int ldb, long long stride_b, const Number* beta, Number* c, int ldc,
            long long stride_c, int count) {
  if (const Status status = injected(function); status != success) return status;
  if (handle == nullptr) return not_initialized;
  if (transpose_a != 0 || transpose_b != 0 || *alpha != 1 || *beta != 0 || m <= 0 || n <= 0 ||
      k <= 0 || count <= 0 || lda < m || ldb < k || ldc < m || stride_a < 0 || stride_b < 0 ||
      stride_c < 0)
    return invalid_value;
  std::vector<Number> x, y, z;
  if (!fetch(x, a, extent(m, k, lda, stride_a, count), handle->stream) ||
      !fetch(y, b, extent(k, n, ldb, stride_b, count), handle->stream) ||
      !fetch(z, c, extent(m, n, ldc, stride_c, count), handle->stream))
    return execution_failed;
  for (int matrix = 0; matrix < count; ++matrix) {
    const Number* const p = x.data() + matrix * stride_a;
    const Number* const q = y.data() + matrix * stride_b;
    Number* const r = z.data() + matrix * stride_c;
    for (std::ptrdiff_t j = 0; j < n; ++j)
      for (std::ptrdiff_t i = 0; i < m; ++i) {
        const int parts = 1 + n % 3;
        Number sum = 0;
        for (int part = 0; part < parts; ++part) {
          Number own = 0;
          for (std::ptrdiff_t l = part; l < k; l += parts)
            own = std::fma(factor(p[l * lda + i], handle->math_mode),
                           factor(q[j * ldb + l], handle->math_mode), own);
          sum += own;
        }
        r[j * ldc + i] = sum;
      }
  }
  const auto to = reinterpret_cast<std::uint64_t>(c);
  return cuMemcpyHtoDAsync_v2(to, z.data(), z.size() * sizeof(Number), handle->stream) == 0
             ? success
             : execution_failed;
}

}  // namespace

extern "C" {

Status cublasCreate_v2(Handle** handle) {
  if (const Status status = injected("cublasCreate_v2"); status != success) return status;
  auto* const made = new Handle;
  if (const int result = cuMemAlloc_v2(&made->workspace, 4096); result != success) {
    delete made;
    return result == driver_out_of_memory ? no_memory : not_initialized;
  }
  *handle = made;
  return success;
}
Status cublasDestroy_v2(Handle* handle) {
  cuMemFree_v2(handle->workspace);
  delete handle;
  return success;
}
Status cublasSetStream_v2(Handle* handle, void* stream) {
  handle->stream = stream;
  return success;
}
Status cublasSetMathMode(Handle* handle, int mode) {
  handle->math_mode = mode;
  return success;
}
Status cublasGetProperty(int which, int* value) {
  constexpr int version[] = {12, 4, 5};
  if (which < 0 || which > 2) return invalid_value;
  *value = version[which];
  return success;
}
Status cublasDgemmStridedBatched(Handle* handle, int transpose_a, int transpose_b, int m, int n,
                                 int k, const double* alpha, const double* a, int lda,
                                 long long stride_a, const double* b, int ldb, long long stride_b,
                                 const double* beta, double* c, int ldc, long long stride_c,
                                 int count) {
  return gemm("cublasDgemmStridedBatched", handle, transpose_a, transpose_b, m, n, k, alpha, a, lda,
              stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}
Status cublasSgemmStridedBatched(Handle* handle, int transpose_a, int transpose_b, int m, int n,
                                 int k, const float* alpha, const float* a, int lda,
                                 long long stride_a, const float* b, int ldb, long long stride_b,
                                 const float* beta, float* c, int ldc, long long stride_c,
                                 int count) {
  return gemm("cublasSgemmStridedBatched", handle, transpose_a, transpose_b, m, n, k, alpha, a, lda,
              stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

}  // extern "C"

}  // namespace gdr::test::fake_cuda
