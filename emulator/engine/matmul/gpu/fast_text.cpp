// Fast products as OpenCL C: sums in doubles or floats, and factors for a library's products.
#include "emulator/engine/matmul/gpu/product_text.hpp"

namespace gdr {
namespace {

constexpr const char* of_doubles = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef double number;
#define zero 0.0
#define vector 2
/// With zeros for subnormal numbers, as on the host.
double flushed(double x) {
  return (as_ulong(x) & 0x7ff0000000000000UL) != 0UL
             ? x
             : as_double(as_ulong(x) & 0x8000000000000000UL);
}
)";
constexpr const char* of_floats = R"(#pragma OPENCL FP_CONTRACT OFF
typedef float number;
#define zero 0.0f
#define vector 4
#define flushed(x) (x)
)";

/// A tile of 64 rows and columns in the registers of 64 work items, eight by eight each. Work items
/// read adjacent numbers of 16 bytes (`vector`) from local memory at a time; the distances of rows
/// there avoid bank conflicts.
constexpr const char* fast_sums = R"(
#define tile 64
#define group 64
#define each 8
#define step 16
#define factors_pitch (tile + 8)
#define items_pitch (tile + vector)
__kernel __attribute__((reqd_work_group_size(group, 1, 1)))
void run(__global const number* restrict factors, __global const number* restrict items,
         __global const ulong* restrict pieces, __global number* restrict sums, ulong panels,
         ulong first_column, ulong columns, ulong all_columns, ulong record, ulong row_tiles,
         ulong column_tiles) {
  __local number a[step * factors_pitch], b[step * items_pitch];
  const uint t = (uint)get_local_id(0);
  const uint down = t % each * vector, across = t / each * vector;
  const ulong number_of_group = get_group_id(0);
  const ulong first_panel = number_of_group % row_tiles * (tile / 8);
  const ulong column = number_of_group / row_tiles % column_tiles * tile;
  const ulong piece = number_of_group / row_tiles / column_tiles;
  const ulong depth = pieces[4 * piece + 1], panel_step = depth * 8;
  __global const number* restrict from_factors = factors + pieces[4 * piece];
  __global const number* restrict from_items =
      items + (pieces[4 * piece + 2] * all_columns + first_column) * record + pieces[4 * piece + 3];
  number sum[each][each];
#pragma unroll
  for (uint i = 0; i < each; ++i)
#pragma unroll
    for (uint j = 0; j < each; ++j) sum[i][j] = zero;
  for (ulong begin = 0; begin < depth; begin += step) {
    for (uint n = t; n < step * tile; n += group) {
      const ulong panel = min(first_panel + n / (step * 8), panels - 1);
      const uint k = n / 8 % step;
      a[k * factors_pitch + n / (step * 8) * 8 + n % 8] =
          begin + k < depth
              ? flushed(from_factors[panel * panel_step + (begin + k) * 8 + n % 8])
              : zero;
    }
    for (uint n = t; n < step * tile; n += group) {
      const ulong c = min(column + n / step, columns - 1);
      const uint k = n % step;
      b[k * items_pitch + n / step] =
          begin + k < depth ? flushed(from_items[c * record + begin + k]) : zero;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (uint k = 0; k < step; ++k) {
      number x[each], y[each];
#pragma unroll
      for (uint i = 0; i < each; ++i) {
        const uint at = i / vector * (each * vector) + i % vector;
        x[i] = a[k * factors_pitch + down + at];
        y[i] = b[k * items_pitch + across + at];
      }
#pragma unroll
      for (uint i = 0; i < each; ++i)
#pragma unroll
        for (uint j = 0; j < each; ++j) sum[i][j] = fma(x[i], y[j], sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const ulong rows = panels * 8;
#pragma unroll
  for (uint j = 0; j < each; ++j) {
    const ulong c = column + across + j / vector * (each * vector) + j % vector;
#pragma unroll
    for (uint i = 0; i < each; ++i) {
      const ulong r = first_panel * 8 + down + i / vector * (each * vector) + i % vector;
      if (c < columns && r < rows) sums[(piece * columns + c) * rows + r] = sum[i][j];
    }
  }
}
)";

constexpr const char* join_doubles = R"(
__kernel void run(__global const number* restrict sums, __global number* restrict results,
                  ulong pieces, ulong count) {
  const ulong n = get_global_id(0);
  if (n >= count) return;
  number sum = sums[n];
  for (ulong piece = 1; piece < pieces; ++piece) sum += sums[piece * count + n];
  results[n] = sum;
}
)";
/// With the errors of the sums (Knuth's two-sum).
constexpr const char* join_floats = R"(
__kernel void run(__global const number* restrict sums, __global number* restrict results,
                  ulong pieces, ulong count) {
  const ulong n = get_global_id(0);
  if (n >= count) return;
  number high = sums[n], low = zero;
  for (ulong piece = 1; piece < pieces; ++piece) {
    const number next = sums[piece * count + n], sum = high + next, part = sum - high;
    low += (high - (sum - part)) + (next - part);
    high = sum;
  }
  results[n] = high;
  results[count + n] = low;
}
)";

/// A piece begins where its row of the table says first.
constexpr const char* by_rows = R"(
__kernel void run(__global const number* restrict panels, __global number* restrict columns,
                  __global const ulong* restrict table, ulong pieces, ulong rows, ulong count) {
  const ulong n = get_global_id(0);
  if (n >= count) return;
  ulong piece = 0;
  while (piece + 1 < pieces && n >= table[4 * (piece + 1)]) ++piece;
  const ulong begin = table[4 * piece], of_panel = table[4 * piece + 1] * 8, at = n - begin;
  const ulong row = at / of_panel * 8 + at % 8, factor = at % of_panel / 8;
  columns[begin + factor * rows + row] = flushed(panels[n]);
}
)";
constexpr const char* flush = R"(
__kernel void run(__global number* restrict numbers, ulong count) {
  const ulong n = get_global_id(0);
  if (n < count) numbers[n] = flushed(numbers[n]);
}
)";

}  // namespace

std::string fast_sums_text(bool doubles) {
  return std::string(doubles ? of_doubles : of_floats) + fast_sums;
}
std::string fast_join_text(bool doubles) {
  return std::string(doubles ? of_doubles : of_floats) + (doubles ? join_doubles : join_floats);
}
std::string rows_text(bool doubles) {
  return std::string(doubles ? of_doubles : of_floats) + by_rows;
}
std::string flush_text() { return std::string(of_doubles) + flush; }

}  // namespace gdr
