// Device or host.
#include "libgdr/compat/blas/gemm.hpp"

#include <algorithm>

#include "libgdr/compat/blas/device.hpp"
#include "libgdr/compat/blas/host.hpp"
#include "libgdr/compat/blas/settings.hpp"
#include "libgdr/compat/blas/statistics.hpp"

namespace gdr::blas {
namespace {

/// Columns at a time: as many as MatrixProduct takes, and a bound on what is kept of C meanwhile.
constexpr std::int64_t most_columns = 16384;

/// The same of `count` columns of C from `first` on.
template <typename Number>
Call<Number> columns(const Call<Number>& call, std::int64_t first, std::int64_t count) noexcept {
  Call<Number> part = call;
  part.n = count;
  if (first == 0) return part;  // nothing is added to pointers that may mean nothing
  part.b += first * (call.trans_b == 'N' ? call.ldb : 1);
  part.c += first * call.ldc;
  return part;
}

/// False: the host had to do some of it.
template <typename Number>
bool multiply_by_parts(const Call<Number>& call) noexcept {
  bool all = true;
  std::int64_t first = 0;
  do {  // at least once: empty products also go to the device
    const auto part = columns(call, first, std::min(most_columns, call.n - first));
    if (!device_multiply(part)) {
      host_multiply(part);
      all = false;
    }
    first += most_columns;
  } while (first < call.n);
  return all;
}

}  // namespace

template <typename Number>
void multiply(const Call<Number>& call) noexcept {
  const double work = flops(call);
  ComputedOn where = ComputedOn::Host;
  if (work >= settings().threshold)
    where = multiply_by_parts(call) ? ComputedOn::Device : ComputedOn::Host;
  else
    host_multiply(call);
  count(gemm_of<Number>, where, work);
}

template void multiply(const Call<double>&) noexcept;
template void multiply(const Call<float>&) noexcept;

}  // namespace gdr::blas
