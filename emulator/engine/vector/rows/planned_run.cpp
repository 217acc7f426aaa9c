#include "emulator/engine/vector/rows/planned_run.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "emulator/engine/reference/reference.hpp"
#include "emulator/engine/vector/rows/block_rows.hpp"
#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

/// Executes instructions on one block.
class BlockRunner {
 public:
  BlockRunner(BlockState& block, const PlannedProgram& program, const StripKernels& kernels,
              const BlockRun& run)
      : block_(block), kernels_(kernels), rows_(block, program, run), pes_(block.pes) {}

  /// Finds the rows of all operands once: they are the same for every j-item.
  void resolve(const std::vector<Plan>& plans) {
    strip_memory.clear();
    for (const Plan& plan : plans) {
      strip_memory.push_back(plan.mul.used ? rows_.strip(*plan.instruction, plan.mul) : Strip{});
      strip_memory.push_back(plan.alu.used ? rows_.strip(*plan.instruction, plan.alu) : Strip{});
    }
  }

  /// The section for the current j-item.
  void run_once(const std::vector<Plan>& plans) const {
    const Strip* strips = strip_memory.data();
    for (const Plan& plan : plans) {
      if (plan.in_place) {
        run_in_place(plan, strips);
      } else {
        run_staged(plan, strips);
      }
      strips += 2;
    }
  }

  void advance(const BlockRun& run) { rows_.advance(run); }

 private:
  /// Computes a slot on its strip; `flags` are the rows for its mask flag, if it sets one.
  void compute(const Instruction& i, const Arithmetic& slot, const ArithmeticPlan& plan,
               const Strip& s, std::uint64_t* flags) const {
    const bool sets_mask = slot.mask.flag != MaskFlag::None;
    if (plan.kernel == nullptr) {
      scalar_strip(slot, s, sets_mask ? flags : nullptr);
      return;
    }
    plan.kernel(s);
    if (!sets_mask) return;
    const RowTest test = row_test(slot);
    for (unsigned k = 0; k < i.vlen; ++k) {
      kernels_.mask(test, s.out.hi + k * s.out.step, s.out.lo + k * s.out.step, flags + k * pes_,
                    pes_);
    }
  }

  static RowTest row_test(const Arithmetic& slot) {
    const bool negative = slot.mask.flag == MaskFlag::Negative;
    if (info(slot.op).unit != Unit::Integer) {
      return negative ? RowTest::FloatNegative : RowTest::FloatZero;
    }
    if (slot.width == Width::Short) return negative ? RowTest::ShortNegative : RowTest::ShortZero;
    return negative ? RowTest::LongNegative : RowTest::LongZero;
  }

  // --- instructions with results in place

  void run_in_place(const Plan& plan, const Strip* strips) const {
    const Instruction& i = *plan.instruction;
    if (plan.mul.used && !plan.adder_first) in_place_slot(i, i.mul, plan.mul, strips[0]);
    if (plan.alu.used) in_place_slot(i, i.alu, plan.alu, strips[1]);
    if (plan.mul.used && plan.adder_first) in_place_slot(i, i.mul, plan.mul, strips[0]);
    if (i.move.op == Op::Bget) {
      const Operand& x = i.move.pe;
      const std::size_t vector_step = x.vector ? shorts_in(x.width) * pes_ : 0;
      fill(i, i.vlen, 0, rows_.location_row(x, 0), x.space == Space::T ? 2 * pes_ : vector_step);
    }
    if (i.move.op != Op::Bput) return;
    for (unsigned k = 0; k < i.vlen; ++k) {
      const u128 word = read_location(block_, i.move.pe, i.move.pe_number, k);
      write_bm(block_, rows_.bm_address(i.move.bm, k), i.move.bm.width, word);
    }
  }

  void in_place_slot(const Instruction& i, const Arithmetic& slot, const ArithmeticPlan& plan,
                     const Strip& s) const {
    compute(i, slot, plan, s, rows_.mask_row(slot.mask.mask, 0));
    // The kernel has written one destination; T may be a second one.
    if (slot.t == TTarget::None || (plan.direct && !slot.dst.used())) return;
    for (unsigned k = 0; k < i.vlen; ++k)
      std::copy_n(rows_.result_row(plan, k), pes_ * shorts_in(slot.width), rows_.t_row(slot.t, k));
  }

  /// Broadcasts words of `elements` elements from `first` on to rows.
  void fill(const Instruction& i, unsigned elements, unsigned first, std::uint64_t* to,
            std::size_t to_step) const {
    const unsigned shorts = shorts_in(i.move.bm.width);
    kernels_.fill({.elements = elements,
                   .rows = shorts,
                   .pes = pes_,
                   .words = block_.bm.data() + rows_.bm_address(i.move.bm, first),
                   .word_step = i.move.bm.vector ? shorts : 0U,
                   .to = to,
                   .to_step = to_step});
  }

  // --- instructions with a predicate, T-indirect addresses or overlaps: all reads, then all writes

