#include <algorithm>

#include "emulator/engine/native/x86/emit.hpp"

namespace gdr::native {
namespace {

/// The whole function, without its constants.
void emit_function(FunctionContext& c) {
  Xbyak::CodeGenerator& a = c.a;
  constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
  const KernelCode& k = c.kernel;
  const auto set_place = [&](std::uint32_t number) {
    return a.ptr[c.items + static_cast<std::int32_t>(k.layout.set(number))];
  };
  a.lea(c.carried, set_place(0));
  a.lea(c.next, set_place(1));
  Xbyak::Label last_pass, after_loop;
  if (k.loops && !k.carried_slot.empty()) {
    a.cmp(c.passes, 1);
    a.jbe(last_pass, near);
    emit_straight(c, k.first, false);
    a.xchg(c.carried, c.next);
    a.add(c.source, c.group_bytes());
    a.sub(c.passes, 2);
    a.jz(after_loop, near);
    emit_loop(c, k.loop);
    a.L(after_loop);
    emit_straight(c, k.last, true);
  } else if (k.loops) {
    // Nothing is handed on: only the last pass counts.
    a.dec(c.passes);
    a.imul(c.passes, c.passes, static_cast<int>(c.group_bytes()));
    a.add(c.source, c.passes);
  }
  a.L(last_pass);
  emit_straight(c, k.once, false);
  a.vzeroupper();
  a.ret();
}

}  // namespace

CompiledKernel compile_kernel(const KernelCode& code, Target target, const WordTable& source_words,
                              const WordTable& uniform_words, std::uint32_t copies) {
  try {
    // Writable while it is made, then executable and no longer writable.
    const auto generator = std::make_shared<Xbyak::CodeGenerator>(4096, Xbyak::AutoGrow);
    Interleaving interleaving = choose_interleaving(code, target);
    if (copies != 0) interleaving = {copies, std::min(copies, interleaving.lockstep)};
    FunctionContext c{*generator,   target,        code, interleaving.copies, interleaving.lockstep,
                      source_words, uniform_words, {}};
    Xbyak::Label constants;
    generator->mov(c.constants, constants);
    emit_function(c);
    c.pool.embed(*generator, constants, target, code.layout);
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    CompiledKernel made;
    made.function = generator->getCode<KernelFunction>();
    made.copies = interleaving.copies;
    made.bytes = generator->getSize();
    made.spill_bytes = c.spill_bytes;
    made.owner = generator;
    return made;
  } catch (const Xbyak::Error& e) {
    throw Unsupported(std::string("the code generator says: ") + e.what());
  }
}

Interleaving choose_interleaving(const KernelCode& code, Target target) {
  const unsigned registers = target.isa == Isa::Avx512 ? 31 : 15;
  const Segment& heavy = code.loops && !code.carried_slot.empty() ? code.loop : code.once;
  std::vector<bool> resident(code.inputs.size(), false);
  if (code.loops) {
    for (const Store& store : code.loop.stores) {
      if (store.take == Take::Mask) continue;
      resident[code.carried_slot[store.slot]] = true;
    }
  }
  const unsigned pressure = make_machine_code(heavy, target, resident).pressure;
  // Measured: copies in lockstep hide latencies, on AVX2 even where many values must be spilled.
  if (target.isa == Isa::Avx512) {
    if (4 * pressure + 2 <= registers) return {4, 4};
    return pressure <= registers ? Interleaving{2, 2} : Interleaving{1, 1};
  }
  return pressure <= registers * 5 / 3 ? Interleaving{4, 4} : Interleaving{2, 2};
}

}  // namespace gdr::native
