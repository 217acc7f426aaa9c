// Random code in the lowered IR: machine code agrees with the interpreter, with and without spills,
// for every instruction set of the host and both types.
#if (__has_include(<xbyak/xbyak.h>) && defined(__x86_64__)) || defined(__aarch64__)
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/jit/order.hpp"
#if defined(__aarch64__)
#include "emulator/engine/jit/arm64/emit.hpp"
#include "emulator/host/executable_code.hpp"
#else
#include "emulator/engine/jit/x86/emit.hpp"
#endif
#include "jit_interpreter.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace gdr::jit {
namespace {

using test::JitInterpreter;

enum Base : std::uint8_t {
  base_data,
  base_results,
  base_spills,
  base_constants,
  base_lists,
  base_count
};
constexpr std::size_t data_vectors = 24, result_vectors = 96, list_count = 2;

/// Memory at a multiple of 64 bytes.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes + 64) {}
  std::byte* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (64 - at % 64) % 64;
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Generates blocks. `alive`: the number of values that are used again at the end.
class Author {
 public:
  Author(VectorTarget target, std::uint64_t seed, ConstantPool& pool)
      : target_(target), random_(seed), pool_(pool) {}

  Block straight(unsigned operations, unsigned alive) {
    begin();
    for (unsigned n = 0; n < operations; ++n) add_operation();
    for (unsigned n = 0; n < alive; ++n) store(n);
    overwrite();
    return std::move(block_);
  }

  Block loop(unsigned operations, unsigned carried) {
    begin();
    for (unsigned n = 0; n < carried; ++n) {
      const ValueId in = block_.add_value({});
      numbers_.push_back(in);
      block_.carried.push_back({in, no_value, place(base_results, n)});
    }
    for (unsigned n = 0; n < operations; ++n) add_operation();
    // Also values from other places and from memory.
    for (Carried& c : block_.carried) c.out = any(numbers_);
    return std::move(block_);
  }

 private:
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(random_() % n); }
  ValueId any(const std::vector<ValueId>& from) { return from[below(from.size())]; }
  Place place(Base base, std::size_t n) const {
    return {base, false, static_cast<std::int32_t>(n * target_.vector_bytes)};
  }

  /// Numbers are in the first half of the data, integers in the second.
  void begin() {
    block_ = {};
    numbers_.clear();
    bits_.clear();
    masks_.clear();
    for (std::size_t n = 0; n < data_vectors; ++n) {
      Place p = place(base_data, n);
      p.broadcast = below(4) == 0;
      const ValueId v = block_.add_value({Type::Vector, true, p});
      (n < data_vectors / 2 ? numbers_ : bits_).push_back(v);
    }
    const std::uint64_t half = target_.floats ? 0x3f000000 : 0x3fe0000000000000;
    numbers_.push_back(block_.add_value({Type::Vector, true, pool_.place(half)}));
    bits_.push_back(block_.add_value({Type::Vector, true, pool_.place(5)}));
    compare();
  }

  ValueId add(Op op, std::vector<ValueId>& to, std::array<ValueId, 3> in, std::uint8_t detail = 0) {
    const Type type = &to == &masks_ ? Type::Mask : Type::Vector;
    to.push_back(block_.add(op, type, in, detail));
    return to.back();
  }

  void compare() {
    constexpr Predicate predicates[] = {Predicate::Equal,   Predicate::NotEqual,
                                        Predicate::Less,    Predicate::LessEqual,
                                        Predicate::NotLess, Predicate::Unordered};
    const auto p = static_cast<std::uint8_t>(predicates[below(std::size(predicates))]);
    add(Op::Compare, masks_, {any(numbers_), any(numbers_), no_value}, p);
  }

