// The boards of a process as the original interface sees them: settings that outlive what is open,
// one product at a time, and refusals instead of errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "gdr/gdr.hpp"

namespace gdr::compat {

/// A call of gdr_dgemm_, as it came.
struct Arguments {
  const int *nota, *notb, *m, *n, *k;
  const double *alpha, *beta;
  const int *lda, *ldb, *ldc;
  const double *a, *b;
  double* c;
};

class Boards {
 public:
  /// Of the process.
  static Boards& of_process();

  void open() noexcept;
  void close() noexcept;
  /// Whether the boards did the product; if not, a message said why.
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
  void need_open();
  void compute(const Arguments& x);
  Unchanged seen(const MatrixView<const double>& x, std::size_t rows, std::size_t columns);
  void refuse(const char* what, const char* remark) noexcept;
  void say(int least, const std::string& text) noexcept;

  std::mutex mutex_;  ///< guards everything below
  int board_ = 0, process_ = -1, level_ = 1;
  unsigned boards_ = 1;
  bool swap_ = false, skip_ = false;
  std::optional<Open> open_;
  std::uint64_t checksum_ = 0;  ///< of the factor that the last product had in the memories
  std::string said_;            ///< the last refusal
};

}  // namespace gdr::compat
