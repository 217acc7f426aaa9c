#include "emulator/engine/jit/x86/append.hpp"

#include <cstddef>

#include "emulator/engine/jit/list_rows.hpp"

namespace gdr::jit {
namespace {

constexpr auto near = Xbyak::CodeGenerator::T_NEAR;
constexpr unsigned unused_bits = 64 - ListRows::word_bits;
/// Where a vector of entries is put aside, relative to the stack pointer.
constexpr int aside = -64;

}  // namespace

void test_any_lane(Xbyak::CodeGenerator& generator, VectorTarget target, int mask) {
  if (target.mask_registers) {
    // Masks of eight lanes may have bits above them.
    const Xbyak::Opmask lanes(mask);
    target.floats ? generator.kortestw(lanes, lanes) : generator.kortestb(lanes, lanes);
  } else {
    const Xbyak::Ymm lanes(mask);
    target.floats ? generator.vtestps(lanes, lanes) : generator.vtestpd(lanes, lanes);
  }
}

void AppendCode::test(const Instruction& append) {
  Path& path = paths_.emplace_back();
  path.append = append;
  test_any_lane(a_, target_, static_cast<int>(append.a.number));
  a_.jnz(path.begin, near);
  a_.L(path.back);
}

void AppendCode::emit_paths() {
  for (Path& p : paths_) path(p);
  paths_.clear();
}

/// As ListRows::append, for the lanes of the mask.
void AppendCode::path(Path& p) {
  const Xbyak::Reg64 rows = pointer_;
  const auto row = [&](std::size_t offset) {
    const auto at = static_cast<std::size_t>(std::int64_t{p.append.to.place.offset}) + offset;
    return a_.ptr[Xbyak::RegExp(bases_[p.append.to.place.base]) + at];
  };
  a_.L(p.begin);
  if (target_.mask_registers) {
    const Xbyak::Opmask mask(p.append.a.number);
    target_.floats ? a_.kmovw(lanes_.cvt32(), mask) : a_.kmovb(lanes_.cvt32(), mask);
  } else {
    const Xbyak::Ymm mask(p.append.a.number);
    target_.floats ? a_.vmovmskps(lanes_.cvt32(), mask) : a_.vmovmskpd(lanes_.cvt32(), mask);
  }
  a_.and_(lanes_, row(offsetof(ListRows, live)));
  a_.jz(p.back, near);
  if (p.append.b.kind == Location::Kind::Vector) {
    const auto to = a_.ptr[a_.rsp + static_cast<std::size_t>(std::int64_t{aside})];
    if (target_.mask_registers)
      a_.vmovupd(to, Xbyak::Zmm(p.append.b.number));
    else
      a_.vmovupd(to, Xbyak::Ymm(p.append.b.number));
  }
  Xbyak::Label next, written;
  a_.L(next);
  a_.bsf(lane_, lanes_);
  a_.mov(rows, row(offsetof(ListRows, counters)));
  a_.lea(rows, a_.ptr[rows + lane_ * 8]);
  a_.mov(address_, a_.ptr[rows]);
  a_.add(address_, row(offsetof(ListRows, stride)));
  a_.shl(address_, static_cast<int>(unused_bits));
  a_.mov(word_, address_);
  a_.shr(word_, static_cast<int>(unused_bits));
  a_.mov(a_.ptr[rows], word_);
  a_.sar(address_, static_cast<int>(unused_bits));
  a_.cmp(address_, row(offsetof(ListRows, last)));
  a_.cmovg(address_, row(offsetof(ListRows, last)));
  a_.cmp(address_, row(offsetof(ListRows, first)));
  a_.jl(written, near);
  load_entry(p.append);
  a_.imul(address_, row(offsetof(ListRows, row_bytes)));
  a_.add(address_, row(offsetof(ListRows, entries)));
  a_.mov(a_.ptr[address_ + lane_ * 8], word_);
  a_.L(written);
  a_.lea(word_, a_.ptr[lanes_ - 1]);
  a_.and_(lanes_, word_);
  a_.jnz(next, near);
  a_.jmp(p.back, near);
}

/// Loads the entry of a lane as a word.
void AppendCode::load_entry(const Instruction& append) {
  const bool in_register = append.b.kind == Location::Kind::Vector;
  const Place& place = append.b.place;
  const std::int64_t offset = in_register ? aside : place.offset;
  Xbyak::RegExp at = Xbyak::RegExp(in_register ? a_.rsp : bases_[place.base]);
  if (in_register || !place.broadcast) at = at + lane_ * static_cast<int>(target_.lane_bytes());
  at = at + static_cast<std::size_t>(offset);
  if (target_.floats) {
    a_.movsxd(word_, a_.dword[at]);
    a_.shl(word_, static_cast<int>(unused_bits));
  } else {
    a_.mov(word_, a_.qword[at]);
  }
  a_.shr(word_, static_cast<int>(unused_bits));
}

}  // namespace gdr::jit
