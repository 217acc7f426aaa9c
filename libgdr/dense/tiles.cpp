#include "libgdr/dense/tiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>

#include "emulator/host/parallel.hpp"

namespace gdr::dense {
namespace {

/// The leading 50 bits, which the multiplier uses.
double leading(double x) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{7});
}

/// Whether the bits of an element fulfil a condition, a function without branches.
template <typename Bits, typename Number, typename Condition>
bool any_element(const MatrixView<Number>& x, std::size_t rows, std::size_t columns,
                 const Condition& condition) noexcept {
  if (x.transpose == Transpose::Yes) std::swap(rows, columns);
  for (std::size_t c = 0; c < columns; ++c) {
    Bits found = 0;
    for (std::size_t r = 0; r < rows; ++r)
      found |= condition(std::bit_cast<Bits>(x.data[r + c * x.stride]));
    if (found != 0) return true;
  }
  return false;
}

/// Whether a double has bits that the multiplier truncates.
bool has_low(const Factor& x, std::size_t rows, std::size_t columns) noexcept {
  const auto* const doubles = std::get_if<MatrixView<const double>>(&x);
  return doubles != nullptr &&
         any_element<std::uint64_t>(*doubles, rows, columns,
                                    [](std::uint64_t bits) { return bits & 7; });
}

/// Elements below which one thread packs.
constexpr std::size_t min_parallel_elements = 100'000;

/// Doubles per cache line: adjacent columns or inner indices that are packed together.
constexpr std::size_t doubles_per_line = 8;
static_assert(block_words % doubles_per_line == 0);

/// Consecutive numbers in link words: doubles, or floats with the first in the low half.
template <typename Packed>
class Numbers {
 public:
  static constexpr std::size_t in_word = sizeof(std::uint64_t) / sizeof(Packed);
  static constexpr std::size_t block_depth = block_words * in_word;
  explicit Numbers(std::uint64_t* words) noexcept : at_(reinterpret_cast<unsigned char*>(words)) {
    static_assert(std::endian::native == std::endian::little);
  }
  template <typename Number>
  void put(std::size_t i, Number x, Part part) const noexcept {
    const auto packed = static_cast<Packed>(part == Part::Whole ? x : part_of(x, part));
    std::memcpy(at_ + i * sizeof packed, &packed, sizeof packed);
  }
  template <typename Number>
  void put_all(std::size_t i, const Number* from, std::size_t n, Part part) const noexcept {
    if (std::is_same_v<Number, Packed> && part == Part::Whole)
      std::memcpy(place(i), from, n * sizeof(Packed));
    else
      for (std::size_t k = 0; k < n; ++k) put(i + k, from[k], part);
  }
  unsigned char* place(std::size_t i) const noexcept { return at_ + i * sizeof(Packed); }
  void clear(std::size_t i, std::size_t n) const noexcept {
    std::memset(at_ + i * sizeof(Packed), 0, n * sizeof(Packed));
  }

 private:
  unsigned char* at_;
};

/// Elements along a row or a column of op(X) at one inner index.
template <typename Number>
struct Line {
  const Number* first = nullptr;  ///< first element; null: all are zero
  std::size_t step = 1;
  Part part = Part::Whole;
};

/// Direction in which elements of some lines are contiguous in memory and need no conversion.
enum class Contiguous : std::uint8_t { None, Rows, Inner };

template <typename Packed, typename Number>
Contiguous contiguous_direction(std::span<const Line<Number>, doubles_per_line> lines) noexcept {
  if constexpr (!std::is_same_v<Packed, double> || !std::is_same_v<Number, double>)
    return Contiguous::None;
  bool rows = true, inner = true;
  for (std::size_t n = 0; n < doubles_per_line; ++n) {
    if (lines[n].first == nullptr || lines[n].part != Part::Whole) return Contiguous::None;
    rows = rows && lines[n].step == 1;
    inner = inner && lines[n].first == lines[0].first + n;
  }
  return inner ? Contiguous::Inner : rows ? Contiguous::Rows : Contiguous::None;
}

/// Prefetches a cache line of each of some columns.
template <typename Number, std::size_t Count>
void prefetch_lines(const std::array<Line<Number>, Count>& lines, std::size_t from,
                    std::size_t row) {
  for (std::size_t n = from; n < from + doubles_per_line; ++n)
    if (lines[n].first != nullptr) __builtin_prefetch(lines[n].first + row * lines[n].step);
}

