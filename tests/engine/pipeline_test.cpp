// Software pipelining of loops: random loops and their pipelined forms, both interpreted, leave the
// same carried values.
#include "emulator/engine/jit/pipeline.hpp"

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "emulator/engine/jit/order.hpp"
#include "jit_interpreter.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"

namespace gdr::jit {
namespace {

using test::JitInterpreter;

enum PipelineBase : std::uint8_t {
  pipe_source,
  pipe_data,
  pipe_carried,
  pipe_crossing,
  pipe_count
};
constexpr std::uint32_t words_of_source = 6, pipeline_vectors = 4;
constexpr unsigned max_iterations = 8, max_vectors = 96;

/// Generates loops like those of force kernels: some long chains of operations on a source and on
/// invariant data, whose ends are summed, selected, or passed on to the next iteration.
class PipelineAuthor {
 public:
  explicit PipelineAuthor(std::uint64_t seed) : random_(seed) {}

  Block loop() {
    for (std::uint32_t n = 0; n < words_of_source; ++n)
      numbers_.push_back(
          block_.add_value({Type::Vector,
                            true,
                            {pipe_source, true, static_cast<std::int32_t>(n * sizeof(double))}}));
    for (std::uint32_t n = 0; n < pipeline_vectors; ++n)
      numbers_.push_back(block_.add_value({Type::Vector, true, place(pipe_data, n)}));
    const std::size_t carried = 1 + below(6);
    for (std::size_t n = 0; n < carried; ++n) {
      block_.carried.push_back({block_.add_value({}), no_value, place(pipe_carried, n)});
      if (below(2) == 0) numbers_.push_back(block_.carried.back().in);
    }
    inputs_ = numbers_;
    const std::size_t chains = 4 + below(6), length = 3 + below(6);
    for (std::size_t n = 0; n < chains; ++n) chain(length);
    for (Carried& c : block_.carried) c.out = next(c.in);
    return std::move(block_);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  ValueId any(const std::vector<ValueId>& from) { return from[below(from.size())]; }
  static Place place(PipelineBase base, std::size_t n) {
    return {base, false, static_cast<std::int32_t>(n * 64)};
  }
  ValueId number(Op op, std::array<ValueId, 3> in) {
    numbers_.push_back(block_.add(op, Type::Vector, in));
    return numbers_.back();
  }
  ValueId mask() {
    const ValueId v = block_.add(Op::Compare, Type::Mask, {any(numbers_), any(numbers_), no_value},
                                 static_cast<std::uint8_t>(Predicate::Less));
    masks_.push_back(v);
    if (below(2) == 0)
      masks_.push_back(block_.add(Op::MaskAnd, Type::Mask, {v, any(masks_), no_value}));
    return masks_.back();
  }
  /// Chains rarely depend on each other.
  ValueId operand() { return any(below(20) == 0 ? numbers_ : inputs_); }
  void chain(std::size_t length) {
    ValueId v = number(Op::Sub, {operand(), operand(), no_value});
    for (std::size_t n = 0; n < length; ++n) {
      if (below(4) == 0) mask();
      if (below(3) == 0)
        v = number(Op::Mul, {v, operand(), no_value});
      else
        v = number(Op::Fma, {v, operand(), operand()});
      if (masks_.empty() || below(5) != 0) continue;
      block_.code.back().mask = any(masks_);  // the other lanes are zero
    }
    ends_.push_back(v);
  }
  /// The value of the next iteration.
  ValueId next(ValueId in) {
    switch (below(masks_.empty() ? 3 : 4)) {
      case 0:
        return number(Op::Add, {in, any(ends_), no_value});
      case 1:
        return number(Op::Fma, {any(numbers_), any(ends_), in});
      case 2:  // as it is, an iteration later
        return any(ends_);
      default:
        return number(Op::Select, {any(masks_), in, any(ends_)});
    }
  }
  std::mt19937_64 random_;
  Block block_;
  std::vector<ValueId> inputs_, numbers_, masks_, ends_;
};

/// Memory of a loop, with sources for all iterations.
struct PipelineMemory {
  alignas(64) std::array<std::byte, max_iterations * words_of_source * sizeof(double)> sources{};
  alignas(64) std::array<std::byte, pipeline_vectors * 64> data{};
  alignas(64) std::array<std::byte, max_vectors * 64> carried{}, crossing{};

