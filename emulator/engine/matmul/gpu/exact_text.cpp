// Exact products as OpenCL C: the machine's sums as pairs of doubles (cpu/exact.hpp has the
// algorithm).
#include <fmt/format.h>

#include "emulator/engine/matmul/gpu/product_text.hpp"

namespace gdr {
namespace {

/// An interval is the least exponent times 65536 plus the largest one, biased, so that one integer
/// sum adds both. Zeros have a large least exponent and the largest exponent 0; infinities and NaN
/// have a largest exponent beyond all others.
constexpr const char* exponent_intervals_source = R"(
__kernel void run(__global const ulong* restrict numbers, __global uint* restrict intervals,
                  ulong columns, ulong record, ulong count) {
  const ulong n = get_global_id(0);
  if (n >= count) return;
  const ulong groups = (columns + 3) / 4, k = n % record, c = n / record % groups * 4;
  const ulong first = n / record / groups * columns;
  uint least = 4095u, most = 0u;
#pragma unroll
  for (uint i = 0; i < 4u; ++i) {
    const ulong at = min(c + i, columns - 1);
    const uint e = (uint)(numbers[(first + at) * record + k] >> 52) & 2047u;
    least = min(least, e == 0u ? 4095u : e);
    most = max(most, e == 2047u ? 8191u : e);
  }
  intervals[n] = least << 16 | most;
}
)";

/// exact.hpp has the algorithm. Here each sum of a block has a grid of its own, which depends on
/// the work item's 16 numbers, and smallest exponents limit those of sums everywhere.
constexpr const char* exact_functions = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define rounder 0x1.8p-8
#define grid_place(largest) ((largest) + log_depth - 51)
#define exponent_bits 0x7ff0000000000000UL
/// What a work item does with its numbers: the exponents of its sums are known, all of them are
/// computed, two-sums replace the grid, or the host takes over.
#define done 0u
#define by_exponents 1u
#define by_pairs 2u
#define by_host 3u
double power(int e) { return as_double((ulong)(e + 1023) << 52); }
uint upper_of_power(int e) { return (uint)(e + 1023) << 20; }
double exponent_of(uint upper) { return as_double((ulong)upper << 32); }
uint upper_exponent(ulong x) { return (uint)(x >> 32) & 0x7ff00000u; }
double truncated(ulong x) {
  return as_double((x & exponent_bits) != 0UL ? x & ~7UL : x & 0x8000000000000000UL);
}
/// The exponent of x + rest, where x is that sum rounded to nearest.
uint exponent_with(double x, double rest) {
  const ulong bits = as_ulong(x);
  return upper_exponent(bits - ((bits ^ as_ulong(rest)) >> 63));
}
uint exponent_of_sum(double a, double b) {
  const double s = a + b;
  return exponent_with(s, b - (s - a));
}
double rounded(double l, double e) { return fma(-e, rounder, fma(e, rounder, l)); }
double error_of_sum(double a, double b, double s) {
  const double part = s - a;
  return (a - (s - part)) + (b - part);
}
/// x + rest rounded to odd, for a rest below x's last bit.
double to_odd(double x, double rest) {
  const ulong bits = as_ulong(x);
  if (x == 0.0) return rest;
  if (rest == 0.0 || (bits & 1UL) != 0UL) return x;
  return as_double((bits ^ as_ulong(rest)) >> 63 != 0UL ? bits - 1UL : bits + 1UL);
}
/// high + low + next_high + next_low, rounded to a long.
void add_long(double* high, double* low, double next_high, double next_low) {
  const double heads = *high + next_high, heads_low = error_of_sum(*high, next_high, heads);
  const double tails = *low + next_low, tails_low = error_of_sum(*low, next_low, tails);
  const double rest = tails + heads_low, rest_low = error_of_sum(tails, heads_low, rest);
  const double sum = heads + rest;
  double sum_low = error_of_sum(heads, rest, sum);
  const double lost = tails_low + rest_low;
  if (lost != 0.0) {
    const double end = sum_low + lost;
    sum_low = to_odd(end, error_of_sum(sum_low, lost, end));
  }
  const double e = exponent_of(exponent_of_sum(sum, sum_low));
  // Without a tail the head is the sum, also if it is -0.
  const bool whole = rest == 0.0 && sum_low == 0.0;
  *high = whole ? heads : sum;
  *low = whole ? 0.0 : rounded(sum_low, e);
}
)";

