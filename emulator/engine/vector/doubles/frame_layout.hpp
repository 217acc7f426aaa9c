// Layout of rows in a frame, and operations with frame offsets.
#pragma once

#include <array>
#include <vector>

#include "emulator/engine/vector/doubles/translate.hpp"
#include "emulator/engine/vector/doubles/word_states.hpp"

namespace gdr {

/// Kind of an operation, for passes that reorder or remove operations.
enum class RowOpKind : std::uint8_t {
  Compute,       ///< reads rows, and writes others
  Test,          ///< the same, and what it writes are lanes of a mask
  Check,         ///< fails where a lane of `a` is no number: its bits are used from there on
  CheckedInput,  ///< computes, and does to `a` what Check does
  Transfer,      ///< between the frame and the broadcast memory, a PE at a time
};

/// An operation on rows, before layout.
struct RowOp {
  DoublesOp op;
  RowSpan a = no_rows, b = no_rows, out = no_rows, mask = no_rows;
  RowSpan old = no_rows;  ///< under a predicate, where not `out`: what lanes get that it leaves out
  RowOpKind kind = RowOpKind::Compute;
  OpOrigin origin = {};
  /// Whether it writes only in the lanes in which the mask has op.value.
  bool predicated() const { return mask.used && kind != RowOpKind::Transfer; }
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

/// By word, which of its halves.
using Halves = std::vector<std::array<bool, 2>>;

/// A section as operations on rows, with the states of its words.
struct RowSection {
  std::vector<RowOp> ops;
  std::vector<ConstantRow> constants;  ///< rows of RowKind::Constant, by number
  std::vector<WordState> entry, exit;  ///< by word, where it is imported or written
  Halves imported, written;
  std::vector<bool> mask_imported, mask_written;
  bool writes_memory = false;
};

/// A row of the state and its rows here.
struct RowLink {
  StateLink link;
  RowSpan rows;
};

/// Words and masks that are taken from the state before the first operation, or left there.
struct Exchange {
  const std::vector<WordState>& words;
  const Halves& chosen;
  const std::vector<bool>& masks;
};
std::vector<RowLink> import_links(const WordNumbers& numbers, const Exchange& e);
/// `imported` is what the same section takes in; `kept`, by word, what must be left also where only
/// results are wanted.
std::vector<RowLink> export_links(const WordNumbers& numbers, const Exchange& e,
                                  const Halves& imported, const std::vector<bool>& kept);

/// Operations before, in and after the passes, with imports and exports.
struct RowProgram {
  std::vector<RowOp> before, pass, after;
  std::vector<ConstantRow> constants;
  std::vector<RowLink> imports, exports;
  bool repeats = false;  ///< the pass may be done more than once
  bool fused = false;  ///< a fused run: only results may be live, and a failure discards all passes
};
/// Assigns frame offsets for rows of `lanes`. The result is usable.
DoublesSection lay_out(RowProgram program, const DoublesKernels& kernels, std::uint32_t lanes);

}  // namespace gdr
