// libgdrdgemm: the functions of the original library. Settings survive closing, products run one at
// a time, and errors become return values and messages.
#pragma GCC visibility push(default)
#include "libgdr/compat/dgemm/gdrdgemm.h"
#pragma GCC visibility pop

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emulator/assembler/printable.hpp"
#include "emulator/host/hash.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/gdr.hpp"
#include "libgdr/device/usage_error.hpp"

namespace gdr::compat {
namespace {

constexpr int errors = 1, products = 2;  // levels of messages
/// Remark on errors after the check of arguments.
constexpr const char* late = " (C may be partly written)";

MatrixPrecision precision_of_environment() {
  const char* const value = std::getenv("GDR_DGEMM_PRECISION");
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty() || text == "chip") return MatrixPrecision::Chip;
  if (text == "full") return MatrixPrecision::Full;
  usage_error("GDR_DGEMM_PRECISION is \"" + std::string(text) + "\"; must be \"chip\" or \"full\"");
}

bool read_statistics_setting() {
  const char* const value = std::getenv("GDR_DGEMM_STATS");
  const std::string_view text = value == nullptr ? "" : value;
  if (!text.empty() && text != "0" && text != "1")
    std::fprintf(stderr, "gdrdgemm: GDR_DGEMM_STATS=%s is invalid: 1 or 0; 0 is used\n",
                 printable(text).c_str());
  return text == "1";
}

/// GDR_DGEMM_STATS: whether the counts are printed when the process ends.
bool wants_statistics() {
  static const bool wanted = read_statistics_setting();
  return wanted;
}

std::size_t size_of(const int* given, const char* name) {
  if (*given < 0) usage_error(std::string(name) + " is " + std::to_string(*given));
  return static_cast<std::size_t>(*given);
}

Transpose transpose_of(const int* not_transposed, const char* name) {
  if (*not_transposed != 0 && *not_transposed != 1)
    usage_error(std::string(name) + " is " + std::to_string(*not_transposed) +
                "; must be 1 (not transposed) or 0 (transposed)");
  return *not_transposed == 1 ? Transpose::No : Transpose::Yes;
}

Transpose flipped(Transpose t) { return t == Transpose::No ? Transpose::Yes : Transpose::No; }

/// Arguments of gdr_dgemm_.
struct Arguments {
  const int *nota, *notb, *m, *n, *k;
  const double *alpha, *beta;
  const int *lda, *ldb, *ldc;
  const double *a, *b;
  double* c;
};

/// Refuse null pointers to scalars; the product checks those to matrices.
void check_pointers(const Arguments& x) {
  const struct {
    const void* pointer;
    const char* name;
  } all[] = {{x.nota, "nota"},   {x.notb, "notb"}, {x.m, "m"},     {x.n, "n"},     {x.k, "k"},
             {x.alpha, "alpha"}, {x.beta, "beta"}, {x.lda, "lda"}, {x.ldb, "ldb"}, {x.ldc, "ldc"}};
  for (const auto& one : all)
    if (one.pointer == nullptr) usage_error(std::string(one.name) + " is a null pointer");
}

/// Check a matrix under the caller's name for it: the product may have A and B swapped.
void check_matrix(const MatrixView<const double>& x, std::size_t rows, std::size_t columns,
                  bool needed, char name) {
  if (x.transpose == Transpose::Yes) std::swap(rows, columns);
  const std::string matrix(1, name);
  if (x.stride < std::max<std::size_t>(rows, 1))
    usage_error("the leading dimension of " + matrix + " is " + std::to_string(x.stride) +
                ", but it has " + std::to_string(rows) + " rows");
  if (!needed || rows == 0 || columns == 0) return;
  if (x.data == nullptr) usage_error(matrix + " is a null pointer");
  if (columns > std::numeric_limits<std::size_t>::max() / sizeof(double) / x.stride)
    usage_error(matrix + " is larger than any memory");
}

/// 64-bit checksum of all elements (rows x columns as stored) and their order, at the speed of
/// memory. Hash::add_word is a bijection for each word, so that a change of one element is always
/// detected; other changes are missed with probability 2^-64.
class Checksum {
 public:
  Checksum(const double* data, std::size_t rows, std::size_t columns, std::size_t stride) noexcept {
    for (std::size_t c = 0; c < columns; ++c) {
      const double* const column = data + c * stride;
      std::size_t r = 0;
      for (; r + lanes.size() <= rows; r += lanes.size())  // independent chains
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
          lanes[lane].add_word(bits(column[r + lane]));
      for (; r < rows; ++r) lanes[0].add_word(bits(column[r]));
    }
  }

