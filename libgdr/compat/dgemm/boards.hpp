// The boards of a process for the original interface: settings that survive closing, one product at
// a time, and return values and messages instead of exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "gdr/gdr.hpp"

namespace gdr::compat {

/// Arguments of gdr_dgemm_.
struct Arguments {
  const int *nota, *notb, *m, *n, *k;
  const double *alpha, *beta;
  const int *lda, *ldb, *ldc;
  const double *a, *b;
  double* c;
};

class Boards {
 public:
  /// The boards of this process.
  static Boards& of_process();

  void open() noexcept;
  void close() noexcept;
  /// Returns whether the boards computed the product; if not, a message gives the reason.
  bool multiply(const Arguments& x) noexcept;

  void set_board(int board) noexcept;
  void set_boards(int boards) noexcept;
  void set_swap(bool swap) noexcept;
  void set_skip(bool skip) noexcept;
  void set_level(int level) noexcept;
  void set_process(int process) noexcept;

 private:
  struct Open {
    Device device;
    MatrixProduct product;
    explicit Open(Device opened, MatrixPrecision precision)
        : device(std::move(opened)), product(device, precision) {}
  };

  template <typename Action>
  bool guarded(Action&& action) noexcept;
  void ensure_open();
  void compute(const Arguments& x);
  Reuse reuse_of(const MatrixView<const double>& x, std::size_t rows, std::size_t columns);
  void report_error(const char* what, const char* remark) noexcept;
  void report(int level, const std::string& text) noexcept;

  std::mutex mutex_;  ///< guards everything below
  int board_ = 0, process_ = -1, level_ = 1;
  unsigned boards_ = 1;
  bool swap_ = false, skip_ = false;
  std::optional<Open> open_;
  std::uint64_t checksum_ = 0;  ///< checksum of the factor in the memories after the last product
  std::string last_error_;      ///< last message, reported once
};

}  // namespace gdr::compat
