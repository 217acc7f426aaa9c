#include <algorithm>
#include <cstddef>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/x86/emit.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/codegen/to_ir.hpp"
#include "emulator/engine/native/codegen/x86/loop_code.hpp"
#include "emulator/engine/native/translate/rare_update.hpp"
#include "emulator/host/host_limits.hpp"

namespace gdr::native {
namespace {

/// Two work items share the loads of sources and hide each other's latencies. With 32 registers
/// they need to have all their values there, but for some where sources are vectors, whose loads
/// take longer; with 16 they spill in any case, and two are faster for nearly all kernels of the
/// library (measured). Gathers overlap without a second work item.
unsigned fastest_copies(const CodeContext& c, jit::ConstantPool& pool) {
  if (c.target.isa != Isa::Avx512) return c.kernel.reads_tables ? 1 : max_copies;
  const KernelCode& k = c.kernel;
  const bool loop = k.loops && k.has_effects();
  const unsigned all = ~0U;
  const unsigned pressure = loop ? to_ir(c, pool, k.unguarded.usable ? k.unguarded.loop : k.loop, 1,
                                         CarriedStores::Loop, all)
                                       .pressure
                                 : to_ir(c, pool, k.once, 1, CarriedStores::Next).pressure;
  const unsigned max_pressure = c.target.source_vectors ? 16 : 12;
  return pressure <= max_pressure ? max_copies : 1;
}

/// The function of a kernel.
class KernelEmitter {
 public:
  /// `copies`: work items per call; 0: the fastest number.
  KernelEmitter(Xbyak::CodeGenerator& generator, const CodeContext& context, unsigned copies)
      : a_(generator),
        c_(context),
        target_(vector_target(context.target)),
        pool_(target_, base_constants),
        copies_(copies != 0 ? copies : fastest_copies(context, pool_)),
        scheduler_(context, target_) {}

  void emit_function() {
    Xbyak::Label constants;
    const KernelCode& k = c_.kernel;
    const auto set_place = [&](std::uint32_t number) {
      return a_.ptr[base(base_items) + std::size_t{k.layout.set(number)}];
    };
    if (k.layout.lists != 0) save_scratch();
    const bool has_runs = k.loops && k.has_effects() && k.has_runs();
    if (has_runs) a_.mov(runs_, base(base_carried));
    a_.mov(base(base_constants), constants);
    a_.lea(base(base_carried), set_place(0));
    a_.lea(base(base_next), set_place(1));
    Xbyak::Label last_iteration;
    if (k.loops) iterations_before_last(last_iteration, has_runs);
    a_.L(last_iteration);
    straight(k.once, CarriedStores::Next);
    a_.vzeroupper();
    if (k.layout.lists != 0) restore_scratch();
    a_.ret();
    appends_.emit_paths();
    jit::embed(a_, constants, pool_.bytes());
  }
  unsigned copies() const { return copies_; }
  std::size_t spill_bytes() const {
    return spills_.slots * std::size_t{c_.kernel.layout.vector_bytes};
  }

 private:
  /// All iterations but the last one, if there are any: code jumps to `last_iteration` for a single
  /// one.
  void iterations_before_last(const Xbyak::Label& last_iteration, bool has_runs) {
    constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
    const KernelCode& k = c_.kernel;
    if (!k.has_effects()) {
      // Only the last iteration is observable.
      a_.dec(iterations_);
      a_.imul(iterations_, iterations_, static_cast<int>(c_.group_bytes()));
      a_.add(base(base_source), iterations_);
      return;
    }
    Xbyak::Label after_loop;
    a_.cmp(iterations_, 1);
    a_.jbe(last_iteration, near);
    straight(k.first, CarriedStores::Next);
    a_.xchg(base(base_carried), base(base_next));
    a_.add(base(base_source), c_.group_bytes());
    a_.sub(iterations_, 2);
    a_.jz(after_loop, near);
    if (has_runs)
      loop_runs();
    else
      loop(k.loop);
    a_.L(after_loop);
    straight(k.last, CarriedStores::InPlace);
  }
  void save_scratch() {
    for (const auto r : jit::AppendCode::scratch) a_.push(Xbyak::Reg64(r));
  }
  void restore_scratch() {
    for (auto r = jit::AppendCode::scratch.rbegin(); r != jit::AppendCode::scratch.rend(); ++r)
      a_.pop(Xbyak::Reg64(*r));
  }
  const Xbyak::Reg64& base(Base b) const { return bases_[b]; }
  void emit(const std::vector<jit::Instruction>& code) {
    jit::emit({a_, target_, bases_, {}, &appends_, target_.avx512 ? 7 : 15, leave_}, code);
  }