  void add_operation() {
    switch (below(target_.mask_registers ? 14 : 9)) {
      case 0:
      case 1:
      case 2:
        return arithmetic();
      case 3:
      case 4:
        return multiply_add();
      case 5:
        return integers();
      case 6:
        compare();
        return mask_of_integers();
      case 7:
        add(Op::Select, numbers_, {any(masks_), any(numbers_), any(numbers_)});
        add(Op::Select, bits_, {any(masks_), any(bits_), any(bits_)});
        return;
      case 8:
        return masks();
      case 9:
      case 10:
        arithmetic();
        return under_mask();
      case 11:
        add(Op::Ternary, bits_, {any(bits_), any(bits_), any(bits_)},
            static_cast<std::uint8_t>(random_()));
        return;
      case 12:
        add(Op::MaskToLanes, bits_, {any(masks_), no_value, no_value});
        add(Op::LanesToMask, masks_, {any(bits_), no_value, no_value});
        return;
      default:
        return rounded();
    }
  }
  void arithmetic() {
    constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Divide, Op::Max, Op::Min};
    add(ops[below(6)], numbers_, {any(numbers_), any(numbers_), no_value});
    if (below(8) == 0) add(Op::Sqrt, numbers_, {any(numbers_), no_value, no_value});
    if (target_.newton_steps && below(4) == 0)
      add(below(2) == 0 ? Op::RsqrtStep : Op::RecipStep, numbers_,
          {any(numbers_), any(numbers_), no_value});
    if (below(8) == 0) {
      Operation load;
      load.op = Op::Load;
      load.place = place(base_data, below(data_vectors / 2));
      load.to = block_.add_value({});
      block_.code.push_back(load);
      numbers_.push_back(load.to);
    }
  }
  void multiply_add() {
    const auto sign = static_cast<std::uint8_t>(below(4));
    add(Op::Fma, numbers_, {any(numbers_), any(numbers_), any(numbers_)}, sign);
  }
  void integers() {
    constexpr Op ops[] = {Op::And, Op::AndNot, Op::Or, Op::Xor, Op::IntAdd, Op::IntSub};
    add(ops[below(6)], bits_, {any(bits_), any(bits_), no_value});
    if (target_.floats) return;
    const auto count = static_cast<std::uint8_t>(below(64));
    add(below(2) == 0 ? Op::ShiftLeft : Op::ShiftRight, bits_, {any(bits_), no_value, no_value},
        count);
    const ValueId few = add(Op::ShiftRight, bits_, {any(bits_), no_value, no_value}, 57);
    add(below(2) == 0 ? Op::ShiftLeftBy : Op::ShiftRightBy, bits_, {any(bits_), few, no_value});
    if (!target_.mask_registers) return;
    add(Op::ShiftArith, bits_, {any(bits_), no_value, no_value}, count);
    add(below(2) == 0 ? Op::SignedMax : Op::UnsignedMin, bits_, {any(bits_), any(bits_), no_value});
    add(Op::LargerMagnitude, numbers_, {any(numbers_), block_.code.front().in[0], no_value});
    numbers_.pop_back();  // for equal magnitudes the result may be either operand
    add(Op::IntToDouble, numbers_, {any(bits_), no_value, no_value});
    add(Op::TestBits, masks_, {any(bits_), any(bits_), no_value});
    add(Op::NotFinite, masks_, {any(numbers_), no_value, no_value});
  }
  void mask_of_integers() {
    constexpr IntPredicate predicates[] = {IntPredicate::Equal, IntPredicate::Greater,
                                           IntPredicate::Less, IntPredicate::NotLess,
                                           IntPredicate::NotEqual};
    const auto p = static_cast<std::uint8_t>(predicates[below(target_.mask_registers ? 5 : 2)]);
    const Op op = target_.mask_registers && below(2) == 0 ? Op::CompareUnsigned : Op::CompareSigned;
    add(op, masks_, {any(bits_), any(bits_), no_value}, p);
    if (target_.mask_registers && below(2) == 0) block_.code.back().mask = any_mask_before();
  }
  void masks() {
    constexpr Op wide[] = {Op::MaskAnd, Op::MaskAndNot, Op::MaskOr};
    constexpr Op narrow[] = {Op::And, Op::AndNot, Op::Or};
    add((target_.mask_registers ? wide : narrow)[below(3)], masks_,
        {any(masks_), any(masks_), no_value});
    if (target_.mask_registers) add(Op::MaskNot, masks_, {any(masks_), no_value, no_value});
    Operation collect;
    collect.op = Op::Collect;
    collect.detail = static_cast<std::uint8_t>(below(2));
    collect.in[0] = any(masks_);
    block_.code.push_back(collect);
    block_.add(Op::Append, Type::Vector, {any(masks_), any(bits_), no_value});
    block_.code.back().place = {base_lists, false,
                                static_cast<std::int32_t>(below(list_count) * sizeof(ListRows))};
  }
  /// The last mask is computed by the masked operation itself.
  ValueId any_mask_before() { return masks_[below(masks_.size() - 1)]; }

  void under_mask() {
    Operation& o = block_.code.back();
    const bool fits = o.op == Op::Add || o.op == Op::Sub || o.op == Op::Mul;
    if (!fits) return;
    o.mask = any(masks_);
    const ValueId own = numbers_.back();
    if (below(2) == 0) o.otherwise = any(numbers_);
    if (o.otherwise == own) o.otherwise = no_value;
    multiply_add();
    Operation& fma = block_.code.back();
    fma.mask = any(masks_);
    if (below(2) == 0) fma.otherwise = fma.in[2];
  }
  void rounded() {
    if (target_.floats) return;
    const auto rounding = static_cast<Rounding>(1 + below(4));
    if (below(2) == 0) {
      multiply_add();
    } else {
      constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul};
      add(ops[below(3)], numbers_, {any(numbers_), any(numbers_), no_value});
    }
    block_.code.back().rounding = rounding;
  }

  /// Stores the latest values, and some that have long been live.
  void store(unsigned n) {
    const std::vector<ValueId>& from = below(2) == 0 ? numbers_ : bits_;
    Operation o;
    o.op = Op::Store;
    o.in[0] = any(from);
    o.place = place(base_results, n);
    block_.code.push_back(o);
  }

  /// Stores computed values over data that are not read afterwards.
  void overwrite() {
    for (unsigned n = 0; n < data_vectors; n += 3) {
      const ValueId v = any(numbers_);
      if (block_.values[v].in_memory) continue;
      Operation o;
      o.op = Op::Store;
      o.in[0] = v;
      o.place = place(base_data, n);
      block_.code.push_back(o);
    }
  }

  VectorTarget target_;
  std::mt19937_64 random_;
  ConstantPool& pool_;
  Block block_;
  std::vector<ValueId> numbers_, bits_, masks_;
};

