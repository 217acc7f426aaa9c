// C -= op(A) op(B), what all factorisations are made of: on the device where that pays, else here.
#pragma once

#include <cstddef>

#include "gdr/linear.hpp"

namespace gdr::dense {

/// C -= op(A) op(B) on the host, with the same bits for any number of threads. C must not overlap
/// the factors.
void subtract_on_host(std::size_t m, std::size_t n, std::size_t k,
                      const MatrixView<const double>& a, const MatrixView<const double>& b,
                      const MatrixView<double>& c, unsigned threads);

/// Whether the device does a product of `flops` operations or more (LinearOptions::device_flops).
/// It works on whole tiles, of all inner indices that a board takes: where less than a sixteenth of
/// one would be filled, a board of 800 Gflops is no faster than its host.
bool device_pays(std::size_t m, std::size_t n, std::size_t k, std::size_t depth,
                 double flops) noexcept;

class Updates {
 public:
  Updates(Device& device, MatrixPrecision precision, double device_flops)
      : product_(device, precision), device_flops_(device_flops) {
    threads_ = device.statistics().threads;
  }

  /// C -= op(A) op(B); the place of the work depends on its size only.
  void subtract(std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
                const MatrixView<const double>& b, const MatrixView<double>& c) {
    if (on_device(m, n, k)) {
      product_.compute(m, n, k, -1, a, b, 1, c);
    } else {
      subtract_on_host(m, n, k, a, b, c, threads_);
    }
  }
  /// The same in the background, if the device does it: `wait` before anything else here is called.
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