  void straight(const Segment& segment, CarriedStores stores) {
    const jit::Block block = to_ir(c_, pool_, segment, copies_, stores).block;
    emit(jit::allocate(block, target_, register_limits(target_, c_.kernel), spills_).body);
  }
  /// Iterations with conditions, then some without, and so on, as scheduled in the list of runs,
  /// which is not empty. Sums move to their totals where a block ends.
  void loop_runs() {
    constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
    const KernelCode& k = c_.kernel;
    const bool blocks = k.sums.count > 0;
    if (blocks) straight(k.sums.begin, CarriedStores::InPlace);
    Xbyak::Label next;
    a_.L(next);
    iterations_of_run(offsetof(LoopRun, guarded), k.loop);
    if (k.unguarded.usable) iterations_of_run(offsetof(LoopRun, free), k.unguarded.loop);
    if (blocks) {
      Xbyak::Label within;
      a_.cmp(a_.qword[runs_ + offsetof(LoopRun, ends_block)], 0);
      a_.je(within, near);
      straight(k.sums.move, CarriedStores::InPlace);
      a_.L(within);
    }
    a_.add(runs_, static_cast<int>(sizeof(LoopRun)));
    a_.mov(iterations_, a_.ptr[runs_ + offsetof(LoopRun, guarded)]);
    a_.or_(iterations_, a_.ptr[runs_ + offsetof(LoopRun, free)]);
    a_.jnz(next, near);
    if (blocks) straight(k.sums.finish, CarriedStores::InPlace);
  }
  /// The iterations of the current run whose number is at an offset.
  void iterations_of_run(std::size_t offset, const Segment& segment) {
    Xbyak::Label none;
    a_.mov(iterations_, a_.ptr[runs_ + offset]);
    a_.test(iterations_, iterations_);
    a_.jz(none, Xbyak::CodeGenerator::T_NEAR);
    loop(segment);
    a_.L(none);
  }
  /// `iterations_` iterations. Carried values are in the set base_carried before and after.
  void loop(const Segment& segment) {
    const Segment test = test_of_rare_update(segment, c_.kernel.carried_slot);
    if (!test.stores.empty()) return rare_updates(segment, test);
    // Carried values leave some registers for the work itself.
    const unsigned resident = (register_limits(target_, c_.kernel).vectors - 1) * 2 / 3 / copies_;
    const IrSegment ir = to_ir(c_, pool_, segment, copies_, CarriedStores::Loop, resident);
    const LoopCode code = scheduler_.loop(ir.block);
    Xbyak::Label end;
    if (code.iterations == 2) {
      Xbyak::Label even;
      a_.shr(iterations_, 1);
      a_.jnc(even, Xbyak::CodeGenerator::T_NEAR);
      one_iteration(scheduler_.plain_loop(ir.block));
      a_.L(even);
      a_.test(iterations_, iterations_);
      a_.jz(end, Xbyak::CodeGenerator::T_NEAR);
    }
    if (code.pipelined)
      pipelined_iterations(code);
    else
      iterations(code, ir.in_memory);
    a_.L(end);
  }
  /// Iterations of which only those are executed where the test holds in any lane. Carried values
  /// stay in memory.
  void rare_updates(const Segment& segment, const Segment& test) {
    constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
    Xbyak::Label top, update, next, end;
    a_.align(32);
    a_.L(top);
    leave_ = &update;
    straight(test, CarriedStores::InPlace);
    leave_ = nullptr;
    a_.L(next);
    fetch_ahead(1);
    next_group(1);
    a_.dec(iterations_);
    a_.jnz(top, near);
    a_.jmp(end, near);
    a_.L(update);
    straight(segment, CarriedStores::InPlace);
    a_.jmp(next, near);
    a_.L(end);
  }
  void one_iteration(const LoopCode& code) {
    spills_.slots = std::max(spills_.slots, code.spill_slots);
    emit(code.body.before);
    emit(code.body.body);
    next_group(1);
    emit(code.body.after);
  }
  void pipelined_iterations(const LoopCode& code) {
    Xbyak::Label last;
    emit(code.first.body);
    next_group(code.iterations);
    a_.dec(iterations_);
    a_.jz(last, Xbyak::CodeGenerator::T_NEAR);
    iterations(code, false);
    a_.L(last);
    emit(code.last.body);
  }
  /// `in_memory`: some carried values go from set to set.
  void iterations(const LoopCode& code, bool in_memory) {
    spills_.slots = std::max(spills_.slots, code.spill_slots);
    emit(code.body.before);
    a_.align(32);
    Xbyak::Label top;
    a_.L(top);
    emit(code.body.body);
    fetch_ahead(code.iterations);
    next_group(code.iterations);
    if (in_memory) a_.xchg(base(base_carried), base(base_next));
    a_.dec(iterations_);
    a_.jnz(top, Xbyak::CodeGenerator::T_NEAR);
    emit(code.body.after);
  }
  void next_group(unsigned groups) { a_.add(base(base_source), groups * c_.group_bytes()); }