/// A tile of 64 rows and columns, four by four for a work item. Heads are on a grid of the work
/// item's own; exponents are those of numbers that were rounded to nearest, which are wrong, by
/// one, only where a fraction is zero. Where that happens or the exponents range too widely, `ways`
/// tells the next kernel what to do, with the exponents of the smallest and the largest product.
constexpr const char* exact_sums = R"(
#define tile 64
#define group 256
#define each 4
#define step 16
#define factors_pitch (tile + 8)
#define items_pitch (tile + 4)
__kernel __attribute__((reqd_work_group_size(group, 1, 1)))
void run(__global const ulong* restrict factors, __global const ulong* restrict items,
         __global const uint* restrict factor_intervals, __global const uint* restrict item_intervals,
         __global const ulong* restrict pieces, __global double* restrict highs,
         __global double* restrict lows, __global uint* restrict ways, ulong panels,
         ulong first_column, ulong columns, ulong all_columns, ulong record, ulong row_tiles,
         ulong column_tiles, ulong estimated) {
  __local double a[step * factors_pitch], b[step * items_pitch];
  const uint t = (uint)get_local_id(0);
  const uint down = t % 16 * each, across = t / 16 * each;
  const ulong number_of_group = get_group_id(0);
  const ulong first_panel = number_of_group % row_tiles * (tile / 8);
  const ulong column = first_column + number_of_group / row_tiles % column_tiles * tile;
  const ulong piece = number_of_group / row_tiles / column_tiles;
  const ulong panel_step = depth * 8UL;
  const ulong own_panel = min(first_panel + down / 8, panels - 1);
  const ulong own_columns = min(column + across, all_columns - 1) / 4;
  const ulong chip = pieces[4 * piece + 2], first = pieces[4 * piece + 3];
  __global const ulong* restrict from_factors = factors + pieces[4 * piece];
  __global const ulong* restrict from_items = items + chip * all_columns * record + first;
  __global const uint* restrict intervals_down =
      factor_intervals + (pieces[4 * piece] + own_panel * panel_step) / 4 + down / 4 % 2;
  __global const uint* restrict intervals_across =
      item_intervals + (chip * ((all_columns + 3) / 4) + own_columns) * record + first;
  uint least = 65535u, most = 0u;
  for (uint k = 0; k < depth; ++k) {
    const uint interval = intervals_down[2 * k] + intervals_across[k];
    least = min(least, interval >> 16);
    most = max(most, interval & 65535u);
  }
  // Beyond the exponents of a product of finite numbers: all products are zero.
  const bool zeros = least > 4094u;
  uint way = most > 2046u + 800u || (!zeros && least < 2046u - 800u) ? by_host : done;
  if (zeros || way == by_host) least = most = 2046u;
  const int smallest = (int)least - 2046, largest = (int)most - 2046;
  const int place = grid_place(largest);
  if (way == done && smallest < place + log_depth + 9) way = by_pairs;
  const double grid = 1.5 * power(place + 52);
  const uint lowest = upper_of_power(smallest);
  double h[each][each], l[each][each];
  uint fraction = ~0u;
#pragma unroll
  for (uint i = 0; i < each; ++i)
#pragma unroll
    for (uint j = 0; j < each; ++j) h[i][j] = l[i][j] = 0.0;
  for (uint begin = 0; begin < estimated; begin += step) {
    for (uint n = t; n < step * tile; n += group) {
      const ulong panel = min(first_panel + n / (step * 8), panels - 1);
      const uint k = n / 8 % step;
      if (begin + k < depth)
        a[k * factors_pitch + n / (step * 8) * 8 + n % 8] =
            truncated(from_factors[panel * panel_step + (begin + k) * 8 + n % 8]);
    }
    for (uint n = t; n < step * tile; n += group) {
      const ulong c = min(column + n / step, all_columns - 1);
      const uint k = n % step;
      if (begin + k < depth)
        b[k * items_pitch + n / step] = truncated(from_items[c * record + begin + k]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (way == done)
#pragma unroll 1
      for (uint k = 0; k < step && begin + k < depth; ++k) {
        double x[each], y[each];
#pragma unroll
        for (uint i = 0; i < each; ++i) {
          x[i] = a[k * factors_pitch + down + i];
          y[i] = b[k * items_pitch + across + i];
        }
#pragma unroll
        for (uint i = 0; i < each; ++i)
#pragma unroll
          for (uint j = 0; j < each; ++j) {
            const ulong p = as_ulong(x[i] * y[j]);
            const double head = fma(x[i], y[j], grid) - grid;
            double e = as_double(p & exponent_bits);
            double tail = fma(e, rounder, -head);
            tail = fma(x[i], y[j], tail);
            tail = fma(-e, rounder, tail);
            h[i][j] += head;
            l[i][j] += tail;
            const ulong s = as_ulong(h[i][j] + l[i][j]);
            l[i][j] = rounded(l[i][j], exponent_of(max(upper_exponent(s), lowest)));
            fraction = min(fraction, min((uint)p | ((uint)(p >> 32) & 0xfffffu),
                                         (uint)s | ((uint)(s >> 32) & 0xfffffu)));
          }
      }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (way == done && (fraction == 0u || estimated == 0UL)) way = by_exponents;
  const ulong rows = panels * 8;
#pragma unroll
  for (uint j = 0; j < each; ++j) {
    const ulong c = column - first_column + across + j;
#pragma unroll
    for (uint i = 0; i < each; ++i) {
      const ulong r = first_panel * 8 + down + i;
      if (way != done || c >= columns || r >= rows) continue;
      highs[(piece * columns + c) * rows + r] = h[i][j];
      lows[(piece * columns + c) * rows + r] = l[i][j];
    }
  }
  const ulong own = first_panel * 2 + down / each, own_column = (column - first_column + across) / each;
  if (own < panels * 2 && own_column * each < columns)
    ways[(piece * ((columns + each - 1) / each) + own_column) * panels * 2 + own] =
        way | (uint)(smallest + 2048) << 2 | (uint)(largest + 2048) << 16;
}
)";

/// What the kernel before left: a work item for each row, and four columns.
constexpr const char* exact_repeats = R"(
/// All bits of the exponents; products of -0 would give that of an infinity: `limit`.
void add_on_grid(double* high, double* low, double x, double y, double grid, uint lowest,
                 uint limit) {
  const double p = x * y, head = fma(x, y, grid) - grid;
  const double e = exponent_of(min(exponent_with(p, fma(x, y, -p)), limit));
  double tail = fma(e, rounder, -head);
  tail = fma(x, y, tail);
  tail = fma(-e, rounder, tail);
  *high += head;
  *low += tail;
  *low = rounded(*low, exponent_of(max(exponent_of_sum(*high, *low), lowest)));
}
void add_pair(double* high, double* low, double x, double y, uint limit, bool first) {
  const double p = x * y, below = fma(x, y, -p);
  const double tail = rounded(below, exponent_of(min(exponent_with(p, below), limit)));
  if (first) {
    *high = p;
    *low = tail;
  } else {
    add_long(high, low, p, tail);
  }
}
__kernel void run(__global const ulong* restrict factors, __global const ulong* restrict items,
                  __global const ulong* restrict pieces, __global double* restrict highs,
                  __global double* restrict lows, __global const uint* restrict ways,
                  __global uint* restrict unfit, __global uint* restrict repeated, ulong panels,
                  ulong first_column, ulong columns, ulong all_columns, ulong record,
                  ulong count) {
  const ulong n = get_global_id(0);
  if (n >= count) return;
  const ulong rows = panels * 8, groups = (columns + 3) / 4;
  const ulong row = n % rows, four = n / rows % groups, piece = n / rows / groups;
  const uint plan = ways[(piece * groups + four) * panels * 2 + row / 4], way = plan & 3u;
  if (way == done) return;
  if (way == by_host) unfit[first_column / 4 + four] = 1u;
  if (way == by_host) return;
  if (way == by_exponents) repeated[(first_column + four * 4) / 64] = 1u;
  const int smallest = (int)(plan >> 2 & 0x3fffu) - 2048, largest = (int)(plan >> 16) - 2048;
  const double grid = 1.5 * power(grid_place(way == by_pairs ? 0 : largest) + 52);
  const uint lowest = upper_of_power(smallest), limit = upper_of_power(largest + 2);
  __global const ulong* restrict x =
      factors + pieces[4 * piece] + row / 8 * depth * 8UL + row % 8;
  for (ulong c = four * 4; c < min(four * 4 + 4, columns); ++c) {
    __global const ulong* restrict y =
        items + (pieces[4 * piece + 2] * all_columns + first_column + c) * record +
        pieces[4 * piece + 3];
    double high = 0.0, low = 0.0;
    ulong minus = ~0UL;
    for (uint k = 0; k < depth; ++k) {
      const double a = truncated(x[8 * k]), b = truncated(y[k]);
      if (way == by_pairs)
        add_pair(&high, &low, a, b, limit, k == 0u);
      else
        add_on_grid(&high, &low, a, b, grid, lowest, limit);
      minus &= as_ulong(a * b);
    }
    // Sums of zero get their sign: minus if all products have it.
    const bool none = high + low == 0.0;
    highs[(piece * columns + c) * rows + row] =
        !none ? high : (minus >> 63) != 0UL ? -0.0 : 0.0;
    lows[(piece * columns + c) * rows + row] = none ? 0.0 : low;
  }
}
)";

constexpr const char* exact_join = R"(
__kernel void run(__global double* restrict highs, __global double* restrict lows,
                  __global double* restrict results, ulong pieces, ulong count) {
  const ulong n = get_global_id(0);
  if (n >= count) return;
  // First the blocks of each chip, then the chips, which are `blocks` sums apart.
  for (ulong begin = 0; begin <= pieces; begin += blocks) {
    const bool chips = begin == pieces;
    const ulong apart = chips ? blocks : 1, at = chips ? 0 : begin;
    for (ulong left = chips ? pieces / blocks : blocks; left > 1; left = (left + 1) / 2) {
      for (ulong i = 0; i < left / 2; ++i) {
        const ulong a = (at + 2 * i * apart) * count + n, b = a + apart * count;
        double high = highs[a], low = lows[a];
        add_long(&high, &low, highs[b], lows[b]);
        highs[(at + i * apart) * count + n] = high;
        lows[(at + i * apart) * count + n] = low;
      }
      if (left % 2 != 0) {
        const ulong last = (at + (left - 1) * apart) * count + n;
        highs[(at + left / 2 * apart) * count + n] = highs[last];
        lows[(at + left / 2 * apart) * count + n] = lows[last];
      }
    }
  }
  // (-0) + 0 would be +0.
  results[n] = lows[n] == 0.0 ? highs[n] : highs[n] + lows[n];
}
)";

/// log2 of the number of products. The grid of fewer than four could not hold a product and its
/// rounding constant.
int log_above(std::size_t n) {
  int d = 2;
  while ((std::size_t{1} << d) < n) ++d;
  return d;
}

std::string of_depth(std::size_t depth) {
  return fmt::format("{}#define depth {}u\n#define log_depth {}\n", exact_functions, depth,
                     log_above(depth));
}

}  // namespace

std::string exponent_intervals_text() { return exponent_intervals_source; }

std::string exact_sums_text(std::size_t depth) { return of_depth(depth) + exact_sums; }
std::string exact_repeats_text(std::size_t depth) { return of_depth(depth) + exact_repeats; }

std::string exact_join_text(std::size_t blocks) {
  return fmt::format("{}#define blocks {}UL\n", exact_functions, blocks) + exact_join;
}

}  // namespace gdr
