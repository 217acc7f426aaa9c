#include "emulator/engine/matmul/cpu/factors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "emulator/port/port_words.hpp"

namespace gdr {

const MatmulKernels* exact_matmul_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &exact_matmul_avx512();
  if (isa == Isa::Avx2) return &exact_matmul_avx2();
#endif
  return nullptr;
}

const FastMatmulKernels& fast_matmul_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return fast_matmul_avx512();
  if (isa == Isa::Avx2) return fast_matmul_avx2();
#endif
  return fast_matmul_portable();
}

// --- exact kernels

void PackedFactors::begin(const MatmulPattern& products, const Geometry& geometry,
                          std::size_t chips) {
  of_row_ = panels_of(geometry);
  panels_ = products.rows.size() * of_row_;
  chips_ = chips;
  blocks_ = geometry.blocks;
  depth_ = products.depth;
  numbers_.resize(panels_ * chips_ * blocks_ * depth_ * panel_lanes);
  ranges_.resize(panels_ * chips_ * blocks_);
  least_.resize(ranges_.size() * depth_);
  block_zeros_.assign(ranges_.size(), 0);
  zeros_.assign(panels_, 0);
}

void PackedFactors::gather(const MatmulPattern& products, std::size_t chip, const BlockState& block,
                           const MatmulKernels& kernels) {
  for (std::size_t row = 0; row < products.rows.size(); ++row) {
    const std::size_t panel = row * of_row_;
    const auto place = [&](std::size_t p) {
      return ((panel + p) * chips_ + chip) * blocks_ + block.number;
    };
    for (std::size_t p = 0; p < of_row_; ++p) ranges_[place(p)] = {last_exponent, 0};
    const std::size_t whole = block.pes / panel_lanes, rest = block.pes % panel_lanes;
    const std::size_t panel_blocks = chips_ * blocks_;
    // A short is the upper half of the long of the same value.
    const bool shorts = products.width == Width::Short;
    const std::vector<std::uint64_t> zeros(shorts ? block.pes : 0);
    for (std::size_t k = 0; k < depth_; ++k) {
      const std::uint64_t* const upper = lanes_of(block, products.rows[row][k]);
      const std::uint64_t* const lower = shorts ? zeros.data() : upper + block.pes;
      const auto take_panels = [&](const std::uint64_t* from, const std::uint64_t* behind,
                                   std::size_t first, std::size_t count) {
        kernels.gather({from, behind, count,
                        numbers_.data() + (place(first) * depth_ + k) * panel_lanes,
                        panel_blocks * depth_ * panel_lanes, &ranges_[place(first)], panel_blocks,
                        &least_[place(first) * depth_ + k], panel_blocks * depth_});
      };
      if (whole > 0) take_panels(upper, lower, 0, whole);
      if (rest == 0) continue;
      std::array<std::uint64_t, 2 * panel_lanes> filled{};  // PEs that are not there hold zeros
      std::copy_n(upper + whole * panel_lanes, rest, filled.data());
      std::copy_n(lower + whole * panel_lanes, rest, filled.data() + panel_lanes);
      take_panels(filled.data(), filled.data() + panel_lanes, whole, 1);
    }
    for (std::size_t p = 0; p < of_row_; ++p) {
      ExponentRange& range = ranges_[place(p)];
      if (range.least <= range.most) continue;
      range = {};
      const double* const numbers = numbers_.data() + place(p) * depth_ * panel_lanes;
      block_zeros_[place(p)] = std::all_of(numbers, numbers + depth_ * panel_lanes, [](double x) {
        return std::bit_cast<std::uint64_t>(x) == 0;
      });
    }
  }
}

void PackedFactors::find_zeros() {
  const auto panel_blocks = static_cast<std::ptrdiff_t>(chips_ * blocks_);
  auto block = block_zeros_.begin();
  for (char& zero : zeros_) {
    zero = std::all_of(block, block + panel_blocks, [](char z) { return z != 0; }) ? 1 : 0;
    block += panel_blocks;
  }
}

MatmulFactors PackedFactors::view() const noexcept {
  const auto first = static_cast<std::size_t>(std::ranges::find(zeros_, 1) - zeros_.begin());
  return {numbers_.data(), ranges_.data(), least_.data(), panels_, chips_,
          blocks_,         depth_,         zeros_.data(), first};
}

