// A product on the device or the host, the counts of both, and the settings that decide.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "emulator/assembler/printable.hpp"
#include "emulator/host/parse_number.hpp"
#include "libgdr/compat/blas/blas.hpp"

namespace gdr::blas {
namespace {

void refuse(const char* name, const std::string& value, const char* expected) {
  report(std::string(name) + "=" + value + " is invalid: " + expected);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Whether a variable has the value `other` instead of its default.
bool is_other(const char* name, const char* other, const char* usual, const char* expected) {
  const std::string text = variable(name);
  if (!text.empty() && text != other && text != usual) refuse(name, text, expected);
  return text == other;
}

void read_threshold(Settings& to) {
  const std::string text = variable("GDR_BLAS_THRESHOLD");
  if (text.empty()) return;
  const std::optional<double> value = parse_all<double>(text);
  if (!value || std::isnan(*value) || *value < 0)
    return refuse("GDR_BLAS_THRESHOLD", text,
                  "give a number of operations (2 m n k), as 0 or 1e9; the default is used");
  to.threshold = *value;
}

const Settings* read() {
  auto* const made = new Settings;  // never deleted: calls may come while the program exits
  read_threshold(*made);
  if (is_other("GDR_BLAS_PRECISION", "chip", "full", "full or chip; full is used"))
    made->precision = MatrixPrecision::Chip;
  made->statistics = is_other("GDR_BLAS_STATS", "1", "0", "1 or 0; 0 is used");
  made->host = variable("GDR_BLAS_HOST");
  return made;
}

struct Counts {
  std::atomic<std::uint64_t> device{0}, host{0}, empty{0}, clocks{0}, bytes_to{0}, bytes_from{0};
  std::atomic<double> flops{0}, seconds{0};
};
// Constant-initialised and trivially destroyed: usable at any time.
constinit Counts counts[std::size(routine_names)];

[[gnu::destructor]] void print_statistics() {
  if (!settings().statistics) return;
  for (std::size_t r = 0; r < std::size(counts); ++r) {
    const Counts& of = counts[r];
    if (of.device + of.host + of.empty == 0) continue;
    const auto whole = [](const std::atomic<std::uint64_t>& n) {
      return static_cast<unsigned long long>(n.load());
    };
    char line[320];
    std::snprintf(line, sizeof line,
                  "%s device=%llu host=%llu empty=%llu flops=%.0f clocks=%llu bytes_to_board=%llu "
                  "bytes_from_board=%llu predicted_seconds=%.6g",
                  routine_names[r], whole(of.device), whole(of.host), whole(of.empty),
                  of.flops.load(), whole(of.clocks), whole(of.bytes_to), whole(of.bytes_from),
                  of.seconds.load());
    report(line);
  }
}

/// Largest number of columns in a part of a product: that of MatrixProduct, and a bound of the copy
/// of C.
constexpr std::int64_t max_columns = 16384;

/// The product for `count` columns of C from `first` on.
template <typename Number>
Call<Number> columns(const Call<Number>& call, std::int64_t first, std::int64_t count) noexcept {
  Call<Number> part = call;
  part.n = count;
  if (first == 0) return part;  // the pointers may be invalid for an empty product
  part.b += first * (call.trans_b == 'N' ? call.ldb : 1);
  part.c += first * call.ldc;
  return part;
}

/// Returns false if the host computed a part.
template <typename Number>
bool multiply_by_parts(const Call<Number>& call) noexcept {
  bool all = true;
  std::int64_t first = 0;
  do {  // at least once: empty products also go to the device
    const auto part = columns(call, first, std::min(max_columns, call.n - first));
    if (!device_multiply(part)) {
      host_multiply(part);
      all = false;
    }
    first += max_columns;
  } while (first < call.n);
  return all;
}

}  // namespace

template <typename Number>
void multiply(const Call<Number>& call) noexcept {
  const double flops =
      2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  bool on_device = flops >= settings().threshold;
  if (on_device)
    on_device = multiply_by_parts(call);
  else
    host_multiply(call);
  Counts& to = counts[std::size_t(gemm_of<Number>)];
  const bool empty = flops == 0 || call.alpha == 0;  // C is scaled at most
  (empty ? to.empty : on_device ? to.device : to.host).fetch_add(1, std::memory_order_relaxed);
  if (!empty) to.flops.fetch_add(flops, std::memory_order_relaxed);
}

template void multiply(const Call<double>&) noexcept;
template void multiply(const Call<float>&) noexcept;

void count_work(Routine routine, const Statistics& before, const Statistics& after) noexcept {
  Counts& to = counts[std::size_t(routine)];
  to.clocks.fetch_add(after.chip_clocks - before.chip_clocks);
  to.bytes_to.fetch_add(after.bytes_to_board - before.bytes_to_board);
  to.bytes_from.fetch_add(after.bytes_from_board - before.bytes_from_board);
  to.seconds.fetch_add(after.predicted_seconds - before.predicted_seconds);
}

void reset_statistics() noexcept {
  for (Counts& of : counts) {
    for (auto* const number :
         {&of.device, &of.host, &of.empty, &of.clocks, &of.bytes_to, &of.bytes_from})
      *number = 0;
    of.flops = 0;
    of.seconds = 0;
  }
}

const Settings& settings() noexcept {
  static const Settings* const found = read();
  return *found;
}

void report(const std::string& line) noexcept {
  try {
    const std::string text = "gdrblas: " + printable(line) + "\n";
    // Ranks of a job share one terminal: lines must not be interleaved.
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
  } catch (...) {  // no memory for a message
  }
}

}  // namespace gdr::blas