  void run_staged(const Plan& plan, const Strip* strips) const {
    const Instruction& i = *plan.instruction;
    // A copy, since the instruction may write the mask that is its predicate.
    std::uint64_t* predicate = nullptr;
    if (i.predicate.used) {
      predicate = rows_.row(RowBase::Scratch, ScratchRows::predicate);
      std::copy_n(rows_.mask_row(i.predicate.mask, 0), pes_ * i.vlen, predicate);
    }
    for (const Gather& g : plan.gathers) gather(i, g);
    const Operand* targets[3] = {&i.mul.dst, &i.alu.dst, &i.move.pe};
    for (unsigned t = 0; t < 3; ++t) {
      if (targets[t]->space == Space::LocalByT) find_addresses(i, *targets[t], t);
    }
    std::uint64_t* flags = rows_.row(RowBase::Scratch, ScratchRows::flags);
    if (plan.mul.used) compute(i, i.mul, plan.mul, strips[0], nullptr);
    if (plan.alu.used) compute(i, i.alu, plan.alu, strips[1], flags);
    std::array<u128, max_elements> put{};
    if (i.move.op == Op::Bput) {
      for (unsigned k = 0; k < i.vlen; ++k)
        put[k] = read_location(block_, i.move.pe, i.move.pe_number, k);
    }
    for (unsigned k = 0; k < i.vlen; ++k) {
      if (plan.mul.used) commit_slot(i, i.mul, plan.mul, 0, predicate, k);
      if (plan.alu.used) commit_slot(i, i.alu, plan.alu, 1, predicate, k);
      if (i.alu.mask.flag != MaskFlag::None)
        write_rows(i, predicate, flags + k * pes_, rows_.mask_row(i.alu.mask.mask, k), 1);
      if (i.move.op == Op::Bget) {
        // Through the multiplier's scratch rows, which are free by now.
        std::uint64_t* from = rows_.row(RowBase::Scratch, ScratchRows::mul + 2 * k);
        fill(i, 1, k, from, 0);
        write_location_rows(i, i.move.pe, 2, predicate, from, k);
      }
      if (i.move.op == Op::Bput &&
          (predicate == nullptr || (predicate[i.move.pe_number] != 0) == i.predicate.value))
        write_bm(block_, rows_.bm_address(i.move.bm, k), i.move.bm.width, put[k]);
      if (predicate != nullptr) predicate += pes_;
    }
  }

  void gather(const Instruction& i, const Gather& g) const {
    const bool wide = g.operand->width == Width::Long;
    for (unsigned k = 0; k < i.vlen; ++k) {
      std::uint64_t* hi = rows_.row(RowBase::Scratch, g.row + 2 * k);
      for (std::size_t pe = 0; pe < pes_; ++pe) {
        const u128 word = read_location(block_, *g.operand, static_cast<unsigned>(pe), k);
        hi[pe] = static_cast<std::uint64_t>(wide ? word >> Short::bit_count : word);
        hi[pes_ + pe] = wide ? static_cast<std::uint64_t>(word) & Short::mask : 0;
      }
    }
  }

  /// Rows of a T-indirect destination, evaluated before T changes.
  void find_addresses(const Instruction& i, const Operand& x, unsigned target) const {
    const std::size_t unit = shorts_in(x.width);
    const std::size_t words = block_.local.size() / pes_ / unit;
    for (unsigned k = 0; k < i.vlen; ++k) {
      const std::uint64_t* t = rows_.row(RowBase::T, k * 2 + 1);
      std::uint64_t* to = rows_.address_row(target, k);
      for (std::size_t pe = 0; pe < pes_; ++pe) to[pe] = t[pe] % words * unit;
    }
  }

  void commit_slot(const Instruction& i, const Arithmetic& slot, const ArithmeticPlan& plan,
                   unsigned target, const std::uint64_t* predicate, unsigned k) const {
    const std::uint64_t* from = rows_.result_row(plan, k);
    if (slot.dst.used()) write_location_rows(i, slot.dst, target, predicate, from, k);
    if (slot.t != TTarget::None)
      write_rows(i, predicate, from, rows_.t_row(slot.t, k), shorts_in(slot.width));
  }

  void write_location_rows(const Instruction& i, const Operand& dst, unsigned target,
                           const std::uint64_t* predicate, const std::uint64_t* from,
                           unsigned k) const {
    const unsigned rows = shorts_in(dst.width);
    if (dst.space != Space::LocalByT)
      return write_rows(i, predicate, from, rows_.location_row(dst, k), rows);
    const std::uint64_t* to = rows_.address_row(target, k);
    for (std::size_t pe = 0; pe < pes_; ++pe) {
      if (predicate != nullptr && (predicate[pe] != 0) != i.predicate.value) continue;
      for (unsigned r = 0; r < rows; ++r)
        block_.local[(to[pe] + r) * pes_ + pe] = from[r * pes_ + pe];
    }
  }

  /// Consecutive rows of an element, in the lanes that the predicate selects.
  void write_rows(const Instruction& i, const std::uint64_t* predicate, const std::uint64_t* from,
                  std::uint64_t* to, unsigned rows) const {
    if (predicate == nullptr) {
      std::copy_n(from, rows * pes_, to);
    } else {
      kernels_.blend({rows, pes_, predicate, i.predicate.value, from, to});
    }
  }

  static thread_local std::vector<Strip> strip_memory;  ///< two for each plan: multiplier, adder

  BlockState& block_;
  const StripKernels& kernels_;
  BlockRows rows_;
  std::size_t pes_;
};

thread_local std::vector<Strip> BlockRunner::strip_memory;

}  // namespace

void run_planned(BlockState& block, const PlannedProgram& program, const StripKernels& kernels,
                 const BlockRun& run) {
  BlockRunner runner(block, program, kernels, run);
  const std::vector<Plan>& plans = program.sections[static_cast<unsigned>(run.section)];
  runner.resolve(plans);
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    runner.run_once(plans);
    runner.advance(run);
  }
}

}  // namespace gdr
