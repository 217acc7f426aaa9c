#include "libgdr/compat/dgemm/boards.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "emulator/assembler/printable.hpp"
#include "emulator/host/stopwatch.hpp"
#include "libgdr/compat/dgemm/checksum.hpp"

namespace gdr::compat {
namespace {

constexpr int errors = 1, products = 2;  // levels of messages
/// Remark on errors after the check of arguments.
constexpr const char* late = " (C may be partly written)";

[[noreturn]] void usage(const std::string& message) { throw Error(ErrorCategory::Usage, message); }

MatrixPrecision precision_of_environment() {
  const char* const value = std::getenv("GDR_DGEMM_PRECISION");
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty() || text == "chip") return MatrixPrecision::Chip;
  if (text == "full") return MatrixPrecision::Full;
  usage("GDR_DGEMM_PRECISION is \"" + std::string(text) + "\"; must be \"chip\" or \"full\"");
}

std::size_t size_of(const int* given, const char* name) {
  if (*given < 0) usage(std::string(name) + " is " + std::to_string(*given));
  return static_cast<std::size_t>(*given);
}

Transpose transpose_of(const int* not_transposed, const char* name) {
  if (*not_transposed != 0 && *not_transposed != 1)
    usage(std::string(name) + " is " + std::to_string(*not_transposed) +
          "; must be 1 (not transposed) or 0 (transposed)");
  return *not_transposed == 1 ? Transpose::No : Transpose::Yes;
}

Transpose flipped(Transpose t) { return t == Transpose::No ? Transpose::Yes : Transpose::No; }

/// Refuse null pointers to scalars; the product checks those to matrices.
void check_pointers(const Arguments& x) {
  const struct {
    const void* pointer;
    const char* name;
  } all[] = {{x.nota, "nota"},   {x.notb, "notb"}, {x.m, "m"},     {x.n, "n"},     {x.k, "k"},
             {x.alpha, "alpha"}, {x.beta, "beta"}, {x.lda, "lda"}, {x.ldb, "ldb"}, {x.ldc, "ldc"}};
  for (const auto& one : all)
    if (one.pointer == nullptr) usage(std::string(one.name) + " is a null pointer");
}

/// Check a matrix under the caller's name for it: the product may have A and B swapped.
void check_matrix(const MatrixView<const double>& x, std::size_t rows, std::size_t columns,
                  bool needed, char name) {
  if (x.transpose == Transpose::Yes) std::swap(rows, columns);
  const std::string matrix(1, name);
  if (x.stride < std::max<std::size_t>(rows, 1))
    usage("the leading dimension of " + matrix + " is " + std::to_string(x.stride) +
          ", but it has " + std::to_string(rows) + " rows");
  if (!needed || rows == 0 || columns == 0) return;
  if (x.data == nullptr) usage(matrix + " is a null pointer");
  if (columns > std::numeric_limits<std::size_t>::max() / sizeof(double) / x.stride)
    usage(matrix + " is larger than any memory");
}

}  // namespace

Boards& Boards::of_process() {
  // Never destroyed: programs may call it while they exit.
  static Boards& boards = *new Boards;
  return boards;
}

/// Convert exceptions to a message, not repeated if it is the same, and to false.
template <typename Action>
bool Boards::guarded(Action&& action) noexcept {
  const std::scoped_lock lock(mutex_);
  try {
    action();
    return true;
  } catch (const Error& e) {
    const bool early =
        e.category() == ErrorCategory::Usage || e.category() == ErrorCategory::Unsupported;
    report_error(e.what(), early ? "" : late);
  } catch (const std::exception& e) {
    report_error(e.what(), late);
  } catch (...) {
    report_error("an unknown exception", late);
  }
  return false;
}

void Boards::report_error(const char* what, const char* remark) noexcept {
  try {
    if (last_error_ == what) return;
    last_error_ = what;
    report(errors, printable(last_error_ + remark));
  } catch (...) {
    report(errors, {});  // out of memory
  }
}

