#include "emulator/engine/vector/doubles/fused/assemble.hpp"

#include <algorithm>
#include <cstddef>

#include "emulator/engine/vector/doubles/fused/x86/block.hpp"
#include "emulator/engine/vector/doubles/fused/x86/order.hpp"

namespace gdr::fused {
namespace {

constexpr std::uint32_t vector_bytes = 64;

/// Vectors side by side. One leaves the host waiting for results; the code for four no longer fits
/// where it keeps decoded instructions. Gravity: 155, 99 and 105 clocks for eight interactions.
constexpr unsigned copies = 2;

/// Which values later pieces need, and where all the others are at home.
void find_homes(Function& f) {
  const Recording& r = f.recording;
  f.kept.assign(r.steps.size(), false);
  std::vector<bool> crosses(r.steps.size()), loaded_first(r.steps.size());
  for (const Step& s : r.steps) {
    for (const StepId in : s.in) {
      if (in != no_step && r.steps[in].level != s.level) crosses[in] = true;
    }
  }
  for (const RowStore& store : r.stores) {
    if (store.level == Level::Lanes || r.steps[store.value].level != store.level)
      crosses[store.value] = true;
  }
  const auto written = [&](const Step& load) {
    const std::uint64_t strip = std::uint64_t{r.elements} * r.row_bytes;
    return std::ranges::any_of(r.stores, [&](const RowStore& s) {
      const std::uint64_t bytes = s.level == Level::Element ? strip : r.row_bytes;
      const std::uint64_t own = load.level == Level::Element ? strip : r.row_bytes;
      return load.bits < s.offset + bytes && s.offset < load.bits + own;
    });
  };
  for (const RowStore& store : r.stores) {
    if (r.steps[store.value].kind == StepKind::Load) loaded_first[store.value] = true;
  }
  for (StepId n = 0; n < r.steps.size(); ++n) {
    const Step& s = r.steps[n];
    for (unsigned c = 0; c < f.copies; ++c) {
      Home& home = f.homes[n * f.copies + c];
      if (s.kind == StepKind::Constant) {
        const auto at = std::ranges::find(f.constants, s.bits);
        home = {Home::Kind::Constant, static_cast<std::uint32_t>(at - f.constants.begin())};
        if (at == f.constants.end()) f.constants.push_back(s.bits);
      } else if (s.kind == StepKind::Load) {
        const bool stays = s.level == Level::Element ? !loaded_first[n] : !written(s);
        if (stays) home.kind = Home::Kind::Row;
      }
    }
    f.kept[n] = crosses[n] && f.homes[n * f.copies].kind == Home::Kind::None;
  }
  f.constants.push_back(1);  // the last place of a word, for SetLast
}

void emit_function(Function& f, std::uint32_t lanes, std::uint32_t scratch, Xbyak::Label& pool) {
  Xbyak::CodeGenerator& a = f.a;
  const Recording& r = f.recording;
  constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
  a.mov(f.lanes, a.ptr[f.run + static_cast<int>(offsetof(DoublesRun, frame))]);
  a.lea(f.scratch, a.ptr[f.lanes + static_cast<int>(scratch)]);
  a.lea(f.pool, a.ptr[a.rip + pool]);
  for (const Xbyak::Opmask& m : f.found) a.kxorb(m, m, m);
  Block(f, items_in_order(f, Level::Pass)).emit();

  const Xbyak::Reg64 vectors_left = a.r9, elements_left = a.rcx;
  a.mov(vectors_left, lanes / (8 * f.copies));
  Xbyak::Label next_vectors, next_element;
  a.align(32);
  a.L(next_vectors);
  Block(f, items_in_order(f, Level::Lanes)).emit();
  a.mov(f.element, f.lanes);
  a.mov(elements_left, r.elements);
  a.align(32);
  a.L(next_element);
  Block(f, items_in_order(f, Level::Element)).emit();
  a.add(f.element, r.row_bytes);
  a.dec(elements_left);
  a.jnz(next_element, near);
  std::vector<Block::Item> left;
  for (const RowStore& s : r.stores) {
    for (unsigned c = 0; c < f.copies && s.level != Level::Element; ++c) {
      left.push_back({no_step, &s, c});
    }
  }
  Block(f, left).emit();
  a.add(f.lanes, vector_bytes * f.copies);
  a.dec(vectors_left);
  a.jnz(next_vectors, near);

  for (unsigned bit = 0; bit < 2; ++bit) {
    Xbyak::Label clear;
    a.kortestb(f.found[bit], f.found[bit]);
    a.jz(clear);
    a.or_(a.qword[f.run + static_cast<int>(offsetof(DoublesRun, failure))], 1U << bit);
    a.L(clear);
  }
  a.add(f.op, sizeof(DoublesOp));
  a.jmp(a.ptr[f.op + static_cast<int>(offsetof(DoublesOp, kernel))]);
}

}  // namespace

Function::Function(Xbyak::CodeGenerator& generator, const Recording& r, unsigned copy_count)
    : a(generator), recording(r), copies(copy_count), homes(r.steps.size() * copy_count) {
  find_homes(*this);
}

FusedOperation assemble(const Recording& recording, std::uint32_t lanes, std::uint32_t scratch) {
  try {
    // Writable while it is made, then executable and no longer writable.
    const auto generator = std::make_shared<Xbyak::CodeGenerator>(4096, Xbyak::AutoGrow);
    Function f(*generator, recording, copies);
    Xbyak::Label pool;
    emit_function(f, lanes, scratch, pool);
    generator->align(64);
    generator->L(pool);
    for (const std::uint64_t bits : f.constants) generator->dq(bits);
    generator->ready(Xbyak::CodeArray::PROTECT_RE);
    return {generator->getCode<DoublesKernel>(), f.slots * vector_bytes, generator};
  } catch (const Xbyak::Error&) {
    return {};
  }
}

}  // namespace gdr::fused