/// Transposes a square of elements; row i goes to place(i). In pairs, for which every host has
/// vectors.
template <typename Place>
void transpose_square(std::span<const Line<double>, doubles_per_line> columns, std::size_t row,
                      Place place) {
  using Pair = double __attribute__((vector_size(16)));
  for (std::size_t i = 0; i < doubles_per_line; i += 2) {
    unsigned char *const upper = place(i), *const lower = place(i + 1);
    for (std::size_t n = 0; n < doubles_per_line; n += 2) {
      Pair a, b;
      std::memcpy(&a, columns[n].first + row + i, sizeof a);
      std::memcpy(&b, columns[n + 1].first + row + i, sizeof b);
      const Pair first{a[0], b[0]}, second{a[1], b[1]};
      std::memcpy(upper + n * sizeof(double), &first, sizeof first);
      std::memcpy(lower + n * sizeof(double), &second, sizeof second);
    }
  }
}
template <typename Place>
void transpose_square(std::span<const Line<float>, doubles_per_line>, std::size_t, Place) noexcept {
}  // never called

template <typename Packed, typename Number>
void pack_tile_as(const MatrixView<const Number>& a, const TileLocation& place,
                  const InnerDimension& inner, unsigned threads, std::uint64_t* words) {
  constexpr std::size_t pe_rows = 2 * elements, pe_words = pe_rows * block_words;
  constexpr std::size_t block_depth = Numbers<Packed>::block_depth;
  const bool transposed = a.transpose == Transpose::Yes;
  const auto line = [&](std::size_t i) -> Line<Number> {
    if (i >= inner.size() || i % inner.pitch >= inner.k) return {};
    const std::size_t k = i % inner.pitch, row = place.row;
    const Part part = inner.terms[i / inner.pitch].a;
    if (transposed) return {a.data + k + row * a.stride, a.stride, part};
    return {a.data + row + k * a.stride, 1, part};
  };
  const auto pack_block = [&](std::size_t block) {
    std::array<Line<Number>, block_depth> lines;
    for (std::size_t k = 0; k < block_depth; ++k)
      lines[k] = line(place.first + block * block_depth + k);
    std::uint64_t* const to = words + block * place.pes * pe_words;
    const bool all = place.rows == place.pes * pe_rows &&
                     std::ranges::all_of(lines, [](const auto& l) { return l.first != nullptr; });
    if (!all) std::fill_n(to, place.pes * pe_words, 0);
    for (std::size_t i = 0; i < place.pes * pe_words; i += doubles_per_line)
      __builtin_prefetch(to + i, 1, 2);
    // Some inner indices at a time: columns of A are read once, and cache lines are filled at once.
    for (std::size_t k = 0; k < block_depth; k += doubles_per_line) {
      const std::span<const Line<Number>, doubles_per_line> some(&lines[k], doubles_per_line);
      const Contiguous contiguous = contiguous_direction<Packed>(some);
      for (std::size_t r = 0; r < place.rows; r += pe_rows) {
        const std::size_t rows = std::min(pe_rows, place.rows - r);
        const Numbers<Packed> numbers(to + r / pe_rows * pe_words);
        // Row 8 p + 4 h + e of the tile is number n of half h of target (p, e).
        const auto at = [&](std::size_t i) {
          return (i % elements * 2 + i / elements) * block_depth + k;
        };
        if (rows == doubles_per_line && contiguous == Contiguous::Rows) {
          if (k + doubles_per_line < block_depth) prefetch_lines(lines, k + doubles_per_line, r);
          transpose_square(some, r, [&](std::size_t i) { return numbers.place(at(i)); });
        } else if (contiguous == Contiguous::Inner) {
          for (std::size_t i = 0; i < rows; ++i)
            numbers.put_all(at(i), some[0].first + (r + i) * some[0].step, doubles_per_line,
                            Part::Whole);
        } else {
          for (std::size_t n = 0; n < doubles_per_line; ++n)
            for (std::size_t i = 0; some[n].first != nullptr && i < rows; ++i)
              numbers.put(at(i) + n, some[n].first[(r + i) * some[n].step], some[n].part);
        }
      }
    }
  };
  const Phase phase{place.blocks, pack_block};
  const bool many = place.blocks * tile_rows * block_words > min_parallel_elements;
  run_phases({&phase, 1}, many ? threads : 1);
}

