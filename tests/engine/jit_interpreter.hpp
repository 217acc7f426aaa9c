// An interpreter of the lowered IR, lane by lane: the oracle for machine code.
#pragma once

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <vector>

#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/jit/list_rows.hpp"

namespace gdr::test {

/// Executes blocks on memory; `bases` are the base addresses of places.
class JitInterpreter {
 public:
  using Lanes = std::vector<std::uint64_t>;

  JitInterpreter(jit::VectorTarget target, std::vector<std::byte*> bases)
      : target_(target), bases_(std::move(bases)) {}

  void run(const jit::Block& block) { run_iteration(block, Values(block.values.size())); }

  /// A loop: carried values are in their places before and after it.
  void run_loop(const jit::Block& block, unsigned iterations) {
    std::vector<Lanes> carried;
    for (const jit::Carried& c : block.carried) carried.push_back(read(c.place));
    for (unsigned iteration = 0; iteration < iterations; ++iteration) {
      Values values(block.values.size());
      for (std::size_t n = 0; n < carried.size(); ++n) values[block.carried[n].in] = carried[n];
      values = run_iteration(block, std::move(values));
      for (std::size_t n = 0; n < carried.size(); ++n) {
        const jit::ValueId out = block.carried[n].out;
        carried[n] = block.values[out].in_memory ? read(block.values[out].place) : values[out];
      }
    }
    for (std::size_t n = 0; n < carried.size(); ++n) write(block.carried[n].place, carried[n]);
  }

  /// Lanes that Op::Collect found, by set.
  std::map<unsigned, std::uint64_t> collected;

 private:
  using Values = std::vector<Lanes>;