std::vector<VectorTarget> targets() {
  std::vector<VectorTarget> all;
  for (const Isa isa : host_isas()) {
    if (isa == Isa::Portable) continue;
    for (const bool floats : {false, true}) all.push_back(vector_target(isa, floats));
  }
  return all;
}

bool same_lane(const std::byte* a, const std::byte* b, bool floats) {
  if (std::memcmp(a, b, floats ? 4 : 8) == 0) return true;
  double x = 0, y = 0;
  if (floats) {
    float f = 0, g = 0;
    std::memcpy(&f, a, 4);
    std::memcpy(&g, b, 4);
    x = f;
    y = g;
  } else {
    std::memcpy(&x, a, 8);
    std::memcpy(&y, b, 8);
  }
  return std::isnan(x) && std::isnan(y);
}

/// Lists with room for a few entries, and for each of them a lane that must not be written.
class Lists {
 public:
  Lists() {
    for (std::size_t n = 0; n < list_count; ++n) {
      for (std::size_t k = 0; k < lanes; ++k)
        words_[n][k] = k - 7 * n;  // some begin before `first`
      rows_[n] = {words_[n].data(),
                  words_[n].data() + lanes,
                  lanes * sizeof(std::uint64_t),
                  ~(std::uint64_t{2} << n),
                  static_cast<std::int64_t>(1 + n),
                  3,
                  17};
    }
  }
  Lists(const Lists&) = delete;
  std::byte* rows() { return reinterpret_cast<std::byte*>(rows_.data()); }
  bool operator==(const Lists& other) const { return words_ == other.words_; }

