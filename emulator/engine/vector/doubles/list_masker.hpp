// One list of operations without those of dead lanes (lane_liveness.hpp).
#pragma once

#include <bit>
#include <map>
#include <tuple>
#include <vector>

#include "emulator/engine/vector/doubles/list_facts.hpp"

namespace gdr {

/// Constants and rows added to a program.
class RowSupply {
 public:
  explicit RowSupply(RowProgram& program) : constants_(program.constants) {}

  /// A harmless number: a short, or a long without a tail. It varies, so that differences are not
  /// 0.
  RowSpan number(bool has_tail) {
    const double x = 1 + 0.125 * (next_number_++ % 8);
    const RowSpan head = constant(std::bit_cast<std::uint64_t>(x));
    return has_tail ? RowSpan{head.lanes, constant(0).lanes, true, 0} : head;
  }
  RowSpan constant(std::uint64_t bits) { return constant_row(constants_, bits); }
  RowSpan strip(bool has_tail, std::uint32_t elements) {
    const RowSpan span{
        {RowKind::Scratch, next_row_}, {RowKind::Scratch, next_row_ + elements}, has_tail, 1};
    next_row_ += (has_tail ? 2 : 1) * elements;
    return span;
  }

 private:
  static constexpr std::uint32_t first_row = 64;  ///< first row after the translator's own
  std::vector<ConstantRow>& constants_;
  unsigned next_number_ = 0;
  std::uint32_t next_row_ = first_row;
};

/// out = mask == value ? from : other.
RowOp choice(const DoublesKernels& kernels, const RowSpan& mask, bool value, const RowSpan& from,
             const RowSpan& out, const RowSpan& other, const RowOp& like);

/// Replaces operands in dead lanes by harmless numbers, removes dead operations, and computes masks
/// earlier where that makes lanes dead.
class ListMasker {
 public:
  /// `guarded`: dead lanes of the rows before the list may hold anything.
  ListMasker(const ListLiveness& list, const RowNumbering& rows, RowSupply& supply,
             const DoublesKernels& kernels, bool guarded);

  std::vector<RowOp> changed() &&;

 private:
  void emit(std::size_t n);
  bool only_for_early(std::size_t n) const;
  void drop_dead_old_values(std::size_t n, RowOp& o);
  void guard_operands(std::size_t n, RowOp& o);
  void guard_operand(std::size_t n, const RowOp& o, RowSpan& operand,
                     ValueSite ElementLiveness::*site, Literal l);
  bool is_left_over(const RowSpan& operand, ValueSite value, std::uint32_t k, Literal mask) const;
  void check(const RowOp& like, const RowSpan& rows);
  RowSpan mask_of(Literal l, std::uint32_t elements);
  bool still(const RowSpan& span, ValueSite first, std::uint32_t elements) const;
  bool compute_early(std::size_t n);
  bool compute_operand_early(std::size_t n, RowSpan& operand, ValueSite ElementLiveness::*site);

  const ListFacts facts_;
  RowSupply& supply_;
  const DoublesKernels& kernels_;
  const bool guarded_;
  std::vector<ValueSite> now_;  ///< definition of the present value of each row
  std::vector<bool> made_;      ///< whether each operation is emitted
  std::vector<RowSpan> early_;  ///< rows of the early result of each operation
  /// By rows, literal and definitions: the rows with dead lanes replaced.
  std::map<std::tuple<RowId, RowId, Literal, std::vector<ValueSite>>, RowSpan> chosen_;
  std::vector<RowOp> out_;
};

}  // namespace gdr
