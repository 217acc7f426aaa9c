#include "emulator/engine/vector/doubles/fused/x86/block.hpp"

#include <algorithm>

#include "emulator/engine/vector/doubles/op.hpp"

namespace gdr::fused {
namespace {

constexpr int vector_bytes = 64;

Xbyak::Zmm zmm(int n) { return Xbyak::Zmm(n); }
Xbyak::Opmask k(int n) { return Xbyak::Opmask(n); }

Xbyak::Zmm rounding(const Xbyak::Zmm& x, std::uint8_t detail) {
  switch (static_cast<Rounding>(detail)) {
    case Rounding::Nearest:
      return x | Xbyak::util::T_rn_sae;
    case Rounding::Down:
      return x | Xbyak::util::T_rd_sae;
    case Rounding::Up:
      return x | Xbyak::util::T_ru_sae;
    case Rounding::Truncate:
      return x | Xbyak::util::T_rz_sae;
    case Rounding::Current:
      break;
  }
  return x;
}

/// to = a b + to or the like, with a rounding of its own: the encodings in full, since generators
/// of code have left out this one.
void multiply_add_rounded(Xbyak::CodeGenerator& a, std::uint8_t opcode, int to, int x, int y,
                          std::uint8_t detail) {
  const auto bit = [](int number, int n) { return static_cast<unsigned>(~number >> n & 1); };
  const unsigned mode = detail - 1U;  // nearest, down, up, truncate: as the hardware counts
  a.db(0x62);
  a.db(static_cast<int>(bit(to, 3) << 7 | bit(y, 4) << 6 | bit(y, 3) << 5 | bit(to, 4) << 4 | 2));
  a.db(static_cast<int>(0x85U | (static_cast<unsigned>(~x) & 15U) << 3));
  a.db(static_cast<int>(mode << 5 | 0x10U | bit(x, 4) << 3));
  a.db(opcode);
  a.db(0xc0 | (to & 7) << 3 | (y & 7));
}

}  // namespace

Block::Block(Function& function, std::vector<Item> items)
    : f_(function),
      a_(function.a),
      items_(std::move(items)),
      vectors_(0, vectors, function.homes.size()),
      masks_(first_mask, masks, function.homes.size()),
      uses_(function.homes.size()),
      use_at_(function.homes.size()),
      own_slot_(function.homes.size()) {
  index_uses();
}

void Block::index_uses() {
  for (std::uint32_t at = 0; at < items_.size(); ++at) {
    const Item& item = items_[at];
    const auto use = [&](Value v) {
      if (uses_[v].empty() || uses_[v].back() != at) uses_[v].push_back(at);
    };
    if (item.store != nullptr) {
      use(f_.value(item.store->value, item.copy));
      continue;
    }
    for (const StepId in : f_.recording.steps[item.step].in) {
      if (in != no_step) use(f_.value(in, item.copy));
    }
  }
}

void Block::emit() {
  for (const Item& item : items_) run(item);
}

void Block::run(const Item& item) {
  std::array<Value, 3> used{};
  unsigned count = 0;
  const auto use = [&](Value v) {
    used[count++] = v;
    if (!uses_[v].empty() && use_at_[v] < uses_[v].size()) {
      const auto at = static_cast<std::uint32_t>(&item - items_.data());
      if (uses_[v][use_at_[v]] == at) ++use_at_[v];
    }
    if (file(v).where(v) != RegisterFile::none) file(v).pin(file(v).where(v), true);
  };
  if (item.store != nullptr) {
    use(f_.value(item.store->value, item.copy));
    store(item);
  } else {
    for (const StepId in : f_.recording.steps[item.step].in) {
      if (in != no_step) use(f_.value(in, item.copy));
    }
    compute(f_.value(item.step, item.copy));
  }
  vectors_.unpin_all();
  masks_.unpin_all();
  for (unsigned n = 0; n < count; ++n) {
    if (is_dead(used[n])) release(used[n]);
  }
  if (item.store != nullptr || f_.recording.steps[item.step].kind == StepKind::Note) return;
  const Value made = f_.value(item.step, item.copy);
  if (f_.kept[item.step]) {
    f_.homes[made] = {Home::Kind::Slot, f_.slots++};
    if (is_mask(made)) {
      a_.kmovb(place(made), k(masks_.where(made)));
    } else {
      a_.vmovapd(place(made), zmm(vectors_.where(made)));
    }
  }
  if (is_dead(made)) release(made);
}

// --- values

std::uint32_t Block::take_slot() {
  if (free_slots_.empty()) return f_.slots++;
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Block::release(Value v) {
  file(v).drop(v);
  if (!own_slot_[v]) return;
  free_slots_.push_back(f_.homes[v].number);
  f_.homes[v] = {};
  own_slot_[v] = false;
}

Xbyak::Address Block::place(Value v) const {
  const Home home = f_.homes[v];
  switch (home.kind) {
    case Home::Kind::Row: {
      const Step& s = step(v);
      const Xbyak::Reg64& base = s.level == Level::Element ? f_.element : f_.lanes;
      return a_.ptr[base + static_cast<int>(s.bits + f_.copy_of(v) * vector_bytes)];
    }
    case Home::Kind::Slot:
      return a_.ptr[f_.scratch + static_cast<int>(home.number * vector_bytes)];
    case Home::Kind::Constant:
    case Home::Kind::None:
      break;
  }
  return a_.ptr_b[f_.pool + static_cast<int>(home.number * sizeof(double))];
}

/// What is evicted and has no home gets one.
void Block::make_room(Value evicted) {
  if (f_.homes[evicted].kind == Home::Kind::None) {
    f_.homes[evicted] = {Home::Kind::Slot, take_slot()};
    own_slot_[evicted] = true;
    if (is_mask(evicted)) {
      a_.kmovb(place(evicted), k(masks_.where(evicted)));
    } else {
      a_.vmovapd(place(evicted), zmm(vectors_.where(evicted)));
    }
  }
  file(evicted).drop(evicted);
}

int Block::allocate(Value v) {
  RegisterFile& registers = file(v);
  int r = registers.find_free([](int) { return false; });
  if (r == RegisterFile::none) {
    r = registers.find_victim([this](Value w) { return next_use(w); });
    make_room(registers.holder(r));
  }
  registers.put(v, r);
  registers.pin(r, true);
  return r;
}

void Block::load(Value v, int r) {
  if (is_mask(v)) {
    a_.kmovb(k(r), place(v));
  } else if (f_.homes[v].kind == Home::Kind::Constant) {
    const auto offset = static_cast<int>(f_.homes[v].number * sizeof(double));
    a_.vbroadcastsd(zmm(r), a_.ptr[f_.pool + offset]);
  } else {
    a_.vmovapd(zmm(r), place(v));
  }
}

Xbyak::Zmm Block::vector(Value v) {
  int r = vectors_.where(v);
  if (r == RegisterFile::none) {
    r = allocate(v);
    load(v, r);
  }
  vectors_.pin(r, true);
  return zmm(r);
}

Xbyak::Opmask Block::mask(Value v) {
  int r = masks_.where(v);
  if (r == RegisterFile::none) {
    r = allocate(v);
    load(v, r);
  }
  masks_.pin(r, true);
  return k(r);
}

Block::Place Block::anywhere(Value v) {
  const bool loaded = vectors_.where(v) != RegisterFile::none;
  const bool room = vectors_.find_free([](int) { return false; }) != RegisterFile::none;
  if (loaded || (room && !is_dead(v))) return {vector(v).getIdx(), a_.ptr[f_.pool]};
  return {RegisterFile::none, place(v)};
}

template <class Emit>
void Block::with(const Place& p, Emit emit) const {
  if (p.number != RegisterFile::none) {
    emit(zmm(p.number));
  } else {
    emit(p.address);
  }
}

/// A register for v: that of an operand that nobody needs any more, or another one. To be written
/// by the first instruction of the step, which reads all operands.
Xbyak::Zmm Block::result(Value v) {
  for (const StepId in : step(v).in) {
    if (in == no_step) continue;
    const Value old = f_.value(in, f_.copy_of(v));
    const int r = is_mask(old) ? RegisterFile::none : vectors_.where(old);
    if (r == RegisterFile::none || !is_dead(old)) continue;
    vectors_.drop(old);
    vectors_.put(v, r);
    return zmm(r);
  }
  return fresh(v);
}
Xbyak::Zmm Block::fresh(Value v) { return zmm(allocate(v)); }
Xbyak::Opmask Block::mask_result(Value v) { return k(allocate(v)); }

/// A register for v that has the value `old`: its own, if nobody needs it there any more.
Xbyak::Zmm Block::result_over(Value v, Value old) {
  const int r = vectors_.where(old);
  if (r != RegisterFile::none && is_dead(old)) {
    vectors_.drop(old);
    vectors_.put(v, r);
    vectors_.pin(r, true);
    return zmm(r);
  }
  const int own = allocate(v);
  const int now = vectors_.where(old);
  if (now != RegisterFile::none) {
    a_.vmovapd(zmm(own), zmm(now));
  } else {
    load(old, own);
  }
  return zmm(own);
}

// --- steps

void Block::compute(Value v) {
  const Step& s = step(v);
  switch (s.kind) {
    case StepKind::Load: {
      const Xbyak::Reg64& base = s.level == Level::Element ? f_.element : f_.lanes;
      a_.vmovapd(result(v), a_.ptr[base + static_cast<int>(s.bits + f_.copy_of(v) * vector_bytes)]);
      break;
    }
    case StepKind::Broadcast:
      a_.mov(f_.word,
             a_.ptr[f_.run + static_cast<int>(offsetof(DoublesRun, memory) + 8 * s.memory)]);
      a_.vpbroadcastq(result(v), a_.ptr[f_.word + static_cast<int>(s.bits)]);
      break;
    case StepKind::Constant:
      break;
    case StepKind::Add:
    case StepKind::Sub:
    case StepKind::Mul:
    case StepKind::Larger:
      sum_or_product(v);
      break;
    case StepKind::Fma:
    case StepKind::Fms:
    case StepKind::Fnma:
      multiply_add(v);
      break;
    case StepKind::And:
    case StepKind::Or:
    case StepKind::Xor:
    case StepKind::IntegerAdd:
    case StepKind::IntegerSub:
    case StepKind::ShiftLeftBy:
    case StepKind::ShiftRightBy:
      bitwise(v);
      break;
    case StepKind::Logic:
    case StepKind::SetLast:
    case StepKind::Select:
    case StepKind::Ones:
      masked(v);
      break;
    case StepKind::ShiftLeft:
    case StepKind::ShiftRight:
    case StepKind::ToDouble:
    case StepKind::ToInteger:
      shift(v);
      break;
    case StepKind::NotEqual:
    case StepKind::Less:
    case StepKind::Equal:
    case StepKind::Unordered:
    case StepKind::BitsEqual:
    case StepKind::BitsLess:
    case StepKind::BitsMeet:
      compare(v);
      break;
    case StepKind::Not:
    case StepKind::Both:
    case StepKind::Either:
    case StepKind::Note:
      combine_masks(v);
      break;
  }
}

void Block::sum_or_product(Value v) {
  const Step& s = step(v);
  Value x = in(v, 0), y = in(v, 1);
  if (s.detail != 0) {
    const Xbyak::Zmm a = vector(x), b = vector(y);
    const Xbyak::Zmm to = result(v);
    if (s.kind == StepKind::Add) a_.vaddpd(to, a, rounding(b, s.detail));
    if (s.kind == StepKind::Sub) a_.vsubpd(to, a, rounding(b, s.detail));
    if (s.kind == StepKind::Mul) a_.vmulpd(to, a, rounding(b, s.detail));
    return;
  }
  const bool either_order = s.kind == StepKind::Add || s.kind == StepKind::Mul;
  if (either_order && vectors_.where(x) == RegisterFile::none) std::swap(x, y);
  const Xbyak::Zmm a = vector(x);
  const Place b = anywhere(y);
  const Xbyak::Zmm to = result(v);
  with(b, [&](const auto& other) {
    if (s.kind == StepKind::Add) a_.vaddpd(to, a, other);
    if (s.kind == StepKind::Sub) a_.vsubpd(to, a, other);
    if (s.kind == StepKind::Mul) a_.vmulpd(to, a, other);
    if (s.kind == StepKind::Larger) a_.vrangepd(to, a, other, 7);
  });
}

/// Opcodes of the kinds: a b + c over a factor, and over the sum.
struct MultiplyAdd {
  std::uint8_t over_factor, over_sum;
};
static MultiplyAdd opcodes(StepKind kind) {
  if (kind == StepKind::Fma) return {0xa8, 0xb8};
  if (kind == StepKind::Fms) return {0xaa, 0xba};
  return {0xac, 0xbc};
}

void Block::multiply_add(Value v) {
  const Step& s = step(v);
  const Value x = in(v, 0), y = in(v, 1), z = in(v, 2);
  const auto dies = [&](Value w) { return is_dead(w) && vectors_.where(w) != RegisterFile::none; };
  const bool rounded = s.detail != 0;
  // It goes over a factor, if one is free and the sum is not; else over the sum or a copy of it.
  const bool over_factor = !dies(z) && x != y && x != z && y != z && (dies(x) || dies(y));
  const auto last_operand = [&](Value w) {
    return rounded ? Place{vector(w).getIdx(), a_.ptr[f_.pool]} : anywhere(w);
  };
  if (over_factor) {
    const Value old = dies(x) ? x : y;
    const Xbyak::Zmm other = vector(old == x ? y : x);
    const Place c = last_operand(z);
    const Xbyak::Zmm to = result_over(v, old);
    if (rounded) {
      multiply_add_rounded(a_, opcodes(s.kind).over_factor, to.getIdx(), other.getIdx(), c.number,
                           s.detail);
      return;
    }
    with(c, [&](const auto& last) {
      if (s.kind == StepKind::Fma) a_.vfmadd213pd(to, other, last);
      if (s.kind == StepKind::Fms) a_.vfmsub213pd(to, other, last);
      if (s.kind == StepKind::Fnma) a_.vfnmadd213pd(to, other, last);
    });
    return;
  }
  const Xbyak::Zmm a = vector(x);
  const Place b = last_operand(y);
  // A factor that is also the sum must not be overwritten while it is one.
  const bool apart = z != x && z != y;
  const Xbyak::Zmm to = apart ? result_over(v, z) : fresh(v);
  if (!apart) a_.vmovapd(to, vector(z));
  if (rounded) {
    multiply_add_rounded(a_, opcodes(s.kind).over_sum, to.getIdx(), a.getIdx(), b.number, s.detail);
    return;
  }
  with(b, [&](const auto& last) {
    if (s.kind == StepKind::Fma) a_.vfmadd231pd(to, a, last);
    if (s.kind == StepKind::Fms) a_.vfmsub231pd(to, a, last);
    if (s.kind == StepKind::Fnma) a_.vfnmadd231pd(to, a, last);
  });
}

void Block::bitwise(Value v) {
  const Step& s = step(v);
  Value x = in(v, 0), y = in(v, 1);
  const bool either_order = s.kind != StepKind::IntegerSub && s.kind != StepKind::ShiftLeftBy &&
                            s.kind != StepKind::ShiftRightBy;
  if (either_order && vectors_.where(x) == RegisterFile::none) std::swap(x, y);
  const Xbyak::Zmm a = vector(x);
  const Place b = anywhere(y);
  const Xbyak::Zmm to = result(v);
  with(b, [&](const auto& other) {
    if (s.kind == StepKind::And) a_.vpandq(to, a, other);
    if (s.kind == StepKind::Or) a_.vporq(to, a, other);
    if (s.kind == StepKind::Xor) a_.vpxorq(to, a, other);
    if (s.kind == StepKind::IntegerAdd) a_.vpaddq(to, a, other);
    if (s.kind == StepKind::IntegerSub) a_.vpsubq(to, a, other);
    if (s.kind == StepKind::ShiftLeftBy) a_.vpsllvq(to, a, other);
    if (s.kind == StepKind::ShiftRightBy) a_.vpsrlvq(to, a, other);
  });
}

void Block::masked(Value v) {
  const Step& s = step(v);
  switch (s.kind) {
    case StepKind::Logic: {
      const Value x = in(v, 0), y = in(v, 1), z = in(v, 2);
      const Xbyak::Zmm b = vector(y);
      const Place c = anywhere(z);
      const bool apart = x != y && x != z;
      const Xbyak::Zmm to = apart ? result_over(v, x) : fresh(v);
      if (!apart) a_.vmovapd(to, vector(x));
      with(c, [&](const auto& last) { a_.vpternlogq(to, b, last, s.detail); });
      return;
    }
    case StepKind::SetLast: {
      const Xbyak::Opmask m = mask(in(v, 0));
      const Xbyak::Zmm to = result_over(v, in(v, 1));
      // Always the last constant: the function sees to it.
      a_.vporq(to | m, to,
               a_.ptr_b[f_.pool + static_cast<int>((f_.constants.size() - 1) * sizeof(double))]);
      return;
    }
    case StepKind::Select: {
      const Xbyak::Opmask m = mask(in(v, 0));
      const Xbyak::Zmm no = vector(in(v, 2));
      const Place yes = anywhere(in(v, 1));
      const Xbyak::Zmm to = result(v);
      with(yes, [&](const auto& x) { a_.vblendmpd(to | m, no, x); });
      return;
    }
    default:
      a_.vpmovm2q(result(v), mask(in(v, 0)));
  }
}

void Block::compare(Value v) {
  const Step& s = step(v);
  const Xbyak::Zmm a = vector(in(v, 0));
  const Place b = anywhere(in(v, 1));
  const Xbyak::Opmask to = mask_result(v);
  with(b, [&](const auto& other) {
    if (s.kind == StepKind::NotEqual) a_.vcmppd(to, a, other, 4);
    if (s.kind == StepKind::Less) a_.vcmppd(to, a, other, 17);
    if (s.kind == StepKind::Equal) a_.vcmppd(to, a, other, 0);
    if (s.kind == StepKind::Unordered) a_.vcmppd(to, a, other, 3);
    if (s.kind == StepKind::BitsEqual) a_.vpcmpeqq(to, a, other);
    if (s.kind == StepKind::BitsLess) a_.vpcmpq(to, a, other, 1);
    if (s.kind == StepKind::BitsMeet) a_.vptestmq(to, a, other);
  });
}

void Block::combine_masks(Value v) {
  const Step& s = step(v);
  const Xbyak::Opmask a = mask(in(v, 0));
  if (s.kind == StepKind::Note) {
    for (unsigned bit = 0; bit < 2; ++bit) {
      if ((s.detail >> bit & 1) != 0) a_.korb(f_.found[bit], f_.found[bit], a);
    }
    return;
  }
  if (s.kind == StepKind::Not) {
    a_.knotb(mask_result(v), a);
    return;
  }
  const Xbyak::Opmask b = mask(in(v, 1));
  if (s.kind == StepKind::Both) a_.kandb(mask_result(v), a, b);
  if (s.kind == StepKind::Either) a_.korb(mask_result(v), a, b);
}

void Block::shift(Value v) {
  const Step& s = step(v);
  const Place a = anywhere(in(v, 0));
  const Xbyak::Zmm to = result(v);
  with(a, [&](const auto& x) {
    if (s.kind == StepKind::ShiftLeft) a_.vpsllq(to, x, s.detail);
    if (s.kind == StepKind::ShiftRight) a_.vpsrlq(to, x, s.detail);
    if (s.kind == StepKind::ToDouble) a_.vcvtqq2pd(to, x);
    if (s.kind == StepKind::ToInteger) a_.vcvttpd2qq(to, x);
  });
}

void Block::store(const Item& item) {
  const RowStore& s = *item.store;
  const Xbyak::Reg64& base = s.level == Level::Element ? f_.element : f_.lanes;
  const Xbyak::Zmm x = vector(f_.value(s.value, item.copy));
  a_.vmovapd(a_.ptr[base + static_cast<int>(s.offset + item.copy * vector_bytes)], x);
}

}  // namespace gdr::fused