  /// The host's prefetcher stops at page boundaries, and many sources are not in the caches next to
  /// the core: 4 to 10 % of the speed of two threads (for distances of 512 bytes to 4 KB).
  void fetch_ahead(unsigned groups) {
    constexpr int ahead = 2048, line = 64;
    for (int at = 0; at < static_cast<int>(groups * c_.group_bytes()); at += line)
      a_.prefetcht0(a_.ptr[base(base_source) + ahead + at]);
  }

  Xbyak::CodeGenerator& a_;
  const CodeContext& c_;
  jit::VectorTarget target_;
  jit::ConstantPool pool_;
  unsigned copies_;
  LoopScheduler scheduler_;
  jit::SpillArea spills_{base_spills, 0, 0};
  /// The function's arguments are items, source, uniforms, iterations, spills and runs, which moves
  /// to `runs_`.
  const Xbyak::Reg64 iterations_ = a_.rcx, runs_ = a_.rax;
  const std::array<Xbyak::Reg64, base_count> bases_{a_.rdi, a_.rsi, a_.rdx, a_.r8,
                                                    a_.r9,  a_.r10, a_.r11};
  jit::AppendCode appends_{a_, target_, bases_};
  Xbyak::Label* leave_ = nullptr;  ///< where a test jumps to
};

}  // namespace

CompiledKernel compile_kernel(const CodeContext& context, std::uint32_t copies) {
  try {
    // Writable during generation, then executable and no longer writable.
    const auto generator = std::make_shared<Xbyak::CodeGenerator>(4096, Xbyak::AutoGrow);
    KernelEmitter emitter(*generator, context, copies);
    emitter.emit_function();
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    return {generator->getCode<KernelFunction>(), emitter.copies(), generator->getSize(),
            emitter.spill_bytes(), generator};
  } catch (const Xbyak::Error& e) {
    if (!can_execute_generated_code()) throw Unsupported("no machine code can be generated");
    throw Unsupported(std::string("the code generator failed: ") + e.what());
  }
}

}  // namespace gdr::native
