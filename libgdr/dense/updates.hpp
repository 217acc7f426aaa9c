// Updates C -= op(A) op(B) of factorisations: on the device if that is faster, else on the host.
#pragma once

#include <cstddef>

#include "gdr/linear.hpp"

namespace gdr::dense {

/// C -= op(A) op(B) on the host, with the same bits for any number of threads. C must not overlap
/// the factors.
void subtract_on_host(std::size_t m, std::size_t n, std::size_t k,
                      const MatrixView<const double>& a, const MatrixView<const double>& b,
                      const MatrixView<double>& c, unsigned threads);

/// Whether a product is computed on the device: from `flops` operations on
/// (LinearOptions::device_flops), if at least a sixteenth of its tiles is filled, below which a
/// board of 800 Gflops is not faster than its host.
bool device_pays(std::size_t m, std::size_t n, std::size_t k, std::size_t depth,
                 double flops) noexcept;

/// Updates on the device or the host.
class Updates {
 public:
  Updates(Device& device, MatrixPrecision precision, double device_flops)
      : product_(device, precision), device_flops_(device_flops) {
    threads_ = device.statistics().threads;
  }

  /// C -= op(A) op(B); whether on device or host depends on the size only.
  void subtract(std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
                const MatrixView<const double>& b, const MatrixView<double>& c) {
    if (on_device(m, n, k)) {
      product_.compute(m, n, k, -1, a, b, 1, c);
    } else {
      subtract_on_host(m, n, k, a, b, c, threads_);
    }
  }
  /// Updates in the background if on the device; `wait` must be called before any other function.
  void start(std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
             const MatrixView<const double>& b, const MatrixView<double>& c) {
    if (on_device(m, n, k)) {
      product_.start(m, n, k, -1, a, b, 1, c);
    } else {
      subtract_on_host(m, n, k, a, b, c, threads_);
    }
  }
  void wait() { product_.wait(); }

  MatrixProduct& product() noexcept { return product_; }
  const MatrixProduct& product() const noexcept { return product_; }
  unsigned threads() const noexcept { return threads_; }

 private:
  bool on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept {
    return device_pays(m, n, k, product_.depth(), device_flops_);
  }

  MatrixProduct product_;
  double device_flops_;
  unsigned threads_ = 1;
};

}  // namespace gdr::dense