 private:
  static constexpr std::size_t lanes = 16;
  std::array<ListRows, list_count> rows_;
  std::array<std::array<std::uint64_t, lanes * 20>, list_count> words_{};
};

/// Final data and results of the interpreter and of the machine code, and the number of spills.
struct Outcome {
  Memory expected_data{data_vectors * 64}, data{data_vectors * 64};
  Memory expected{result_vectors * 64}, got{result_vectors * 64};
  Lists expected_lists, lists;
  std::uint32_t spill_slots = 0;
  std::uint16_t collected[2] = {0, 0};

  Outcome(VectorTarget target, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-2, 2);
    const std::size_t lanes = data_vectors * target.lanes();
    for (std::size_t k = 0; k < lanes; ++k) {
      std::byte* to = data.data() + k * target.lane_bytes();
      const double x = uniform(random);
      const auto f = static_cast<float>(x);
      const std::uint64_t bits = random();
      const bool number = k < lanes / 2;
      const void* from = !number         ? static_cast<const void*>(&bits)
                         : target.floats ? static_cast<const void*>(&f)
                                         : &x;
      std::memcpy(to, from, target.lane_bytes());
    }
    std::memcpy(expected_data.data(), data.data(), data_vectors * target.vector_bytes);
    std::memcpy(expected.data(), data.data(), data_vectors * target.vector_bytes / 2);
    std::memcpy(got.data(), data.data(), data_vectors * target.vector_bytes / 2);
  }
};

/// Memory of a call of machine code, in the order of its arguments.
using Function = void (*)(std::byte*, std::byte*, std::byte*, std::uint64_t, std::uint16_t*,
                          std::byte*);

#if defined(__aarch64__)

/// The arguments are in x0 to x5; x6 has the address of constants.
void run_function(const AllocatedBlock& code, VectorTarget target, const ConstantPool& pool,
                  std::byte* spilled, unsigned iterations, Outcome& outcome) {
  namespace a64 = arm64::a64;
  arm64::Assembler a;
  const std::array<std::uint8_t, base_count> bases{0, 1, 2, 6, 5};
  const std::array<int, 2> collected{29, 30};
  constexpr std::int64_t frame = 64;
  a.add(a64::sp, a64::sp, -frame);
  for (unsigned n = 8; n < 16; ++n) a.access({0xfd000000, 0, 8}, n, a64::sp, (n - 8) * 8);
  arm64::Label constants, top;
  a.address(6, constants);
  for (const int n : collected) a.put(a64::movi_zero | static_cast<unsigned>(n));
  arm64::AppendCode appends(a, target, bases);
  const arm64::EmitContext context{a, target, bases, collected, &appends};
  emit(context, code.before);
  a.bind(top);
  emit(context, code.body);
  a.subtract(3, 3, 1);
  a.branch(a64::ne, top);
  emit(context, code.after);
  // Two bytes for each set: a bit by lane.
  for (unsigned set = 0; set < 2; ++set) {
    a.constant(7, 0);
    for (unsigned k = 0; k < target.lanes(); ++k) {
      arm64::Label clear;
      a.lane(target.floats ? a64::smov_s : a64::umov_d, 9, static_cast<unsigned>(collected[set]), k,
             !target.floats);
      a.branch_if_bit_clear(9, 0, clear);
      a.add(7, 7, std::int64_t{1} << k);
      a.bind(clear);
    }
    a.access({0x79000000, 0, 2}, 7, 4, 2 * set);  // strh
  }
  for (unsigned n = 8; n < 16; ++n) a.access(a64::ldr_d, n, a64::sp, (n - 8) * 8);
  a.add(a64::sp, a64::sp, frame);
  a.put(a64::ret | 30U << 5);
  appends.emit_paths();
  a.align(64);
  a.bind(constants);
  a.data(pool.bytes());
  const std::shared_ptr<const std::byte> memory = executable_copy(a.words());
  REQUIRE(memory != nullptr);
  const auto function = reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(memory.get()));
  function(outcome.data.data(), outcome.got.data(), spilled, iterations, outcome.collected,
           outcome.lists.rows());
}