  std::uint64_t word(const std::byte* at) const {
    std::uint64_t w = 0;
    std::memcpy(&w, at, target_.lane_bytes());
    return w;
  }
  Lanes read(const jit::Place& p) const {
    Lanes lanes(target_.lanes());
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      lanes[k] = word(bases_[p.base] + p.offset + (p.broadcast ? 0 : k * target_.lane_bytes()));
    }
    return lanes;
  }
  void write(const jit::Place& p, const Lanes& lanes) const {
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      std::memcpy(bases_[p.base] + p.offset + k * target_.lane_bytes(), &lanes[k],
                  target_.lane_bytes());
    }
  }

  Values run_iteration(const jit::Block& block, Values values) {
    for (const jit::Operation& o : block.code) {
      const auto operand = [&](jit::ValueId v) {
        return block.values[v].in_memory ? read(block.values[v].place) : values[v];
      };
      std::array<Lanes, 3> in;
      for (std::size_t n = 0; n < 3; ++n) {
        if (o.in[n] != jit::no_value) in[n] = operand(o.in[n]);
      }
      if (o.op == jit::Op::Store) {
        write(o.place, in[0]);
        continue;
      }
      if (o.op == jit::Op::Collect) {
        for (std::size_t k = 0; k < target_.lanes(); ++k) {
          collected[o.detail] |= (in[0][k] & 1) << k;
        }
        continue;
      }
      if (o.op == jit::Op::Append) {
        append(o.place, in[0], in[1]);
        continue;
      }
      Lanes result = o.op == jit::Op::Load ? read(o.place) : Lanes(target_.lanes());
      for (std::size_t k = 0; k < result.size() && o.op != jit::Op::Load; ++k) {
        std::array<std::uint64_t, 3> x{};
        for (std::size_t n = 0; n < 3; ++n) x[n] = in[n].empty() ? 0 : in[n][k];
        result[k] = truncated(target_.floats ? lane<float, std::uint32_t>(o, x)
                                             : lane<double, std::uint64_t>(o, x));
        if (o.mask != jit::no_value && operand(o.mask)[k] == 0) {
          result[k] = o.otherwise == jit::no_value ? 0 : operand(o.otherwise)[k];
        }
      }
      values[o.to] = std::move(result);
    }
    return values;
  }

  void append(const jit::Place& p, const Lanes& mask, const Lanes& entries) const {
    jit::ListRows rows;
    std::memcpy(&rows, bases_[p.base] + p.offset, sizeof rows);
    for (std::size_t k = 0; k < target_.lanes(); ++k) {
      if ((mask[k] & rows.live >> k & 1) == 0) continue;
      const auto integer = static_cast<std::int32_t>(entries[k]);
      rows.append(
          k, target_.floats ? static_cast<std::uint64_t>(std::int64_t{integer}) : entries[k] >> 28);
    }
  }

  std::uint64_t truncated(std::uint64_t w) const {
    return target_.floats ? static_cast<std::uint32_t>(w) : w;
  }

  template <typename Number, typename Bits>
  std::uint64_t lane(const jit::Operation& o, const std::array<std::uint64_t, 3>& x) const {
    using jit::Op;
    const auto number = [&](std::size_t n) {
      const auto bits = static_cast<Bits>(x[n]);
      Number v{};
      std::memcpy(&v, &bits, sizeof v);
      return v;
    };
    const auto bits_of = [](Number v) {
      Bits b{};
      std::memcpy(&b, &v, sizeof b);
      return std::uint64_t{b};
    };
    const auto yes = [](bool b) { return b ? ~std::uint64_t{0} : 0; };
    const volatile Number a = number(0), b = number(1), c = number(2);
    const auto i = static_cast<std::make_signed_t<Bits>>(x[0]);
    const auto j = static_cast<std::make_signed_t<Bits>>(x[1]);
    const bool product = (o.detail & jit::negate_product) != 0;
    const bool addend = (o.detail & jit::negate_addend) != 0;
    const RoundingScope rounding(o.rounding);
    // Computed while the rounding is set.
    const auto held = [&](Number v) {
      const volatile Number r = v;
      return bits_of(r);
    };
    switch (o.op) {
      case Op::Add:
        return held(a + b);
      case Op::Sub:
        return held(a - b);
      case Op::Mul:
        return held(a * b);
      case Op::Fma:
        return held(std::fma(product ? -a : Number(a), Number(b), addend ? -c : Number(c)));
      case Op::Divide:
        return held(a / b);
      case Op::Sqrt:
        return held(std::sqrt(Number(a)));
      // Both fused, with a limit where one factor is zero and the other one infinite.
      case Op::RsqrtStep:
        return std::isnan(Number(a) * Number(b)) && !std::isnan(Number(a)) && !std::isnan(Number(b))
                   ? bits_of(Number(1.5))
                   : held(std::fma(-a, Number(b), Number(3)) / 2);
      case Op::RecipStep:
        return std::isnan(Number(a) * Number(b)) && !std::isnan(Number(a)) && !std::isnan(Number(b))
                   ? bits_of(Number(2))
                   : held(std::fma(-a, Number(b), Number(2)));
      case Op::Max:
        return bits_of(a > b ? a : b);
      case Op::Min:
        return bits_of(a < b ? a : b);
      case Op::Scale:
        return held(std::ldexp(
            Number(a), static_cast<int>(std::clamp(Number(b), Number(-4000), Number(4000)))));
      case Op::LargerMagnitude:
        return std::fabs(Number(a)) >= std::fabs(Number(b)) ? x[0] : x[1];
      case Op::And:
      case Op::MaskAnd:
        return x[0] & x[1];
      case Op::AndNot:
      case Op::MaskAndNot:
        return ~x[0] & x[1];
      case Op::Or:
      case Op::MaskOr:
        return x[0] | x[1];
      case Op::Xor:
        return x[0] ^ x[1];
      case Op::MaskNot:
        return ~x[0];
      case Op::Ternary:
        return ternary(o.detail, x);
      case Op::IntAdd:
        return x[0] + x[1];
      case Op::IntSub:
        return x[0] - x[1];
      case Op::ShiftLeft:
        return x[0] << o.detail;
      case Op::ShiftRight:
        return x[0] >> o.detail;
      case Op::ShiftArith:
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(x[0]) >> o.detail);
      case Op::ShiftLeftBy:
        return x[1] < 64 ? x[0] << x[1] : 0;
      case Op::ShiftRightBy:
        return x[1] < 64 ? x[0] >> x[1] : 0;
      case Op::SignedMax:
        return static_cast<std::uint64_t>(i > j ? i : j);
      case Op::UnsignedMin:
        return x[0] < x[1] ? x[0] : x[1];
      case Op::IntToDouble:
        return bits_of(static_cast<Number>(i));
      case Op::Select:
        if (target_.selects_bits) return (x[0] & x[1]) | (~x[0] & x[2]);
        return x[0] != 0 ? x[1] : x[2];
      case Op::MaskToLanes:
        return x[0];
      case Op::LanesToMask:
        return yes(i < 0);
      case Op::Compare:
        return yes(compare(static_cast<jit::Predicate>(o.detail), Number(a), Number(b)));
      case Op::CompareSigned:
        return yes(compare_integers(static_cast<jit::IntPredicate>(o.detail), i, j));
      case Op::CompareUnsigned:
        return yes(compare_integers(static_cast<jit::IntPredicate>(o.detail), x[0], x[1]));
      case Op::TestBits:
        return yes((x[0] & x[1]) != 0);
      case Op::NotFinite:
        return yes(!std::isfinite(Number(a)));
      default:
        throw std::logic_error("an operation that the interpreter does not know");
    }
  }

  struct RoundingScope {
    explicit RoundingScope(jit::Rounding r) {
      if (r == jit::Rounding::Down) std::fesetround(FE_DOWNWARD);
      if (r == jit::Rounding::Up) std::fesetround(FE_UPWARD);
      if (r == jit::Rounding::Truncate) std::fesetround(FE_TOWARDZERO);
    }
    ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  };

  static std::uint64_t ternary(unsigned table, const std::array<std::uint64_t, 3>& x) {
    std::uint64_t result = 0;
    for (unsigned k = 0; k < 64; ++k) {
      const auto bit = [&](std::size_t n) { return (x[n] >> k) & 1; };
      result |= std::uint64_t{(table >> (bit(0) << 2 | bit(1) << 1 | bit(2))) & 1} << k;
    }
    return result;
  }
  template <typename Number>
  static bool compare(jit::Predicate p, Number a, Number b) {
    switch (p) {
      case jit::Predicate::Equal:
        return a == b;
      case jit::Predicate::NotEqual:
        return !(a == b);
      case jit::Predicate::Less:
        return a < b;
      case jit::Predicate::LessEqual:
        return a <= b;
      case jit::Predicate::NotLess:
        return !(a < b);
      default:
        return std::isnan(a) || std::isnan(b);
    }
  }
  template <typename Integer>
  static bool compare_integers(jit::IntPredicate p, Integer a, Integer b) {
    switch (p) {
      case jit::IntPredicate::Equal:
        return a == b;
      case jit::IntPredicate::NotEqual:
        return a != b;
      case jit::IntPredicate::Less:
        return a < b;
      case jit::IntPredicate::NotLess:
        return a >= b;
      default:
        return a > b;
    }
  }

  jit::VectorTarget target_;
  std::vector<std::byte*> bases_;
};

}  // namespace gdr::test