template <typename Packed, typename Number>
void pack_columns_as(const MatrixView<const Number>& b, std::size_t column, std::size_t count,
                     const InnerDimension& inner, std::size_t first, std::size_t item_words,
                     unsigned threads, std::uint64_t* words) {
  const std::size_t depth = item_words * Numbers<Packed>::in_word;
  const std::size_t end = std::min(first + depth, inner.size());
  const bool transposed = b.transpose == Transpose::Yes;
  constexpr std::size_t groups = 8;  // column groups per task
  const auto pack_column_group = [&](std::size_t c) {
    const std::size_t columns = std::min(doubles_per_line, count - c);
    const Numbers<Packed> to(words + c * item_words);
    // Fills up after the last element of a term and of the inner dimension.
    std::size_t done = first;
    const auto zeros_until = [&](std::size_t next) {
      for (std::size_t j = 0; j < columns && next > done; ++j)
        to.clear(j * depth + (done - first), next - done);
      done = std::max(done, next);
    };
    for (std::size_t i = first; i < end;) {
      // To the end of the term.
      const std::size_t k = i % inner.pitch, term = i / inner.pitch;
      const std::size_t next = std::min(end, (term + 1) * inner.pitch);
      const std::size_t numbers = std::min(next, term * inner.pitch + inner.k);
      const Part part = inner.terms[term].b;
      const Number* const from =
          b.data + (transposed ? column + c + k * b.stride : k + (column + c) * b.stride);
      std::size_t n = 0;
      for (; transposed && columns == doubles_per_line && i + n + doubles_per_line <= numbers;
           n += doubles_per_line) {
        std::array<Line<Number>, doubles_per_line> lines;
        for (std::size_t q = 0; q < doubles_per_line; ++q)
          lines[q] = {from + (n + q) * b.stride, 1, part};
        if (contiguous_direction<Packed, Number>(lines) != Contiguous::Rows) break;
        transpose_square(std::span<const Line<Number>, doubles_per_line>(lines), 0,
                         [&](std::size_t j) { return to.place(j * depth + (i - first) + n); });
      }
      for (; transposed && i + n < numbers; ++n)
        for (std::size_t j = 0; j < columns; ++j)
          to.put(j * depth + (i - first) + n, from[n * b.stride + j], part);
      for (std::size_t j = 0; !transposed && j < columns; ++j)
        if (numbers > i)
          to.put_all(j * depth + (i - first), from + j * b.stride, numbers - i, part);
      done = std::max(i, numbers);
      zeros_until(next);
      i = next;
    }
    zeros_until(first + depth);
  };
  const std::size_t a_task = groups * doubles_per_line;
  const Phase phase{(count + a_task - 1) / a_task, [&](std::size_t task) {
                      const std::size_t last = std::min(count, (task + 1) * a_task);
                      for (std::size_t c = task * a_task; c < last; c += doubles_per_line)
                        pack_column_group(c);
                    }};
  run_phases({&phase, 1}, count * depth > min_parallel_elements ? threads : 1);
}

}  // namespace

double part_of(double x, Part part) noexcept {
  switch (part) {
    case Part::Whole:
      return x;
    case Part::Leading:
      return std::isfinite(x) ? leading(x) : x;
    case Part::Low:
      return std::isfinite(x) ? x - leading(x) : 0;
    case Part::Finite:
      return std::isfinite(x) ? x : 0;
  }
  return x;
}

bool has_subnormal(const Factor& x, std::size_t rows, std::size_t columns) noexcept {
  constexpr std::uint32_t magnitude = 0x7fff'ffff, min_normal = 0x0080'0000;
  const auto* const floats = std::get_if<MatrixView<const float>>(&x);
  return floats != nullptr &&
         any_element<std::uint32_t>(*floats, rows, columns, [](std::uint32_t bits) {
           return static_cast<std::uint32_t>((bits & magnitude) - 1 <
                                             min_normal - 1);  // wraps around for zero
         });
}

std::vector<Term> terms_of(const Factor& a, const Factor& b, std::size_t m, std::size_t n,
                           std::size_t k, MatrixPrecision precision) {
  if (precision == MatrixPrecision::Chip) return {{Part::Whole, Part::Whole}};
  const bool low_a = has_low(a, m, k), low_b = has_low(b, k, n);
  std::vector<Term> terms{
      {low_a ? Part::Leading : Part::Whole, low_b ? Part::Leading : Part::Whole}};
  // The product of both residuals is below the 61 bits of the sum.
  if (low_a) terms.push_back({Part::Low, Part::Finite});
  if (low_b) terms.push_back({Part::Finite, Part::Low});
  return terms;
}

void pack_tile(const Factor& a, const TileLocation& place, const InnerDimension& inner,
               ElementFormat format, unsigned threads, std::uint64_t* words) {
  if (format == ElementFormat::Floats)
    return pack_tile_as<float>(std::get<MatrixView<const float>>(a), place, inner, threads, words);
  std::visit([&](const auto& view) { pack_tile_as<double>(view, place, inner, threads, words); },
             a);
}

void pack_columns(const Factor& b, std::size_t column, std::size_t count,
                  const InnerDimension& inner, std::size_t first, std::size_t item_words,
                  ElementFormat format, unsigned threads, std::uint64_t* words) {
  if (format == ElementFormat::Floats)
    return pack_columns_as<float>(std::get<MatrixView<const float>>(b), column, count, inner, first,
                                  item_words, threads, words);
  std::visit(
      [&](const auto& view) {
        pack_columns_as<double>(view, column, count, inner, first, item_words, threads, words);
      },
      b);
}

}  // namespace gdr::dense
