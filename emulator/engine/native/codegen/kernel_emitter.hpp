// The function of a kernel: loops and branches around the code of its segments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/codegen/loop_code.hpp"
#include "emulator/engine/native/codegen/to_ir.hpp"
#include "emulator/engine/native/translate/rare_update.hpp"

namespace gdr::native {

/// Registers of the function that are no vectors: the base pointers, then two others.
enum Scalar : std::uint8_t {
  scalar_iterations = base_count,  ///< iterations that are left
  scalar_runs,                     ///< the current LoopRun
  scalar_count
};

/// Emits the function through a Host, which has the instructions for scalars and labels of one
/// architecture (x86/compile.cpp, arm64/assemble.cpp).
template <typename Host>
class KernelEmitter {
 public:
  /// `copies`: work items per call; 0: the fastest number.
  KernelEmitter(Host& host, const CodeContext& context, unsigned copies)
      : h_(host),
        c_(context),
        target_(vector_target(context.target)),
        pool_(target_, base_constants),
        copies_(copies != 0 ? copies : fastest_copies(context, pool_)),
        scheduler_(context, target_) {}

  void emit_function() {
    Label constants;
    const KernelCode& k = c_.kernel;
    h_.begin();
    const bool has_runs = k.loops && k.has_effects() && k.has_runs();
    if (has_runs) h_.take_runs();
    h_.address(base_constants, constants);
    h_.address(base_carried, base_items, k.layout.set(0));
    h_.address(base_next, base_items, k.layout.set(1));
    Label last_iteration;
    if (k.loops) iterations_before_last(last_iteration, has_runs);
    h_.bind(last_iteration);
    straight(k.once, CarriedStores::Next);
    h_.end(constants, pool_.bytes());
  }
  unsigned copies() const { return copies_; }
  /// Iterations of the kernel's loop in one of the last loop that was emitted.
  unsigned groups_in_loop() const { return groups_in_loop_; }
  std::size_t spill_bytes() const {
    return spills_.slots * std::size_t{c_.kernel.layout.vector_bytes};
  }

 private:
  using Label = typename Host::Label;

  /// All iterations but the last one, if there are any: code jumps to `last_iteration` for a single
  /// one.
  void iterations_before_last(Label& last_iteration, bool has_runs) {
    const KernelCode& k = c_.kernel;
    if (!k.has_effects()) return h_.skip_to_last(c_.group_bytes());  // only that one is observable
    Label after_loop;
    h_.jump_unless_above_one(scalar_iterations, last_iteration);
    straight(k.first, CarriedStores::Next);
    h_.exchange(base_carried, base_next);
    h_.add(base_source, c_.group_bytes());
    h_.subtract_or_jump(scalar_iterations, 2, after_loop);
    if (has_runs)
      loop_runs();
    else
      loop(k.loop);
    h_.bind(after_loop);
    straight(k.last, CarriedStores::InPlace);
  }

