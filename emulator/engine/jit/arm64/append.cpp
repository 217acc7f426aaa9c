#include "emulator/engine/jit/arm64/append.hpp"

#include <cstddef>

#include "emulator/engine/jit/list_rows.hpp"

namespace gdr::jit::arm64 {
namespace {

constexpr unsigned last_bit = ListRows::word_bits - 1, unused_bits = 64 - ListRows::word_bits;

}  // namespace

void branch_if_any_lane(Assembler& assembler, VectorTarget target, unsigned mask, Label& label) {
  constexpr unsigned lanes = Assembler::scratch_register, temporary = Assembler::temporary_vector;
  assembler.two(target.floats ? a64::xtn_4s : a64::xtn_2d, temporary, mask);
  assembler.two(a64::fmov_x, lanes, temporary);
  assembler.branch_unless_zero(lanes, label);
}

void AppendCode::test(const Instruction& append) {
  Path& path = paths_.emplace_back();
  path.append = append;
  branch_if_any_lane(a_, target_, append.a.number, path.begin);
  a_.bind(path.back);
}

void AppendCode::emit_paths() {
  for (Path& p : paths_) {
    a_.bind(p.begin);
    for (unsigned k = 0; k < target_.lanes(); ++k) lane(p.append, k);
    a_.branch(p.back);
  }
  paths_.clear();
}

/// As ListRows::append, if the lane is in the mask.
void AppendCode::lane(const Instruction& append, unsigned lane) {
  constexpr unsigned row = 9, other = 10, address = 12, word = 13;
  const Place& list = append.to.place;
  const auto member = [&](unsigned to, std::size_t offset) {
    a_.access(a64::ldr_x, to, bases_[list.base], list.offset + static_cast<std::int64_t>(offset));
  };
  const auto compare_with = [&](std::size_t offset) {
    member(other, offset);
    a_.three(a64::subs_x, a64::zero, address, other);
  };
  Label next;
  a_.lane(target_.floats ? a64::smov_s : a64::umov_d, other, append.a.number, lane,
          !target_.floats);
  a_.branch_if_zero(other, next);
  member(other, offsetof(ListRows, live));
  a_.branch_if_bit_clear(other, lane, next);
  member(row, offsetof(ListRows, counters));
  a_.access(a64::ldr_x, address, row, lane * 8);
  member(other, offsetof(ListRows, stride));
  a_.three(a64::add_x, address, address, other);
  a_.low_bits(a64::ubfm, word, address, last_bit);
  a_.access(a64::str_x, word, row, lane * 8);
  a_.low_bits(a64::sbfm, address, address, last_bit);
  compare_with(offsetof(ListRows, last));
  a_.three(a64::csel | a64::Word{a64::gt} << 12, address, other, address);
  compare_with(offsetof(ListRows, first));
  a_.branch(a64::lt, next);
  load_entry(append, lane, word);
  member(other, offsetof(ListRows, row_bytes));
  member(row, offsetof(ListRows, entries));
  a_.three(a64::madd | a64::Word{row} << 10, address, address, other);
  a_.access(a64::str_x, word, address, lane * 8);
  a_.bind(next);
}

/// Loads the entry of a lane as a word.
void AppendCode::load_entry(const Instruction& append, unsigned lane, unsigned to) {
  if (append.b.kind == Location::Kind::Vector) {
    a_.lane(target_.floats ? a64::smov_s : a64::umov_d, to, append.b.number, lane, !target_.floats);
  } else {
    const Place& place = append.b.place;
    const std::int64_t at = place.broadcast ? 0 : lane * target_.lane_bytes();
    a_.access(target_.floats ? a64::ldrsw : a64::ldr_x, to, bases_[place.base], place.offset + at);
  }
  if (target_.floats)
    a_.low_bits(a64::ubfm, to, to, last_bit);
  else
    a_.shift_right(to, to, unused_bits);
}

}  // namespace gdr::jit::arm64