#else

void run_function(const AllocatedBlock& code, VectorTarget target, const ConstantPool& pool,
                  std::byte* spilled, unsigned iterations, Outcome& outcome) {
  Xbyak::CodeGenerator a(4096, Xbyak::AutoGrow);
  const std::array<Xbyak::Reg64, base_count> bases{a.rdi, a.rsi, a.rdx, a.r11, a.r9};
  for (const auto r : AppendCode::scratch) a.push(Xbyak::Reg64(r));
  const std::array<int, 2> collected =
      target.mask_registers ? std::array{6, 7} : std::array{14, 15};
  Xbyak::Label constants, top;
  a.mov(a.r11, constants);
  for (const int n : collected) {
    if (target.mask_registers) {
      a.kxorw(Xbyak::Opmask(n), Xbyak::Opmask(n), Xbyak::Opmask(n));
    } else {
      a.vxorpd(Xbyak::Ymm(n), Xbyak::Ymm(n), Xbyak::Ymm(n));
    }
  }
  AppendCode appends(a, target, bases);
  const EmitContext context{a, target, bases, collected, &appends};
  emit(context, code.before);
  a.L(top);
  emit(context, code.body);
  a.dec(a.rcx);
  a.jnz(top, Xbyak::CodeGenerator::T_NEAR);
  emit(context, code.after);
  for (unsigned set = 0; set < 2; ++set) {
    if (target.mask_registers) {
      a.kmovw(a.eax, Xbyak::Opmask(collected[set]));
    } else if (target.floats) {
      a.vmovmskps(a.eax, Xbyak::Ymm(collected[set]));
    } else {
      a.vmovmskpd(a.eax, Xbyak::Ymm(collected[set]));
    }
    a.mov(a.ptr[a.r8 + 2 * set], a.ax);
  }
  a.vzeroupper();
  for (auto r = AppendCode::scratch.rbegin(); r != AppendCode::scratch.rend(); ++r)
    a.pop(Xbyak::Reg64(*r));
  a.ret();
  appends.emit_paths();
  embed(a, constants, pool.bytes());
  a.ready(Xbyak::CodeArray::PROTECT_RE);
  a.getCode<Function>()(outcome.data.data(), outcome.got.data(), spilled, iterations,
                        outcome.collected, outcome.lists.rows());
}

#endif

/// Runs the code; a loop takes `iterations` iterations.
void run_machine_code(const Block& block, VectorTarget target, const ConstantPool& pool,
                      unsigned iterations, Outcome& outcome) {
  SpillArea spills{base_spills, 0, 0};
  const RegisterLimits limits{target.mask_registers ? 32U : 14U, 6};
  const AllocatedBlock code = allocate(block, target, limits, spills);
  outcome.spill_slots = spills.slots;
  Memory spilled(spills.slots * std::size_t{64} + 64);
  run_function(code, target, pool, spilled.data(), iterations, outcome);
}