  void emit(const std::vector<jit::Instruction>& code) { h_.emit(code, leave_); }
  void straight(const Segment& segment, CarriedStores stores) {
    const jit::Block block = to_ir(c_, pool_, segment, copies_, stores).block;
    emit(jit::allocate(block, target_, register_limits(target_, c_.kernel), spills_).body);
  }
  /// Iterations with conditions, then some without, and so on, as scheduled in the list of runs,
  /// which is not empty. Sums move to their totals where a block ends.
  void loop_runs() {
    const KernelCode& k = c_.kernel;
    const bool blocks = k.sums.count > 0;
    if (blocks) straight(k.sums.begin, CarriedStores::InPlace);
    Label next;
    h_.bind(next);
    iterations_of_run(offsetof(LoopRun, guarded), k.loop);
    if (k.unguarded.usable) iterations_of_run(offsetof(LoopRun, free), k.unguarded.loop);
    if (blocks) {
      Label within;
      h_.jump_if_zero_at(scalar_runs, offsetof(LoopRun, ends_block), within);
      straight(k.sums.move, CarriedStores::InPlace);
      h_.bind(within);
    }
    h_.next_run(sizeof(LoopRun));
    h_.jump_unless_both_zero_at(scalar_runs, offsetof(LoopRun, guarded), offsetof(LoopRun, free),
                                next);
    if (blocks) straight(k.sums.finish, CarriedStores::InPlace);
  }
  /// The iterations of the current run whose number is at an offset.
  void iterations_of_run(std::size_t offset, const Segment& segment) {
    Label none;
    h_.load(scalar_iterations, scalar_runs, offset);
    h_.jump_if_zero(scalar_iterations, none);
    loop(segment);
    h_.bind(none);
  }
  /// As many iterations as are left. Carried values are in the set base_carried before and after.
  void loop(const Segment& segment) {
    const Segment test = test_of_rare_update(segment, c_.kernel.carried_slot);
    if (!test.stores.empty()) return rare_updates(segment, test);
    // Carried values leave some registers for the work itself.
    const unsigned resident = (register_limits(target_, c_.kernel).vectors - 1) * 2 / 3 / copies_;
    const IrSegment ir = to_ir(c_, pool_, segment, copies_, CarriedStores::Loop, resident);
    const LoopCode code = scheduler_.loop(ir.block);
    Label end;
    if (code.iterations == 2) {
      Label even;
      h_.halve_and_jump_if_even(scalar_iterations, even);
      one_iteration(scheduler_.plain_loop(ir.block));
      h_.bind(even);
      h_.jump_if_zero(scalar_iterations, end);
    }
    if (code.pipelined)
      pipelined_iterations(code);
    else
      iterations(code, ir.in_memory);
    h_.bind(end);
  }
  /// Iterations of which only those are executed where the test holds in any lane. Carried values
  /// stay in memory.
  void rare_updates(const Segment& segment, const Segment& test) {
    Label top, update, next, end;
    groups_in_loop_ = 1;
    h_.align();
    h_.bind(top);
    leave_ = &update;
    straight(test, CarriedStores::InPlace);
    leave_ = nullptr;
    h_.bind(next);
    fetch_ahead(1);
    next_group(1);
    h_.repeat(scalar_iterations, top);
    h_.jump(end);
    h_.bind(update);
    straight(segment, CarriedStores::InPlace);
    h_.jump(next);
    h_.bind(end);
  }
  void one_iteration(const LoopCode& code) {
    spills_.slots = std::max(spills_.slots, code.spill_slots);
    emit(code.body.before);
    emit(code.body.body);
    next_group(1);
    emit(code.body.after);
  }
  void pipelined_iterations(const LoopCode& code) {
    Label last;
    emit(code.first.body);
    next_group(code.iterations);
    h_.subtract_or_jump(scalar_iterations, 1, last);
    iterations(code, false);
    h_.bind(last);
    emit(code.last.body);
  }
  /// `in_memory`: some carried values go from set to set.
  void iterations(const LoopCode& code, bool in_memory) {
    spills_.slots = std::max(spills_.slots, code.spill_slots);
    groups_in_loop_ = code.iterations;
    emit(code.body.before);
    h_.align();
    Label top;
    h_.bind(top);
    emit(code.body.body);
    fetch_ahead(code.iterations);
    next_group(code.iterations);
    if (in_memory) h_.exchange(base_carried, base_next);
    h_.repeat(scalar_iterations, top);
    emit(code.body.after);
  }
  void next_group(unsigned groups) { h_.add(base_source, groups * c_.group_bytes()); }

  /// The host's prefetcher stops at page boundaries, and many sources are not in the caches next to
  /// the core: 4 to 10 % of the speed of two threads (for distances of 512 bytes to 4 KB).
  void fetch_ahead(unsigned groups) {
    constexpr int ahead = 2048, line = 64;
    for (int at = 0; at < static_cast<int>(groups * c_.group_bytes()); at += line)
      h_.prefetch(base_source, ahead + at);
  }

  Host& h_;
  const CodeContext& c_;
  jit::VectorTarget target_;
  jit::ConstantPool pool_;
  unsigned copies_;
  unsigned groups_in_loop_ = 1;
  LoopScheduler scheduler_;
  jit::SpillArea spills_{base_spills, 0, 0};
  Label* leave_ = nullptr;  ///< target of a test's jump
};

}  // namespace gdr::native