void Boards::report(int level, const std::string& text) noexcept {
  if (level_ < level) return;
  if (process_ >= 0)
    std::fprintf(stderr, "gdrdgemm: process %d, board %d: %s\n", process_, board_, text.c_str());
  else
    std::fprintf(stderr, "gdrdgemm: board %d: %s\n", board_, text.c_str());
}

void Boards::ensure_open() {
  if (open_) return;
  const MatrixPrecision precision = precision_of_environment();
  DeviceOptions options;
  options.boards = boards_;
  open_.emplace(Device::open({}, options), precision);
  report(products, open_->device.description());
}

void Boards::open() noexcept {
  guarded([&] { ensure_open(); });
}

void Boards::close() noexcept {
  guarded([&] { open_.reset(); });
}

bool Boards::multiply(const Arguments& x) noexcept {
  return guarded([&] { compute(x); });
}

/// Whether skip-send is set and a factor is unchanged since the last product.
Reuse Boards::reuse_of(const MatrixView<const double>& x, std::size_t rows, std::size_t columns) {
  if (x.transpose == Transpose::Yes) std::swap(rows, columns);
  const std::uint64_t before =
      std::exchange(checksum_, Checksum(x.data, rows, columns, x.stride).value());
  return skip_ && checksum_ == before ? Reuse::B : Reuse::Nothing;
}

/// With force swap the columns of op(B) are in the memories, as in MatrixProduct; without it, those
/// of the transpose of op(A), and the transposed product is computed. (J. Makino's LU program lu2
/// sets force swap and skip-send, changes A between its products, and leaves B.)
void Boards::compute(const Arguments& x) {
  check_pointers(x);
  const std::size_t m = size_of(x.m, "m"), n = size_of(x.n, "n"), k = size_of(x.k, "k");
  MatrixView<const double> a{x.a, size_of(x.lda, "lda"), transpose_of(x.nota, "nota")};
  MatrixView<const double> b{x.b, size_of(x.ldb, "ldb"), transpose_of(x.notb, "notb")};
  MatrixView<double> c{x.c, size_of(x.ldc, "ldc")};
  const bool multiplies = *x.alpha != 0 && m > 0 && n > 0;
  check_matrix(a, m, k, multiplies, 'A');
  check_matrix(b, k, n, multiplies, 'B');
  check_matrix({c.data, c.stride}, m, n, true, 'C');
  ensure_open();
  const Stopwatch watch;
  const Reuse reuse = !multiplies ? Reuse::Nothing : swap_ ? reuse_of(b, k, n) : reuse_of(a, m, k);
  if (swap_) {
    open_->product.compute(m, n, k, *x.alpha, a, b, *x.beta, c, reuse);
  } else {
    a.transpose = flipped(a.transpose);
    b.transpose = flipped(b.transpose);
    c.transpose = Transpose::Yes;
    open_->product.compute(n, m, k, *x.alpha, b, a, *x.beta, c, reuse);
  }
  if (level_ >= products)
    report(products, std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                         " in " + std::to_string(watch.seconds()) + " s, " + (swap_ ? "B" : "A") +
                         " in the memories" + (reuse == Reuse::B ? " as before" : ""));
}

void Boards::set_board(int board) noexcept {
  guarded([&] {
    if (board < 0) usage("gdrsetboardid: there is no board " + std::to_string(board));
    if (board != board_) open_.reset();
    board_ = board;
  });
}

void Boards::set_boards(int boards) noexcept {
  guarded([&] {
    if (boards < 1) usage("gdrsetnboards: " + std::to_string(boards) + " boards; give at least 1");
    if (static_cast<unsigned>(boards) != boards_) open_.reset();
    boards_ = static_cast<unsigned>(boards);
  });
}

void Boards::set_swap(bool swap) noexcept {
  guarded([&] { swap_ = swap; });
}

void Boards::set_skip(bool skip) noexcept {
  guarded([&] { skip_ = skip; });
}

void Boards::set_level(int level) noexcept {
  guarded([&] { level_ = level; });
}

void Boards::set_process(int process) noexcept {
  guarded([&] { process_ = process; });
}

}  // namespace gdr::compat
