// The rows of a section, and the operations on them that are emitted.
#pragma once

#include <bit>
#include <optional>
#include <vector>

#include "emulator/engine/vector/doubles/row_program.hpp"

namespace gdr {

constexpr std::uint64_t short_field = std::uint64_t{2047} << 52;

class RowEmitter {
 protected:
  RowEmitter(const Geometry& geometry, const DoublesKernels& kernels)
      : kernels_(kernels), numbers_(geometry), lanes_(row_lanes(geometry, kernels)) {}

  RowSpan short_rows(WordHalf at, unsigned stride) const {
    return gdr::short_rows(numbers_, at, stride);
  }
  static RowSpan scratch_rows(unsigned strip, Rep rep) {
    return {{RowKind::Scratch, 8 * strip}, {RowKind::Scratch, 8 * strip + 4}, rep == Rep::Long, 1};
  }
  /// The double of a long's last eight fraction bits `low`, which follow those of `head`: `low`
  /// units of the 60th place. None if it is below 2^-1022: the kernels read a subnormal double as a
  /// zero without raising a flag. Composed of bits, since the caller may have set any
  /// floating-point mode.
  static std::optional<std::uint64_t> tail_of(std::uint64_t head, std::uint64_t low) {
    if (low == 0) return 0;
    const auto bits = static_cast<unsigned>(std::bit_width(low));
    const std::uint64_t field = (head & short_field) >> 52;
    if (field + bits <= 61) return std::nullopt;
    const std::uint64_t fraction = (low << (53 - bits)) & ((std::uint64_t{1} << 52) - 1);
    return (head & std::uint64_t{1} << 63) | (field + bits - 61) << 52 | fraction;
  }
  RowSpan constant(std::uint64_t head, std::uint64_t tail) {
    const RowSpan h = constant(head), t = constant(tail);
    return {h.lanes, t.lanes, true, 0};
  }
  RowSpan constant(std::uint64_t bits, ConstantRow::Kind kind = ConstantRow::Kind::Bits) {
    return constant_row(constants_, bits, kind);
  }

  DoublesOp& emit(DoublesKernel kernel, unsigned elements, const RowSpan& out, const RowSpan& a,
                  const RowSpan& b = no_rows) {
    RowOp o{{}, a, b, out};
    o.op.kernel = kernel;
    o.op.elements = elements;
    o.op.lanes = lanes_;
    o.kind = touches_memory(kernel) ? RowOpKind::Transfer : RowOpKind::Compute;
    o.origin.instruction = static_cast<std::uint32_t>(number_);
    ops_.push_back(o);
    return ops_.back().op;
  }
  void emit_check(unsigned elements, const RowSpan& rows) {
    emit(kernels_.check, elements, no_rows, rows);
    ops_.back().kind = RowOpKind::Check;
  }

  const DoublesKernels& kernels_;
  WordNumbers numbers_;
  std::uint32_t lanes_ = 0;  ///< lanes of a row
  std::size_t number_ = 0;   ///< index of the current instruction
  std::vector<RowOp> ops_;
  std::vector<ConstantRow> constants_;
};

}  // namespace gdr
