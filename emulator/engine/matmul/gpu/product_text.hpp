// Matrix products as OpenCL C 1.2.
//
// `sums` adds up one piece of the inner dimension in a tile of rows and columns, `join` adds up the
// pieces. Their arguments are those of FastSums and ExactSums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gdr {

/// Rows and columns of a work-group's tile. Rows are lanes of panels.
constexpr std::size_t device_tile = 64;

/// Work items of a group of the kernels `sums`, for fast and exact products.
constexpr std::size_t fast_group = 64, exact_group = 256;
/// Bytes of local memory that a group needs at most.
constexpr std::size_t tile_bytes = 20480;

/// Fast products in doubles or floats: fused multiply-adds in the order of a piece's factors, as
/// FastMatmul.
std::string fast_sums_text(bool doubles);
/// In doubles: one sum after the other. In floats: pairs of floats, high ones first.
std::string fast_join_text(bool doubles);

/// For a library's products: factors from [piece][panel][factor][lane] to [piece][factor][row],
/// with zeros for subnormal doubles; and zeros for them in place.
std::string rows_text(bool doubles);
std::string flush_text();

/// The interval of exponents of four numbers with equal inner index.
std::string exponent_intervals_text();
/// The machine's sums of a block of `depth` factors, as pairs of doubles (exact.hpp has the proof):
/// those whose exponents can be estimated, and then all others.
std::string exact_sums_text(std::size_t depth);
std::string exact_repeats_text(std::size_t depth);
/// The reduction network's sums, for chips of so many blocks.
std::string exact_join_text(std::size_t blocks);

}  // namespace gdr