void check(const Block& block, VectorTarget target, const ConstantPool& pool, unsigned iterations,
           Outcome& outcome) {
  std::vector<std::uint8_t> constants = pool.bytes();
  JitInterpreter interpreter(
      target, {outcome.expected_data.data(), outcome.expected.data(), nullptr,
               reinterpret_cast<std::byte*>(constants.data()), outcome.expected_lists.rows()});
  if (block.carried.empty()) {
    interpreter.run(block);
  } else {
    interpreter.run_loop(block, iterations);
  }
  run_machine_code(block, target, pool, iterations, outcome);
  const auto same = [&](Memory& expected, Memory& got, std::size_t vectors) {
    for (std::size_t k = 0; k < vectors * target.lanes(); ++k) {
      const std::size_t at = k * target.lane_bytes();
      INFO("vector " << k / target.lanes() << ", lane " << k % target.lanes());
      REQUIRE(same_lane(expected.data() + at, got.data() + at, target.floats));
    }
  };
  same(outcome.expected, outcome.got, result_vectors);
  same(outcome.expected_data, outcome.data, data_vectors);
  REQUIRE((outcome.expected_lists == outcome.lists));
  for (unsigned set = 0; set < 2; ++set) {
    const unsigned lanes = (1U << target.lanes()) - 1;
    REQUIRE((outcome.collected[set] & lanes) == (interpreter.collected[set] & lanes));
  }
}

unsigned iterations() { return static_cast<unsigned>(test::test_iterations(150)); }

std::string text(VectorTarget t, std::uint64_t seed) {
  return fmt::format("vectors of {} bytes, {}, seed {}", t.vector_bytes,
                     t.floats ? "floats" : "doubles", seed);
}

TEST_CASE("random code in registers does what the IR says") {
  const auto first = static_cast<unsigned>(test::first_seed());
  for (const VectorTarget target : targets()) {
    for (unsigned seed = first; seed < first + iterations(); ++seed) {
      INFO(text(target, seed));
      ConstantPool pool(target, base_constants);
      const Block block = Author(target, seed, pool).straight(4 + seed % 5, 4);
      Outcome outcome(target, seed);
      check(block, target, pool, 1, outcome);
    }
  }
}

TEST_CASE("random code that spills does what the IR says") {
  const auto first = static_cast<unsigned>(test::first_seed());
  for (const VectorTarget target : targets()) {
    unsigned spilled = 0;
    for (unsigned seed = first; seed < first + iterations(); ++seed) {
      INFO(text(target, seed));
      ConstantPool pool(target, base_constants);
      const Block block = Author(target, seed, pool).straight(100 + seed % 100, 90);
      Outcome outcome(target, seed);
      check(block, target, pool, 1, outcome);
      spilled += outcome.spill_slots > 0 ? 1 : 0;
    }
    CHECK(spilled > iterations() / 2);
  }
}

TEST_CASE("random loops carry their values in registers as the IR says") {
  const auto first = static_cast<unsigned>(test::first_seed());
  for (const VectorTarget target : targets()) {
    for (unsigned seed = first; seed < first + iterations(); ++seed) {
      INFO(text(target, seed));
      ConstantPool pool(target, base_constants);
      const unsigned most = target.mask_registers ? 20 : 9;
      const Block block = Author(target, seed, pool).loop(3 + seed % 60, 1 + seed % most);
      Outcome outcome(target, seed);
      check(block, target, pool, 1 + seed % 4, outcome);
    }
  }
}

TEST_CASE("random code in an order for latencies does what the IR says") {
  const auto first = static_cast<unsigned>(test::first_seed());
  for (const VectorTarget target : targets()) {
    for (unsigned seed = first; seed < first + iterations(); ++seed) {
      INFO(text(target, seed));
      ConstantPool pool(target, base_constants);
      Block block = Author(target, seed, pool).straight(5 + seed % 100, 1 + seed % 90);
      order_for_latency(block, 1 + seed % 140);
      Outcome outcome(target, seed);
      check(block, target, pool, 1, outcome);
    }
  }
}