  explicit PipelineMemory(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> numbers(-1, 1);
    const auto fill = [&](auto& bytes) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(double)) {
        const double value = numbers(random);
        std::memcpy(bytes.data() + at, &value, sizeof value);
      }
    };
    fill(sources);
    fill(data);
    fill(carried);
  }
  JitInterpreter interpreter(unsigned iteration) {
    return {{true, false},
            {sources.data() + iteration * words_of_source * sizeof(double), data.data(),
             carried.data(), crossing.data()}};
  }
};

void run_plain(const Block& block, unsigned iterations, PipelineMemory& memory) {
  for (unsigned iteration = 0; iteration < iterations; ++iteration)
    memory.interpreter(iteration).run_loop(block, 1);
}

/// The place that some iterations later is at p.
Place later(Place p, int iterations) {
  if (p.base == pipe_source)
    p.offset += iterations * static_cast<std::int32_t>(words_of_source * sizeof(double));
  return p;
}

/// `bodies` times a body of a number of iterations. The source is that of the first stage's
/// iteration.
void run_pipelined(const PipelinedLoop& parts, unsigned bodies, unsigned iterations,
                   PipelineMemory& memory) {
  memory.interpreter(0).run(parts.first);
  for (unsigned body = 1; body < bodies; ++body)
    memory.interpreter(body * iterations).run_loop(parts.loop, 1);
  memory.interpreter(bodies * iterations).run(parts.last);
}

PipelinedLoop parts_of(const PipelineSchedule& schedule, int iterations) {
  return pipelined(
      schedule, [&](Place p) { return later(p, -iterations); },
      [](std::size_t k) {
        return Place{pipe_crossing, false, static_cast<std::int32_t>(k * 64)};
      });
}

/// Returns the number of pipelined loops of the block, whose bodies are of `iterations` iterations.
std::size_t check_pipelined(const Block& block, unsigned iterations, std::uint64_t seed) {
  const Block body =
      iterations == 2 ? two_iterations(block, [](Place p) { return later(p, 1); }) : block;
  const std::vector<PipelineSchedule> schedules = pipeline_schedules(body);
  for (const PipelineSchedule& schedule : schedules) {
    REQUIRE(schedule.order.size() == schedule.block.code.size());
    REQUIRE(schedule.crossing.size() <= max_vectors);
    const PipelinedLoop parts = parts_of(schedule, static_cast<int>(iterations));
    for (unsigned bodies = 1; bodies * iterations <= max_iterations; ++bodies) {
      CAPTURE(iterations, bodies);
      PipelineMemory one(seed), other(seed);
      run_plain(block, bodies * iterations, one);
      run_pipelined(parts, bodies, iterations, other);
      REQUIRE(one.carried == other.carried);
    }
  }
  return schedules.size();
}

}  // namespace

TEST_CASE("pipelined loops leave the carried values of loops iteration by iteration", "[jit]") {
  std::size_t of_one = 0, of_two = 0;
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + test::test_iterations(300); ++seed) {
    CAPTURE(seed);
    const Block block = PipelineAuthor(seed).loop();
    of_one += check_pipelined(block, 1, seed);
    of_two += check_pipelined(block, 2, seed);
  }
  CHECK(of_one > 100);
  CHECK(of_two > 100);
}

TEST_CASE("a loop that is busy all the time, or has no long chain, is not pipelined", "[jit]") {
  Block block;
  const ValueId a = block.add_value({Type::Vector, true, {pipe_data, false, 0}});
  for (std::int32_t n = 0; n < 12; ++n) {
    const ValueId sum = block.add_value({});
    block.carried.push_back({sum, no_value, {pipe_carried, false, n * 64}});
    block.carried.back().out = block.add(Op::Add, Type::Vector, {sum, a, no_value});
  }
  CHECK(pipeline_schedules(block).empty());
}

TEST_CASE("a loop with effects on memory is not pipelined", "[jit]") {
  Block block = PipelineAuthor(3).loop();
  Operation store;
  store.op = Op::Store;
  store.in[0] = block.code.front().to;
  store.place = {pipe_carried, false, 0};
  block.code.push_back(store);
  CHECK(pipeline_schedules(block).empty());
}

}  // namespace gdr::jit
