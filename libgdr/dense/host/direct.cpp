// Direct products: slabs of the inner dimension, of some of which B is packed at once for all
// threads, and A by each thread for its rows.
#include "libgdr/dense/host/direct.hpp"

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <utility>
#include <vector>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/line_allocator.hpp"
#include "emulator/host/parallel.hpp"
#include "libgdr/dense/host/direct_loops.hpp"
#include "libgdr/dense/host/factor_loops.hpp"
#include "libgdr/dense/host/kernels.hpp"

namespace gdr::dense {
namespace {

struct DirectPortable {
  static constexpr std::size_t bytes = 16, parts = 2, columns = 4;
};

/// Inner indices of a slab: a strip of B fits the first-level cache. Sums of floats are shorter,
/// for their rounding errors.
template <typename Number>
constexpr std::size_t max_depth = std::is_same_v<Number, double> ? 256 : 192;
/// Rows of A that are packed at once, so that they fit the second-level cache, in bytes.
constexpr std::size_t packed_bytes = std::size_t{400} << 10;
/// Columns of B that are packed at once.
constexpr std::size_t packed_columns = 2048;
/// Memory for B of the slabs that are packed at once, in bytes: it stays in the last-level cache.
constexpr std::size_t packed_slabs_bytes = std::size_t{4} << 20;
/// Multiplications from which a further thread is used.
constexpr double direct_threads_from = 3e5;

template <typename Number>
const DirectKernels<Number>& direct_kernels(Isa isa) noexcept {
  if constexpr (std::is_same_v<Number, double>)
    return direct_set(isa).doubles;
  else
    return direct_set(isa).floats;
}

template <typename Number>
using Packed = std::vector<Number, LineAllocator<Number>>;

template <typename Number>
Number* at_least(Packed<Number>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

std::size_t rounded_up(std::size_t n, std::size_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

/// Buffers for the packed rows of the threads of a product, allocated before C is written.
template <typename Number>
class RowBuffers {
 public:
  RowBuffers(std::size_t count, std::size_t size) : busy_(count), size_(size) {
    thread_local Packed<Number> kept;  // its memory is mapped already
    numbers_ = at_least(kept, count * size);
  }

  /// Calls work(buffer) with a buffer that no other thread has meanwhile; there is one for each.
  template <typename Function>
  void with(const Function& work) {
    std::size_t slot = 0;
    while (busy_[slot].test_and_set(std::memory_order_acquire)) slot = (slot + 1) % busy_.size();
    work(numbers_ + slot * size_);
    busy_[slot].clear(std::memory_order_release);
  }

 private:
  std::vector<std::atomic_flag> busy_;
  std::size_t size_;
  Number* numbers_;
};

/// The rows of a product in blocks of equal size.
struct RowBlocks {
  std::size_t size = 0, count = 0;

  /// Blocks of whole vectors for some threads that fit a second-level cache; few rows are one
  /// block.
  RowBlocks(std::size_t m, std::size_t most, std::size_t lanes, std::size_t panel, unsigned threads,
            bool equal) {
    std::size_t blocks = m < 2 * panel * threads ? 1 : rounded_up((m + most - 1) / most, threads);
    // The rows of a triangle differ in length.
    if (!equal && threads > 1 && blocks > 1) blocks = std::max(blocks, std::size_t{4} * threads);
    size = rounded_up((m + blocks - 1) / blocks, lanes);
    count = (m + size - 1) / size;
  }
};

/// Some slabs of inner indices and some columns of a product.
template <typename Number>
class DirectSlabs {
 public:
  /// `depth`: inner indices of a slab.
  DirectSlabs(const DirectKernels<Number>& kernels, const DirectProduct<Number>& p,
              std::size_t depth, const RowBlocks& rows, RowBuffers<Number>& buffers, Number* b)
      : kernels_(kernels), p_(p), depth_(depth), rows_(rows), buffers_(buffers), b_(b) {}

  /// Adds the products of inner indices first to end - 1, of which B is packed at once: threads
  /// wait for each other once, however many slabs there are.
  void run(std::size_t first, std::size_t end, std::size_t column, std::size_t columns,
           unsigned threads) {
    first_ = first;
    end_ = end;
    column_ = column;
    columns_ = columns;
    const std::size_t slabs = (end - first + depth_ - 1) / depth_, strips = strips_in(columns_);
    parts_ = rows_.count >= threads ? 1 : std::min<std::size_t>(threads, strips);
    const std::size_t packs = std::min<std::size_t>(std::size_t{4} * threads, strips);
    const Phase phases[] = {{slabs * packs,
                             [&](std::size_t i) {
                               const std::size_t part = i % packs;
                               pack(slab(i / packs), strips * part / packs,
                                    strips * (part + 1) / packs);
                             }},
                            {rows_.count * parts_, [&](std::size_t i) {
                               for (std::size_t k = 0; k < slabs; ++k) multiply(slab(k), i);
                             }}};
    run_phases(phases, threads);
  }

 private:
  struct Slab {
    std::size_t first, depth;
  };
  Slab slab(std::size_t number) const noexcept {
    const std::size_t first = first_ + number * depth_;
    return {first, std::min(depth_, end_ - first)};
  }
  /// The packed B of a slab, from a column on.
  Number* packed(const Slab& s, std::size_t from) const noexcept {
    return b_ + (s.first - first_) * rounded_up(columns_, kernels_.columns) + from * s.depth;
  }
  std::size_t strips_in(std::size_t columns) const noexcept {
    return (columns + kernels_.columns - 1) / kernels_.columns;
  }

  void pack(const Slab& s, std::size_t strip, std::size_t end) const {
    const std::size_t from = strip * kernels_.columns;
    const std::size_t to = std::min(end * kernels_.columns, columns_);
    kernels_.pack_b(p_.b.data + s.first * p_.b.down + (column_ + from) * p_.b.across, p_.b.across,
                    p_.b.down, to - from, s.depth, packed(s, from));
  }

  void multiply(const Slab& s, std::size_t task) {
    const HostFloatMode mode;
    const std::size_t row = task / parts_ * rows_.size, rows = std::min(rows_.size, p_.m - row);
    const std::size_t part = task % parts_, strips = strips_in(columns_);
    const std::size_t from = strips * part / parts_ * kernels_.columns;
    const std::size_t to = std::min(strips * (part + 1) / parts_ * kernels_.columns, columns_);
    buffers_.with([&](Number* a) {
      kernels_.pack_a(p_.a.data + row * p_.a.down + s.first * p_.a.across, p_.a.down, p_.a.across,
                      rows, s.depth, a);
      kernels_.multiply(
          {rows, to - from, s.depth, a, packed(s, from), p_.alpha,
           s.first == 0 ? p_.beta : Number{1}, p_.c + row + (column_ + from) * p_.across, p_.across,
           p_.part,
           static_cast<std::ptrdiff_t>(row) - static_cast<std::ptrdiff_t>(column_ + from)});
    });
  }

  const DirectKernels<Number>& kernels_;
  const DirectProduct<Number>& p_;
  const std::size_t depth_;
  const RowBlocks& rows_;
  RowBuffers<Number>& buffers_;
  Number* b_;
  std::size_t first_ = 0, end_ = 0, column_ = 0, columns_ = 0, parts_ = 1;
};

}  // namespace

const DirectSet& direct_portable() noexcept {
  static constexpr DirectSet set{DirectLoops<DirectPortable, double>::kernels(),
                                 DirectLoops<DirectPortable, float>::kernels(),
                                 FactorLoops<DirectPortable>::kernels()};
  return set;
}

const DirectSet& direct_set([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return direct_avx512();
  if (isa == Isa::Avx2) return direct_avx2();
#endif
  return direct_portable();
}

template <typename Number>
void multiply_directly(const DirectProduct<Number>& product, unsigned threads, Isa isa) {
  DirectProduct<Number> p = product;
  if (p.down != 1) {  // the transpose of C has contiguous columns
    std::swap(p.m, p.n);
    std::swap(p.a, p.b);
    std::swap(p.a.down, p.a.across);
    std::swap(p.b.down, p.b.across);
    std::swap(p.down, p.across);
    if (p.part != DirectPart::All)
      p.part = p.part == DirectPart::Lower ? DirectPart::Upper : DirectPart::Lower;
  }
  if (p.m == 0 || p.n == 0 || p.k == 0) return;
  const double work =
      static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  threads = static_cast<unsigned>(
      std::clamp(work / direct_threads_from, 1.0, std::max(1.0, static_cast<double>(threads))));
  constexpr std::size_t most = max_depth<Number>;
  const std::size_t slabs = (p.k + most - 1) / most, depth = (p.k + slabs - 1) / slabs;
  static thread_local Packed<Number> packed;
  const auto& kernels = direct_kernels<Number>(isa);
  const std::size_t columns = rounded_up(std::min(p.n, packed_columns), kernels.columns);
  const std::size_t together =
      std::clamp(packed_slabs_bytes / sizeof(Number) / (depth * columns), std::size_t{1}, slabs);
  Number* const b = at_least(packed, together * depth * columns);
  const std::size_t fitting =
      std::max(packed_bytes / sizeof(Number) / depth / kernels.rows, std::size_t{1}) * kernels.rows;
  const RowBlocks rows(p.m, fitting, kernels.lanes, kernels.rows, threads,
                       p.part == DirectPart::All);
  RowBuffers<Number> buffers(threads, rounded_up(rows.size, kernels.rows) * depth);
  DirectSlabs<Number> some(kernels, p, depth, rows, buffers, b);
  for (std::size_t column = 0; column < p.n; column += packed_columns)
    for (std::size_t first = 0; first < p.k; first += together * depth)
      some.run(first, std::min(first + together * depth, p.k), column,
               std::min(packed_columns, p.n - column), threads);
}

template void multiply_directly(const DirectProduct<double>&, unsigned, Isa);
template void multiply_directly(const DirectProduct<float>&, unsigned, Isa);

}  // namespace gdr::dense