TEST_CASE("random loops in the order of their sums' terms do what the IR says") {
  const auto first = static_cast<unsigned>(test::first_seed());
  for (const VectorTarget target : targets()) {
    for (unsigned seed = first; seed < first + iterations(); ++seed) {
      INFO(text(target, seed));
      ConstantPool pool(target, base_constants);
      Block block = Author(target, seed, pool).loop(3 + seed % 60, 1 + seed % 9);
      order_term_by_term(block);
      Outcome outcome(target, seed);
      check(block, target, pool, 1 + seed % 4, outcome);
    }
  }
}

TEST_CASE("a sum of two sources' terms holds the values of one source at a time") {
  const VectorTarget target = vector_target(Isa::Neon, false);
  Block block;
  const auto in_memory = [&](std::int32_t n) {
    return block.add_value({Type::Vector, true, {base_data, false, n * 16}});
  };
  const auto add = [&](Op op, ValueId a, ValueId b, ValueId c = no_value) {
    return block.add(op, Type::Vector, {a, b, c});
  };
  constexpr int sums = 3, sources = 2;
  ValueId total[sums], in[sums], distance[sources][sums], force[sources];
  for (int k = 0; k < sums; ++k) in[k] = total[k] = block.add_value({});
  for (int s = 0; s < sources; ++s)
    for (int k = 0; k < sums; ++k)
      distance[s][k] = add(Op::Sub, in_memory(k), in_memory(3 + 3 * s + k));
  for (int s = 0; s < sources; ++s) {
    force[s] = add(Op::Mul, distance[s][0], distance[s][0]);
    for (int k = 1; k < sums; ++k)
      force[s] = add(Op::Fma, distance[s][k], distance[s][k], force[s]);
  }
  for (int s = 0; s < sources; ++s)
    for (int k = 0; k < sums; ++k) total[k] = add(Op::Fma, distance[s][k], force[s], total[k]);
  for (int k = 0; k < sums; ++k) {
    const Place place{base_results, false, k * 16};
    block.carried.push_back({in[k], total[k], place});
  }
  const auto slots = [&] {
    SpillArea spills{base_spills, 0, 0};
    allocate(block, target, {2 * sums + 2, 1}, spills);
    return spills.slots;
  };
  CHECK(slots() > 0);
  order_term_by_term(block);
  CHECK(slots() == 0);
}

TEST_CASE("interleaved copies and reordering change no result") {
  for (const VectorTarget target : targets()) {
    ConstantPool pool(target, base_constants);
    Block block;
    const auto load = [&](std::int32_t n) {
      return block.add_value(
          {Type::Vector,
           true,
           {base_data, false, n * static_cast<std::int32_t>(target.vector_bytes)}});
    };
    const ValueId a = load(0), b = load(1), c = load(2);
    const ValueId sum = block.add(Op::Add, Type::Vector, {a, b, no_value});
    const ValueId product = block.add(Op::Mul, Type::Vector, {b, c, no_value});
    const ValueId both = block.add(Op::Sub, Type::Vector, {sum, product, no_value});
    const ValueId roots[] = {both};
    CHECK(order_for_registers(block, roots) == 2);
    Operation store;
    store.op = Op::Store;
    store.in[0] = both;
    store.place = {base_results, false, 0};
    block.code.push_back(store);
    CHECK(longest_way(block) == 8);
    const Block two = interleaved(block, 2, [&](Place p, unsigned copy) {
      // The second copy has its results and its b at another offset; a and c are the same.
      const auto bytes = static_cast<std::int32_t>(target.vector_bytes);
      if (p.base == base_results || p.offset == bytes) {
        p.offset += static_cast<std::int32_t>(copy) * 3 * bytes;
      }
      return p;
    });
    CHECK(two.code.size() == 8);
    Outcome outcome(target, 1);
    check(two, target, pool, 1, outcome);
  }
}

}  // namespace
}  // namespace gdr::jit
#endif
