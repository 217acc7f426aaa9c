#include "emulator/engine/matmul/cpu/packed_slabs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "emulator/engine/matmul/cpu/widen_floats.hpp"
#include "emulator/port/port_words.hpp"

namespace gdr {

PackedSlabs::PackedSlabs(const MatmulPattern& products, const LoadedProgram& loaded,
                         const Geometry& geometry)
    : products_(products),
      blocks_(geometry.blocks),
      elements_(loaded.program.elements),
      target_words_(loaded.layout.target_words),
      panels_((products.outputs.size() + fast_lanes - 1) / fast_lanes),
      chip_depth_(blocks_ * products.depth),
      zeros_(products.depth),
      record_rows_(record_rows(products, loaded, geometry)) {}

void PackedSlabs::allocate(std::size_t chips) {
  if (newer_.size() >= chips * blocks_) return;
  numbers_.resize(panels_ * fast_lanes * chips * chip_depth_);
  used_.resize(chips * blocks_ * panels_);
  newer_.resize(chips * blocks_);
}

FastSlab PackedSlabs::slab(std::size_t chip, std::size_t number) const noexcept {
  const std::size_t first = number * fast_kc;
  return {chip, first, std::min(fast_kc, chip_depth_ - first),
          (chip * chip_depth_ + first) * panels_ * fast_lanes};
}

template <typename Piece>
void PackedSlabs::each_piece(std::size_t chip, std::size_t block, Piece&& piece) {
  for (std::size_t k = 0; k < products_.depth;) {
    const std::size_t at = block * products_.depth + k;
    const FastSlab s = slab(chip, at / fast_kc);
    const std::size_t n = std::min<std::size_t>(products_.depth - k, s.first + s.depth - at);
    piece(k, n, numbers_.data() + s.begin + (at - s.first) * fast_lanes, s.depth * fast_lanes);
    k += n;
  }
}

/// Location of an output's factors in the records; zeros for missing outputs.
const std::uint64_t* PackedSlabs::record_of(const std::uint64_t* records,
                                            std::size_t output) const {
  if (output >= products_.outputs.size()) return zeros_.data();
  const auto [row, pe] = products_.outputs[output];
  const RecordRow& place = record_rows_[row];
  return records + (pe * elements_ + place.element) * target_words_ + place.word;
}

void PackedSlabs::gather_records(std::size_t chip, std::size_t block, const std::uint64_t* records,
                                 const FastMatmulFunctions& functions) {
  constexpr std::size_t line = 8;  // words of a line of the cache
  const bool shorts = products_.width == Width::Short;
  const std::size_t depth = products_.depth, words = shorts ? (depth + 1) / 2 : depth;
  thread_local std::vector<std::uint64_t> wide;
  if (shorts && wide.size() < fast_lanes * 2 * words) wide.resize(fast_lanes * 2 * words);
  for (std::size_t panel = 0; panel < panels_; ++panel) {
    std::array<const std::uint64_t*, fast_lanes> rows;
    for (std::size_t lane = 0; lane < fast_lanes; ++lane) {
      const std::size_t output = panel * fast_lanes + lane;
      rows[lane] = record_of(records, output);
      // Prefetches the next panel's rows and destination.
      const std::uint64_t* const next = record_of(records, output + fast_lanes);
      for (std::size_t i = 0; i < words; i += line) __builtin_prefetch(next + i);
      if (!shorts) continue;
      std::uint64_t* const to = wide.data() + lane * 2 * words;
      widen_floats(rows[lane], words, to);
      rows[lane] = to;
    }
    std::uint32_t& last = used(chip, block, panel);
    last = 0;
    each_piece(chip, block, [&](std::size_t k, std::size_t n, double* to, std::size_t step) {
      PackTask some{{}, n, to + panel * step};
      for (std::size_t i = 0; panel + 1 < panels_ && i < n; ++i)
        __builtin_prefetch(some.to + step + i * fast_lanes, 1);
      for (std::size_t lane = 0; lane < fast_lanes; ++lane) some.rows[lane] = rows[lane] + k;
      const std::size_t some_used = functions.pack(some);
      if (some_used != 0) last = static_cast<std::uint32_t>(k + some_used);
    });
  }
  newer_[chip * blocks_ + block] = 1;
}

void PackedSlabs::gather_words(std::size_t chip, const BlockState& block) {
  // A short is the upper half of the long of the same value.
  const std::size_t lower = products_.width == Width::Long ? block.pes : 0;
  for (std::size_t panel = 0; panel < panels_; ++panel) {
    const auto outputs = std::span(products_.outputs).subspan(panel * fast_lanes);
    std::uint32_t& last = used(chip, block.number, panel);
    last = 0;
    each_piece(chip, block.number, [&](std::size_t k, std::size_t n, double* to, std::size_t step) {
      to += panel * step;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t lane = 0; lane < fast_lanes; ++lane, ++to) {
          std::uint64_t bits = 0;
          if (lane < outputs.size()) {
            const auto& output = outputs[lane];
            const std::uint64_t* const word =
                lanes_of(block, products_.rows[output.row][k + i]) + output.pe;
            bits = long_factor(word[0], lower != 0 ? word[lower] : 0);
          }
          *to = std::bit_cast<double>(bits);
          if (bits != 0) last = static_cast<std::uint32_t>(k + i + 1);
        }
      }
    });
  }
  newer_[chip * blocks_ + block.number] = 0;
}

void PackedSlabs::scatter_words(std::size_t chip, BlockState& block) {
  if (std::exchange(newer_[chip * blocks_ + block.number], 0) == 0) return;
  const bool wide = products_.width == Width::Long;
  each_piece(chip, block.number,
             [&](std::size_t k, std::size_t n, const double* from, std::size_t step) {
               for (std::size_t o = 0; o < products_.outputs.size(); ++o) {
                 const auto& output = products_.outputs[o];
                 const double* const at = from + o / fast_lanes * step + o % fast_lanes;
                 for (std::size_t i = 0; i < n; ++i) {
                   const auto bits = std::bit_cast<std::uint64_t>(at[i * fast_lanes]);
                   const PeWord& word = products_.rows[output.row][k + i];
                   LaneMemory& memory = word.space == Space::Local ? block.local : block.registers;
                   std::uint64_t* const to =
                       memory.data() + std::size_t{word.address} * block.pes + output.pe;
                   const WordHalves halves =
                       wide ? port::double_to_long(bits) : port::double_to_short(bits);
                   to[0] = halves.upper;
                   if (wide) to[block.pes] = halves.lower;
                 }
               }
             });
}

std::size_t PackedSlabs::panels_used(std::size_t chip) const noexcept {
  std::size_t panels = 0;
  for (std::size_t b = 0; b < blocks_; ++b)
    for (std::size_t p = panels_; p > panels; --p)
      if (used_[(chip * blocks_ + b) * panels_ + p - 1] != 0) panels = p;
  return panels;
}

std::size_t PackedSlabs::depth_used(const FastSlab& slab) const noexcept {
  const std::size_t depth = products_.depth, end = slab.first + slab.depth;
  // From the last block that reaches into the slab.
  for (std::size_t b = (end - 1) / depth + 1; b-- > slab.first / depth;) {
    const auto first =
        used_.begin() + static_cast<std::ptrdiff_t>((slab.chip * blocks_ + b) * panels_);
    const std::size_t last = *std::max_element(first, first + static_cast<std::ptrdiff_t>(panels_));
    if (last != 0 && b * depth + last > slab.first)
      return std::min(b * depth + last - slab.first, slab.depth);
  }
  return 0;
}

}  // namespace gdr
