// Operations on rows: sections and programs before layout, and their transformations.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "emulator/engine/vector/doubles/translate.hpp"
#include "emulator/engine/vector/doubles/word_states.hpp"

namespace gdr {

/// Kind of an operation, for steps that reorder or remove operations.
enum class RowOpKind : std::uint8_t {
  Compute,       ///< reads rows and writes others
  Test,          ///< the same, and writes lanes of a mask
  Check,         ///< fails if a lane of `a` is infinite or NaN: its bits are used afterwards
  CheckedInput,  ///< Compute and Check of `a`
  Transfer,      ///< between the frame and the broadcast memory, a PE at a time
};

/// An operation on rows, before layout.
struct RowOp {
  DoublesOp op;
  RowSpan a = no_rows, b = no_rows, out = no_rows, mask = no_rows;
  RowSpan old = no_rows;  ///< values of lanes that a predicate excludes; unused: those of `out`
  RowOpKind kind = RowOpKind::Compute;
  OpOrigin origin = {};
  /// Whether it writes only the lanes in which the mask is op.value.
  bool predicated() const { return mask.used && kind != RowOpKind::Transfer; }
  std::array<const RowSpan*, 5> spans() const { return {&a, &b, &out, &mask, &old}; }
};

/// Rows of a long; without a tail the tail row is zero.
constexpr RowSpan long_rows(std::uint32_t word, unsigned stride) {
  return {{RowKind::Head, word}, {RowKind::Tail, word}, true, stride};
}
inline RowSpan short_rows(const WordNumbers& numbers, WordHalf at, unsigned stride) {
  return {{RowKind::Short, numbers.short_row(at.word, at.half)}, {}, false, stride};
}
constexpr RowSpan mask_rows(unsigned mask, unsigned first) {
  return {{RowKind::Mask, mask * max_elements + first}, {}, false, 1};
}

/// A flag for both halves of each word.
using Halves = std::vector<std::array<bool, 2>>;

/// A section as operations on rows, with the states of its words.
struct RowSection {
  std::vector<RowOp> ops;
  std::vector<ConstantRow> constants;  ///< rows of RowKind::Constant, by number
  std::vector<WordState> entry, exit;  ///< states by word, where it is imported or written
  Halves imported, written;
  std::vector<bool> mask_imported, mask_written;
  bool writes_memory = false;
};

/// Whether two operands have a row in common.
bool meet(const RowSpan& a, std::uint32_t a_elements, const RowSpan& b, std::uint32_t b_elements);

/// The row of a constant, which is added if it is missing.
RowSpan constant_row(std::vector<ConstantRow>& constants, std::uint64_t bits,
                     ConstantRow::Kind kind = ConstantRow::Kind::Bits);

/// A row of the state and its rows in a frame.
struct RowLink {
  StateLink link;
  RowSpan rows;
};

/// Operations before, in and after the iterations, with imports and exports.
struct RowProgram {
  /// Constants, imports and exports of `words`. `results`, by word: exported also if only results
  /// are wanted.
  RowProgram(const RowSection& words, const WordNumbers& numbers, const std::vector<bool>& results);

  std::vector<RowOp> before, iteration, after;
  std::vector<ConstantRow> constants;
  std::vector<RowLink> imports, exports;
  bool repeats = false;  ///< whether there may be more than one iteration
  bool fused = false;    ///< a fused run: only results may be live, and a failure discards all
};
/// Assigns frame offsets for rows of `lanes`. The result is usable.
DoublesSection lay_out(RowProgram program, const DoublesKernels& kernels, std::uint32_t lanes);

// --- transformations

/// Peephole optimisation of sums of shorts into longs, the most expensive operations of force
/// kernels. All words after the list are preserved. An accumulation in place under a predicate adds
/// zeros in the excluded lanes. Of two consecutive accumulations to the same rows, with nothing in
/// between that reads them, the first need not normalise its pair
/// (DoublesKernels::accumulate_unnormalized).
void simplify_accumulations(std::vector<RowOp>& ops, const DoublesKernels& kernels);

/// Hoisting of tests into the previous iteration.
///
/// A software-pipelined loop tests values of the previous iteration, such as a distance of zero, at
/// the beginning of an iteration or of End. The mask excludes lanes that the previous iteration
/// computed from the same value. In a fused run such a test moves to the end of the previous list
/// and its mask is carried, so that the liveness analysis there knows the excluded lanes
/// (lane_liveness.hpp).
void hoist_tests(RowProgram& program, const DoublesKernels& kernels);

/// The lists of a DoublesSection as operations on rows, with the live rows after each.
struct MaskedLists {
  struct List {
    std::vector<RowOp> ops;
    std::set<RowId> live;
  };
  List before, enter, iteration, last, after;
  /// Rows that two `last` iterations read as the iteration before left them; the others may be
  /// anything.
  std::set<RowId> carried;
};

/// Prevents verification failures in masked lanes.
///
/// A run on doubles is valid only if every lane of every operation is exact. Lanes that a predicate
/// excludes often hold stale values, or numbers outside of an operation's domain (r^2 = 0 of a
/// coincident pair), and would fail. Where an operation's result is dead in the lanes in which a
/// mask has some value (lane_liveness.hpp), its operands may be anything there: replacing them by a
/// harmless number changes no bit of what is observed.
///
/// All exported rows are live after `last` and `after`. At least two `last` iterations follow any
/// `iteration`; in a fused program only `after` does, after which only results are live. Adds to
/// the program's constants.
MaskedLists mask_lanes(RowProgram& program, const DoublesKernels& kernels);

// --- translation of sections

/// Thrown if a section cannot be translated; holds the reason and the instruction's number.
struct Untranslatable {
  std::string why;
  std::size_t instruction = 0;
};

/// Lanes of a row: the PEs of a block, filled up to whole batches.
constexpr std::uint32_t row_lanes(const Geometry& geometry,
                                  const DoublesKernels& kernels) noexcept {
  return (geometry.pes_per_block + kernels.batch - 1) / kernels.batch * kernels.batch;
}

/// Context of a section in a fused run.
struct Surroundings {
  /// The next section: words that are only moved get the form that it uses first.
  std::span<const Instruction> then = {};
  /// By word, valid assumptions about imported longs; empty: all.
  struct Granted {
    bool head = true, plus_zero = true;
  };
  std::vector<Granted> granted = {};
};

/// Translates a section such that it can be repeated: imported words have the same form and state
/// at its beginning and end. Throws Untranslatable.
RowSection translate_section(const std::vector<Instruction>& section, const Geometry& geometry,
                             const DoublesKernels& kernels, bool heads,
                             const Surroundings& around = {});

}  // namespace gdr
