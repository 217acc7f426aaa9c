// Direct products: the loops of Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", ACM TOMS 34, 2008, around the functions of direct_loops.hpp.
//
//   jc  blocks of nc columns of B and C
//   pc  blocks of kc inner indices: packs B
//   ic  blocks of mc rows of A and C, which threads share: packs A
//   jr, ir, micro-kernel: DirectFunctions::macro_kernel
//
// The order of a sum depends on kc alone, not on the threads.
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
#include "libgdr/dense/host/functions.hpp"

namespace gdr::dense {
namespace {

struct DirectPortable {
  static constexpr std::size_t bytes = 16, parts = 2, columns = 4;
};

/// Largest kc: a strip of B, kc x nr, takes at most half of the first-level cache. Sums of floats
/// are shorter, for their rounding errors.
template <typename Number>
constexpr std::size_t max_kc = std::is_same_v<Number, double> ? 256 : 192;
/// Limit of mc: a packed block of A, mc x kc, fits the second-level cache, bytes.
constexpr std::size_t a_bytes = std::size_t{400} << 10;
/// Largest nc: a packed block of B, kc x nc, stays in the last-level cache.
constexpr std::size_t max_nc = 2048;
/// Limit of the blocks of B that are packed at once, which stay in the last-level cache, bytes.
constexpr std::size_t b_bytes = std::size_t{4} << 20;
/// Multiplications from which a further thread is used.
constexpr double direct_threads_from = 3e5;

template <typename Number>
const DirectFunctions<Number>& direct_functions(Isa isa) noexcept {
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

/// Sizes of the blocks of a product.
struct Blocking {
  std::size_t kc = 0, mc = 0, nc = 0;
  std::size_t row_blocks = 0;  ///< number of blocks of mc rows
  std::size_t b_blocks = 0;    ///< number of blocks of B that are packed at once

  template <typename Number>
  Blocking(const DirectProduct<Number>& p, const DirectFunctions<Number>& functions,
           unsigned threads) {
    const std::size_t blocks = (p.k + max_kc<Number> - 1) / max_kc<Number>;
    kc = (p.k + blocks - 1) / blocks;
    nc = rounded_up(std::min(p.n, max_nc), functions.nr);
    b_blocks = std::clamp(b_bytes / sizeof(Number) / (kc * nc), std::size_t{1}, blocks);
    const std::size_t panels =
        std::max(a_bytes / sizeof(Number) / kc / functions.mr, std::size_t{1});
    // As many blocks for each thread; few rows are one block.
    row_blocks =
        p.m < 2 * functions.mr * threads
            ? 1
            : rounded_up((p.m + panels * functions.mr - 1) / (panels * functions.mr), threads);
    // The rows of a triangle differ in length.
    if (p.part != DirectPart::All && threads > 1 && row_blocks > 1)
      row_blocks = std::max(row_blocks, std::size_t{4} * threads);
    mc = rounded_up((p.m + row_blocks - 1) / row_blocks, functions.lanes);
    row_blocks = (p.m + mc - 1) / mc;
  }
};

/// The outer three of the loops, for one product.
template <typename Number>
class OuterLoops {
 public:
  /// `b`: memory for the packed blocks of B.
  OuterLoops(const DirectFunctions<Number>& functions, const DirectProduct<Number>& p,
             const Blocking& blocking, RowBuffers<Number>& buffers, Number* b, unsigned threads)
      : functions_(functions),
        p_(p),
        blocking_(blocking),
        buffers_(buffers),
        b_(b),
        threads_(threads) {
    blocks_.reserve(blocking.b_blocks);  // nothing is allocated after C is written
  }

  /// Loop jc: blocks of nc columns.
  void loop_jc() {
    for (column_ = 0; column_ < p_.n; column_ += blocking_.nc) loop_pc();
  }

 private:
  /// Loop pc: blocks of kc inner indices. Several blocks of B are packed at once, so that threads
  /// wait for each other once for all of them; loop ic is outside of these.
  void loop_pc() {
    const std::size_t columns = std::min(blocking_.nc, p_.n - column_);
    strips_ = (columns + functions_.nr - 1) / functions_.nr;
    const std::size_t at_once = blocking_.b_blocks * blocking_.kc;
    for (std::size_t first = 0; first < p_.k; first += at_once) {
      blocks_.clear();
      for (std::size_t k = first; k < std::min(first + at_once, p_.k); k += blocking_.kc)
        blocks_.push_back(
            {k, std::min(blocking_.kc, p_.k - k), b_ + (k - first) * strips_ * functions_.nr});
      pack_and_multiply();
    }
  }

  /// Blocks of inner indices in all threads: first B is packed, then loop ic runs.
  void pack_and_multiply() {
    const std::size_t packs = std::min<std::size_t>(std::size_t{4} * threads_, strips_);
    // Where there are few blocks of rows, threads share their columns.
    const std::size_t parts =
        blocking_.row_blocks >= threads_ ? 1 : std::min<std::size_t>(threads_, strips_);
    const Phase phases[] = {
        {blocks_.size() * packs,
         [&](std::size_t i) { pack_b(blocks_[i / packs], columns_of(i % packs, packs)); }},
        {blocking_.row_blocks * parts,
         [&](std::size_t i) { loop_ic(i / parts, columns_of(i % parts, parts)); }}};
    run_phases(phases, threads_);
  }

  /// A block of inner indices, and its packed B.
  struct Block {
    std::size_t first, depth;
    Number* b;
  };
  /// Columns of the block of columns.
  struct Columns {
    std::size_t first, count;
  };
  /// One of `parts` parts of the block of columns, in whole strips.
  Columns columns_of(std::size_t part, std::size_t parts) const noexcept {
    const std::size_t first = strips_ * part / parts * functions_.nr;
    const std::size_t end = strips_ * (part + 1) / parts * functions_.nr;
    return {first, std::min(end, std::min(blocking_.nc, p_.n - column_)) - first};
  }

  void pack_b(const Block& k, const Columns& columns) const {
    functions_.pack_b(p_.b.data + k.first * p_.b.down + (column_ + columns.first) * p_.b.across,
                      p_.b.across, p_.b.down, columns.count, k.depth,
                      k.b + columns.first * k.depth);
  }

  /// An iteration of loop ic: a block of mc rows times some columns, for all blocks of inner
  /// indices that are packed, in order. A is packed in a buffer of the thread.
  void loop_ic(std::size_t number, const Columns& columns) {
    const HostFloatMode mode;
    const std::size_t row = number * blocking_.mc, rows = std::min(blocking_.mc, p_.m - row);
    const std::size_t column = column_ + columns.first;
    buffers_.with([&](Number* a) {
      for (const Block& k : blocks_) {
        functions_.pack_a(p_.a.data + row * p_.a.down + k.first * p_.a.across, p_.a.down,
                          p_.a.across, rows, k.depth, a);
        functions_.macro_kernel(
            {rows, columns.count, k.depth, a, k.b + columns.first * k.depth, p_.alpha,
             k.first == 0 ? p_.beta : Number{1}, p_.c + row + column * p_.across, p_.across,
             p_.part, static_cast<std::ptrdiff_t>(row) - static_cast<std::ptrdiff_t>(column)});
      }
    });
  }

  const DirectFunctions<Number>& functions_;
  const DirectProduct<Number>& p_;
  const Blocking& blocking_;
  RowBuffers<Number>& buffers_;
  Number* const b_;
  const unsigned threads_;
  std::size_t column_ = 0;     ///< first column of the block of columns
  std::size_t strips_ = 0;     ///< number of strips of the block of columns
  std::vector<Block> blocks_;  ///< blocks of inner indices whose B is packed
};

}  // namespace

const DirectSet& direct_portable() noexcept {
  static constexpr DirectSet set{DirectLoops<DirectPortable, double>::functions(),
                                 DirectLoops<DirectPortable, float>::functions(),
                                 FactorLoops<DirectPortable>::functions()};
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
  const DirectFunctions<Number>& functions = direct_functions<Number>(isa);
  const Blocking blocking(p, functions, threads);
  static thread_local Packed<Number> packed;
  Number* const b = at_least(packed, blocking.b_blocks * blocking.kc * blocking.nc);
  RowBuffers<Number> buffers(threads, rounded_up(blocking.mc, functions.mr) * blocking.kc);
  OuterLoops<Number>(functions, p, blocking, buffers, b, threads).loop_jc();
}

template void multiply_directly(const DirectProduct<double>&, unsigned, Isa);
template void multiply_directly(const DirectProduct<float>&, unsigned, Isa);

}  // namespace gdr::dense