  std::uint64_t value() const noexcept {
    Hash all;
    for (const Hash& lane : lanes) all.add_word(lane.value());
    return all.value();
  }

 private:
  static std::uint64_t bits(double x) noexcept { return std::bit_cast<std::uint64_t>(x); }

  std::array<Hash, 4> lanes;
};

/// The boards of a process.
class Boards {
 public:
  /// Call a member function with the lock held. Exceptions are converted to a message, not repeated
  /// if it is the same, and to false.
  template <typename Member, typename... Args>
  bool call(Member member, const Args&... args) noexcept {
    const std::scoped_lock lock(mutex_);
    try {
      std::invoke(member, *this, args...);
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

  // To be called through call().
  void open();
  void close() { open_.reset(); }
  void multiply(const Arguments& x);
  void set_board(int board);
  void set_boards(int boards);
  void set_swap(bool swap) { swap_ = swap; }
  void set_skip(bool skip) { skip_ = skip; }
  void set_level(int level) { level_ = level; }
  void set_process(int process) { process_ = process; }

  /// Prints what this process has computed, if anything.
  void print_statistics() noexcept;

 private:
  struct Open {
    Device device;
    MatrixProduct product;
    explicit Open(Device opened, MatrixPrecision precision)
        : device(std::move(opened)), product(device, precision) {}
  };

  Reuse reuse_of(const MatrixView<const double>& x, std::size_t rows, std::size_t columns);
  void count(const Arguments& x, const Statistics& before);
  void report_error(const char* what, const char* remark) noexcept;
  void report(int level, const std::string& text) noexcept;

  std::mutex mutex_;  ///< guards everything below
  int board_ = 0, process_ = -1, level_ = 1;
  unsigned boards_ = 1;
  bool swap_ = false, skip_ = false;  ///< force swap, skip-send
  std::optional<Open> open_;
  std::uint64_t checksum_ = 0;  ///< checksum of the factor in the memories after the last product
  std::string last_error_;      ///< last message, reported once
  std::uint64_t products_ = 0, empty_ = 0;
  pid_t counted_process_ = 0;  ///< process of these counts; 0: none
  Statistics work_;            ///< sums of all products; the boards may be closed
};

void Boards::count(const Arguments& x, const Statistics& before) {
  if (const pid_t process = getpid(); process != counted_process_) {  // a child of fork counts anew
    counted_process_ = process;
    products_ = empty_ = 0;
    work_ = {};
  }
  const double flops = 2.0 * *x.m * *x.n * *x.k;
  const bool empty = flops == 0 || *x.alpha == 0;  // C is scaled at most
  ++(empty ? empty_ : products_);
  if (!empty) work_.flops += flops;
  const Statistics after = open_->device.statistics();
  work_.chip_clocks += after.chip_clocks - before.chip_clocks;
  work_.bytes_to_board += after.bytes_to_board - before.bytes_to_board;
  work_.bytes_from_board += after.bytes_from_board - before.bytes_from_board;
  work_.predicted_seconds += after.predicted_seconds - before.predicted_seconds;
}

void Boards::print_statistics() noexcept {
  // Another thread may have held the lock when this process was forked.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || counted_process_ != getpid()) return;
  char line[320];
  const auto whole = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::snprintf(line, sizeof line,
                "products=%llu empty=%llu flops=%.0f clocks=%llu bytes_to_board=%llu "
                "bytes_from_board=%llu predicted_seconds=%.6g",
                whole(products_), whole(empty_), work_.flops, whole(work_.chip_clocks),
                whole(work_.bytes_to_board), whole(work_.bytes_from_board),
                work_.predicted_seconds);
  report(level_, line);
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

void Boards::open() {
  if (open_) return;
  const MatrixPrecision precision = precision_of_environment();
  DeviceOptions options;
  options.boards = boards_;
  open_.emplace(Device::open({}, options), precision);
  report(products, open_->device.description());
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
void Boards::multiply(const Arguments& x) {
  check_pointers(x);
  const std::size_t m = size_of(x.m, "m"), n = size_of(x.n, "n"), k = size_of(x.k, "k");
  MatrixView<const double> a{x.a, size_of(x.lda, "lda"), transpose_of(x.nota, "nota")};
  MatrixView<const double> b{x.b, size_of(x.ldb, "ldb"), transpose_of(x.notb, "notb")};
  MatrixView<double> c{x.c, size_of(x.ldc, "ldc")};
  const bool multiplies = *x.alpha != 0 && m > 0 && n > 0;
  check_matrix(a, m, k, multiplies, 'A');
  check_matrix(b, k, n, multiplies, 'B');
  check_matrix({c.data, c.stride}, m, n, true, 'C');
  open();
  const Stopwatch watch;
  const Statistics before = wants_statistics() ? open_->device.statistics() : Statistics();
  const Reuse reuse = !multiplies ? Reuse::Nothing : swap_ ? reuse_of(b, k, n) : reuse_of(a, m, k);
  if (swap_) {
    open_->product.compute(m, n, k, *x.alpha, a, b, *x.beta, c, reuse);
  } else {
    a.transpose = flipped(a.transpose);
    b.transpose = flipped(b.transpose);
    c.transpose = Transpose::Yes;
    open_->product.compute(n, m, k, *x.alpha, b, a, *x.beta, c, reuse);
  }
  if (wants_statistics()) try {
      count(x, before);
    } catch (const std::bad_alloc&) {
      // C is complete: counts that lack it are better than an error.
    }
  if (level_ >= products)
    report(products, std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                         " in " + std::to_string(watch.seconds()) + " s, " + (swap_ ? "B" : "A") +
                         " in the memories" + (reuse == Reuse::B ? " as before" : ""));
}

void Boards::set_board(int board) {
  if (board < 0) usage_error("gdrsetboardid: there is no board " + std::to_string(board));
  if (board != board_) open_.reset();
  board_ = board;
}

void Boards::set_boards(int boards) {
  if (boards < 1)
    usage_error("gdrsetnboards: " + std::to_string(boards) + " boards; give at least 1");
  if (static_cast<unsigned>(boards) != boards_) open_.reset();
  boards_ = static_cast<unsigned>(boards);
}

}  // namespace
}  // namespace gdr::compat

using gdr::compat::Boards;

namespace {

/// The boards of this process; never destroyed: programs may call it while they exit.
Boards& boards() {
  static Boards& one = *new Boards;
  return one;
}

[[gnu::destructor]] void print_statistics() {
  if (gdr::compat::wants_statistics()) boards().print_statistics();
}

}  // namespace

void gdr_dgemm_(const int* nota, const int* notb, const int* m, const int* n, const int* k,
                const double* alpha, const double* beta, const int* lda, const int* ldb,
                const int* ldc, const double* a, const double* b, double* c, int* done) {
  if (done != nullptr) *done = 0;
  const gdr::compat::Arguments arguments{nota, notb, m, n, k, alpha, beta, lda, ldb, ldc, a, b, c};
  const bool did = boards().call(&Boards::multiply, arguments);
  if (done != nullptr && did) *done = 1;
}

void gdr_init() { boards().call(&Boards::open); }
void gdr_free() { boards().call(&Boards::close); }
void gdrsetboardid(int board) { boards().call(&Boards::set_board, board); }
void gdrsetnboards(int number) { boards().call(&Boards::set_boards, number); }
void gdrsetforceswapab() { boards().call(&Boards::set_swap, true); }
void gdrresetforceswapab() { boards().call(&Boards::set_swap, false); }
void gdrsetskipsendjmat() { boards().call(&Boards::set_skip, true); }
void gdrresetskipsendjmat() { boards().call(&Boards::set_skip, false); }
void set_matmul_msg_level(int level) { boards().call(&Boards::set_level, level); }
void gdrdgemm_set_procname(int process) { boards().call(&Boards::set_process, process); }
void gdrdgemm_set_stress_factor(int) {}

void gdr_init_() { gdr_init(); }
void gdr_free_() { gdr_free(); }
void gdrsetboardid_(const int* board) { gdrsetboardid(*board); }
void gdrsetnboards_(const int* number) { gdrsetnboards(*number); }
void gdrsetforceswapab_() { gdrsetforceswapab(); }
void gdrresetforceswapab_() { gdrresetforceswapab(); }
void gdrsetskipsendjmat_() { gdrsetskipsendjmat(); }
void gdrresetskipsendjmat_() { gdrresetskipsendjmat(); }
void set_matmul_msg_level_(const int* level) { set_matmul_msg_level(*level); }
void gdrdgemm_set_procname_(const int* process) { gdrdgemm_set_procname(*process); }
void gdrdgemm_set_stress_factor_(const int* factor) { gdrdgemm_set_stress_factor(*factor); }
