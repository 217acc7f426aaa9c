#include <algorithm>
#include <cstddef>
#include <optional>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/order.hpp"
#include "emulator/engine/jit/pipeline.hpp"
#include "emulator/engine/jit/x86/emit.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/codegen/to_ir.hpp"
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

/// Instructions without moves between registers, which hosts execute by renaming.
std::size_t cost_of(const std::vector<jit::Instruction>& code) {
  return static_cast<std::size_t>(std::ranges::count_if(code, [](const jit::Instruction& i) {
    return i.op != jit::Op::Load || i.a.kind == jit::Location::Kind::Memory;
  }));
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
        copies_(copies != 0 ? copies : fastest_copies(context, pool_)) {}

  void emit_function() {
    constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
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
    Xbyak::Label last_pass, after_loop;
    if (k.loops && k.has_effects()) {
      a_.cmp(passes_, 1);
      a_.jbe(last_pass, near);
      straight(k.first, CarriedStores::Next);
      a_.xchg(base(base_carried), base(base_next));
      a_.add(base(base_source), c_.group_bytes());
      a_.sub(passes_, 2);
      a_.jz(after_loop, near);
      if (has_runs)
        loop_runs();
      else
        loop(k.loop);
      a_.L(after_loop);
      straight(k.last, CarriedStores::InPlace);
    } else if (k.loops) {
      // Only the last pass is observable.
      a_.dec(passes_);
      a_.imul(passes_, passes_, static_cast<int>(c_.group_bytes()));
      a_.add(base(base_source), passes_);
    }
    a_.L(last_pass);
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
  void save_scratch() {
    for (const auto r : jit::AppendCode::scratch) a_.push(Xbyak::Reg64(r));
  }
  void restore_scratch() {
    for (auto r = jit::AppendCode::scratch.rbegin(); r != jit::AppendCode::scratch.rend(); ++r)
      a_.pop(Xbyak::Reg64(*r));
  }
  const Xbyak::Reg64& base(Base b) const { return bases_[b]; }
  /// The last mask register, on AVX2 the last vector, is that of gathers.
  jit::RegisterLimits limits() const {
    const unsigned kept = c_.kernel.reads_tables ? 1 : 0;
    if (target_.avx512) return {32, 8 - kept};
    return {16 - kept, 8};
  }
  jit::AllocatedBlock allocated(const jit::Block& block, jit::SpillArea& spills) const {
    return jit::allocate(block, target_, limits(), spills);
  }
  void emit(const std::vector<jit::Instruction>& code) {
    jit::emit({a_, target_, bases_, {}, &appends_, target_.avx512 ? 7 : 15}, code);
  }

  /// A loop's passes: all alike, or with straight code before and behind them.
  struct LoopCode {
    jit::AllocatedBlock first, body, last;
    bool pipelined = false;
    std::uint32_t spill_slots = 0;
    unsigned passes = 1;  ///< passes of the loop in one of `body`
  };

  /// In an order for few registers, or for latencies: hosts look some hundred instructions ahead,
  /// and the nearer independent operations are, the better they overlap. That is worth some
  /// spilling, less with 32 registers, where spilled values are many. The limits and the window
  /// were measured on the kernels of the library.
  LoopCode plain_loop(const jit::Block& block) const {
    constexpr std::size_t window = 24;
    const double limit = target_.avx512 ? 1.05 : 1.13;
    jit::Block ordered = block;
    jit::order_for_latency(ordered, window);
    jit::SpillArea spills{base_spills, 0, 0}, few_spills = spills;
    jit::AllocatedBlock overlapped = allocated(ordered, spills);
    jit::AllocatedBlock plain = allocated(block, few_spills);
    const auto cost = static_cast<double>(cost_of(overlapped.body));
    const bool spills_too_much = cost > limit * static_cast<double>(cost_of(plain.body));
    LoopCode made;
    made.body = std::move(spills_too_much ? plain : overlapped);
    made.spill_slots = (spills_too_much ? few_spills : spills).slots;
    return made;
  }

  /// With 32 registers most loops can be pipelined without many more instructions. A pass that is
  /// too long for two stages is with the next one a pass that is not.
  LoopCode loop_code(const jit::Block& block) const {
    LoopCode plain = plain_loop(block);
    if (!target_.avx512) return plain;
    if (std::optional<LoopCode> made = pipelined_loop(block, 1, plain)) return *std::move(made);
    const jit::Block two = jit::two_passes(block, [&](jit::Place p) { return moved(p, 1); });
    if (std::optional<LoopCode> made = pipelined_loop(two, 2, plain)) return *std::move(made);
    return plain;
  }

  /// `block`: a number of passes of the loop whose plain code is `plain`. The limits were measured
  /// on the kernels of the library.
  std::optional<LoopCode> pipelined_loop(const jit::Block& block, unsigned passes,
                                         const LoopCode& plain) const {
    constexpr double max_instructions = 1.2;
    constexpr std::size_t registers_for_work = 3;
    std::optional<LoopCode> best;
    double least = max_instructions * passes * static_cast<double>(cost_of(plain.body.body));
    for (const jit::PipelineSchedule& schedule : jit::pipeline_schedules(block)) {
      // What passes leave each other is in registers, and the work itself needs some.
      if (block.carried.size() + schedule.crossing.size() + registers_for_work > limits().vectors)
        continue;
      LoopCode made = scheduled_loop(schedule, passes);
      const auto cost = static_cast<double>(cost_of(made.body.body));
      if (cost >= least) continue;
      best = std::move(made);
      least = cost;
    }
    return best;
  }

  /// The place that some passes later is at p.
  jit::Place moved(jit::Place p, int passes) const {
    if (p.base == base_source) p.offset += passes * static_cast<std::int32_t>(c_.group_bytes());
    return p;
  }

  LoopCode scheduled_loop(const jit::PipelineSchedule& schedule, unsigned passes) const {
    const auto vector_bytes = static_cast<std::int32_t>(c_.kernel.layout.vector_bytes);
    const auto earlier = [&](jit::Place p) { return moved(p, -static_cast<int>(passes)); };
    const auto place = [&](std::size_t k) {
      return jit::Place{base_spills, false, static_cast<std::int32_t>(k) * vector_bytes};
    };
    const jit::PipelinedLoop parts = jit::pipelined(schedule, earlier, place);
    const std::size_t crossing = schedule.crossing.size();
    jit::SpillArea spills{base_spills, place(crossing).offset, 0};
    LoopCode made{allocated(parts.first, spills),
                  allocated(parts.loop, spills),
                  allocated(parts.last, spills),
                  true,
                  0,
                  passes};
    made.spill_slots = static_cast<std::uint32_t>(crossing) + spills.slots;
    return made;
  }

  void straight(const Segment& segment, CarriedStores stores) {
    emit(allocated(to_ir(c_, pool_, segment, copies_, stores).block, spills_).body);
  }
  /// Passes with conditions, then some without, and so on, as scheduled in the list of runs, which
  /// is not empty. Sums move to their totals where a block ends.
  void loop_runs() {
    constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
    const KernelCode& k = c_.kernel;
    const bool blocks = k.sums.count > 0;
    if (blocks) straight(k.sums.begin, CarriedStores::InPlace);
    Xbyak::Label next;
    a_.L(next);
    passes_of_run(offsetof(LoopRun, guarded), k.loop);
    if (k.unguarded.usable) passes_of_run(offsetof(LoopRun, free), k.unguarded.loop);
    if (blocks) {
      Xbyak::Label within;
      a_.cmp(a_.qword[runs_ + offsetof(LoopRun, ends_block)], 0);
      a_.je(within, near);
      straight(k.sums.move, CarriedStores::InPlace);
      a_.L(within);
    }
    a_.add(runs_, static_cast<int>(sizeof(LoopRun)));
    a_.mov(passes_, a_.ptr[runs_ + offsetof(LoopRun, guarded)]);
    a_.or_(passes_, a_.ptr[runs_ + offsetof(LoopRun, free)]);
    a_.jnz(next, near);
    if (blocks) straight(k.sums.finish, CarriedStores::InPlace);
  }
  /// The passes of the current run whose number is at an offset.
  void passes_of_run(std::size_t offset, const Segment& segment) {
    Xbyak::Label none;
    a_.mov(passes_, a_.ptr[runs_ + offset]);
    a_.test(passes_, passes_);
    a_.jz(none, Xbyak::CodeGenerator::T_NEAR);
    loop(segment);
    a_.L(none);
  }
  /// `passes_` passes. Carried values are in the set base_carried before and after.
  void loop(const Segment& segment) {
    // Carried values leave some registers for the work itself.
    const unsigned resident = (limits().vectors - 1) * 2 / 3 / copies_;
    const IrSegment ir = to_ir(c_, pool_, segment, copies_, CarriedStores::Loop, resident);
    const LoopCode code = loop_code(ir.block);
    Xbyak::Label end;
    if (code.passes == 2) {
      Xbyak::Label even;
      a_.shr(passes_, 1);
      a_.jnc(even, Xbyak::CodeGenerator::T_NEAR);
      one_pass(plain_loop(ir.block));
      a_.L(even);
      a_.test(passes_, passes_);
      a_.jz(end, Xbyak::CodeGenerator::T_NEAR);
    }
    if (code.pipelined)
      pipelined_passes(code);
    else
      passes(code, ir.in_memory);
    a_.L(end);
  }
  void one_pass(const LoopCode& code) {
    spills_.slots = std::max(spills_.slots, code.spill_slots);
    emit(code.body.before);
    emit(code.body.body);
    next_group(1);
    emit(code.body.after);
  }
  void pipelined_passes(const LoopCode& code) {
    Xbyak::Label last;
    emit(code.first.body);
    next_group(code.passes);
    a_.dec(passes_);
    a_.jz(last, Xbyak::CodeGenerator::T_NEAR);
    passes(code, false);
    a_.L(last);
    emit(code.last.body);
  }
  /// `in_memory`: some carried values go from set to set.
  void passes(const LoopCode& code, bool in_memory) {
    spills_.slots = std::max(spills_.slots, code.spill_slots);
    emit(code.body.before);
    a_.align(32);
    Xbyak::Label top;
    a_.L(top);
    emit(code.body.body);
    fetch_ahead(code.passes);
    next_group(code.passes);
    if (in_memory) a_.xchg(base(base_carried), base(base_next));
    a_.dec(passes_);
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
  jit::SpillArea spills_{base_spills, 0, 0};
  /// The function's arguments are items, source, uniforms, passes, spills and runs, which moves to
  /// `runs_`.
  const Xbyak::Reg64 passes_ = a_.rcx, runs_ = a_.rax;
  const std::array<Xbyak::Reg64, base_count> bases_{a_.rdi, a_.rsi, a_.rdx, a_.r8,
                                                    a_.r9,  a_.r10, a_.r11};
  jit::AppendCode appends_{a_, target_, bases_};
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