// --- fast kernels

void widen_floats(const std::uint64_t* words, std::size_t n, std::uint64_t* doubles) noexcept {
  constexpr std::uint32_t exponent = 0x7f80'0000, sign = 0x8000'0000;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t half = 0; half < 2; ++half) {
      auto bits = static_cast<std::uint32_t>(words[i] >> 32 * half);
      if ((bits & exponent) == 0) bits &= sign;
      doubles[2 * i + half] = std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(bits)});
    }
}

PackedSlabs::PackedSlabs(const MatmulPattern& products, const LoadedProgram& loaded,
                         const Geometry& geometry)
    : products_(products),
      blocks_(geometry.blocks),
      pes_(geometry.pes_per_block),
      elements_(loaded.program.elements),
      target_words_(loaded.layout.target_words),
      panels_((products.outputs.size() + fast_lanes - 1) / fast_lanes),
      chip_depth_(blocks_ * products.depth),
      zeros_(products.depth) {
  find_records(loaded);
}

/// The factors of a row as consecutive fields of one element's record (doubles stored as longs, or
/// floats stored as shorts), if they are.
std::optional<PackedSlabs::RecordRow> PackedSlabs::record_row(const LoadedProgram& loaded,
                                                              std::size_t row) const {
  const bool wide = products_.width == Width::Long;
  const HostType host = wide ? HostType::F64 : HostType::F32;
  const MachineFormat machine = wide ? MachineFormat::FloatLong : MachineFormat::FloatShort;
  const std::vector<PeWord>& words = products_.rows[row];
  for (std::uint32_t e = 0; e < elements_; ++e) {
    const auto is = [&](const PortField& f, const PeWord& word) {
      return f.location.space == word.space && f.location.at(e) == word.address &&
             f.width == products_.width && f.conversion.host == host &&
             f.conversion.machine == machine;
    };
    const auto first = std::ranges::find_if(
        loaded.targets, [&](const PortField& f) { return is(f, words.front()); });
    if (first == loaded.targets.end() || first->half_word % 2 != 0) continue;
    const auto fields =
        std::span(loaded.targets).subspan(static_cast<std::size_t>(first - loaded.targets.begin()));
    if (fields.size() < words.size()) continue;
    bool all = true;
    for (std::size_t k = 0; k < words.size(); ++k)
      all = all && is(fields[k], words[k]) &&
            fields[k].half_word == first->half_word + k * shorts_in(products_.width);
    if (all) return RecordRow{e, first->half_word / 2};
  }
  return {};
}

void PackedSlabs::find_records(const LoadedProgram& loaded) {
  const std::size_t rows = products_.rows.size();
  // As many words as factors, and exactly one output per row and PE.
  if (loaded.targets.size() * elements_ != rows * products_.depth ||
      products_.outputs.size() != rows * pes_)
    return;
  std::vector<char> known(rows * pes_);
  for (const auto& output : products_.outputs)
    if (std::exchange(known[output.row * pes_ + output.pe], 1) != 0) return;
  std::vector<RecordRow> found;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::optional<RecordRow> place = record_row(loaded, row);
    const auto same = [&](const RecordRow& other) {
      return other.element == place->element && other.word == place->word;
    };
    if (!place || std::ranges::any_of(found, same)) return;
    found.push_back(*place);
  }
  record_rows_ = std::move(found);
}

void PackedSlabs::allocate(std::size_t chips) {
  if (newer_.size() >= chips * blocks_) return;
  numbers_.resize(panels_ * fast_lanes * chips * chip_depth_);
  used_.resize(chips * blocks_ * panels_);
  newer_.resize(chips * blocks_);
}

FastSlab PackedSlabs::slab(std::size_t chip, std::size_t number) const noexcept {
  const std::size_t first = number * slab_depth;
  return {chip, first, std::min(slab_depth, chip_depth_ - first),
          (chip * chip_depth_ + first) * panels_ * fast_lanes};
}

template <typename Piece>
void PackedSlabs::each_piece(std::size_t chip, std::size_t block, Piece&& piece) {
  for (std::size_t k = 0; k < products_.depth;) {
    const std::size_t at = block * products_.depth + k;
    const FastSlab s = slab(chip, at / slab_depth);
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
                                 const FastMatmulKernels& kernels) {
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
      const std::size_t some_used = kernels.pack(some);
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
