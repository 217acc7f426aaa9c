#include "libgdr/device/self_test.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "emulator/host/stopwatch.hpp"
#include "gdr/error.hpp"
#include "gdr/kernel.hpp"
#include "gdr/matrix.hpp"
#include "libgdr/driver/access.hpp"

namespace gdr {
namespace {

constexpr const char* sums_text = R"(
.kernel self_test
ivar  long xi f64to72
jvar  long xj mj f64to72
fvar  long force f64to72 fadd at $lr24v
fvar  long mass  f64to72 fadd at $lr32v
.start
    upass force 0
    upass mass 0
.body
    vlen 1
    bget $lr0 xj
    bget $lr2 mj
    vlen 4
    fsub $lr8v $lr0 xi
    dmul $lr8v $lr8v $lr2
    fadd force force $lr8v
    fadd mass mass $lr2
)";

const Kernel& sums_kernel() {
  static const Kernel kernel = Kernel::assemble(sums_text, "self_test.gds");
  return kernel;
}

/// Random integers below `end`.
std::vector<double> numbers(std::size_t n, unsigned end, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(n);
  for (double& v : values) v = static_cast<double>(random() % end);
  return values;
}

/// A range of words of a memory.
struct Words {
  std::uint64_t address = 0, count = 0;
};

/// The start, middle and end of a memory, a range that changes with the round, and a word at every
/// power of two, which detects shorted address lines.
std::vector<Words> places_in_memory(std::uint64_t size, unsigned round) {
  const std::uint64_t n = std::min<std::uint64_t>(1024, size / 4);
  std::vector<Words> places{{0, n}, {(size - n) / 2, n}, {size - n, n}};
  const auto add = [&](const Words& more) {
    const auto meets = [&](const Words& w) {
      return more.address < w.address + w.count && w.address < more.address + more.count;
    };
    if (std::ranges::none_of(places, meets)) places.push_back(more);
  };
  for (std::uint64_t address = 1; address < size; address *= 2) add({address, 1});
  std::mt19937_64 random(round);
  add({random() % (size - n + 1), n});
  return places;
}

/// Tests ranges of every chip's memory: all are written before any is read.
std::string test_memories(BoardSlot& slot, const Geometry& g, unsigned round) {
  std::mt19937_64 random(round);
  CommandList write, read;
  std::vector<std::pair<unsigned, std::uint64_t>> where;  // chip and address of each word
  for (unsigned chip = 0; chip < g.chips_per_board; ++chip) {
    for (const Words& place : places_in_memory(g.dram_bytes / sizeof(std::uint64_t), round)) {
      Command c;
      c.kind = CommandKind::WriteMemory;
      c.chips = std::uint64_t{1} << chip;
      c.address = place.address;
      c.count = place.count;
      c.payload = write.payload.size();
      for (std::uint64_t k = 0; k < place.count; ++k) {
        write.payload.push_back(random());
        where.emplace_back(chip, place.address + k);
      }
      write.commands.push_back(c);
      c.kind = CommandKind::ReadMemory;
      c.payload = 0;
      read.commands.push_back(c);
    }
  }
  std::vector<std::uint64_t> none, back;
  slot.board->execute(write, none);
  slot.board->execute(read, back);
  if (back.size() != write.payload.size())
    return fmt::format("{} words of memory came back where {} were written", back.size(),
                       write.payload.size());
  const auto [at, wrong] = std::ranges::mismatch(write.payload, back);
  if (at == write.payload.end()) return {};
  const auto& [chip, address] = where[static_cast<std::size_t>(at - write.payload.begin())];
  return fmt::format("memory of chip {}: word {} holds {:#x} where {:#x} was written", chip,
                     address, *wrong, *at);
}

// Memories inside the chips, with two kernels. Each works in one half of the registers,
// in vectors of four, and tests the other half; the first one tests the local memory too. The
// expected word is the target's pattern XOR the number of the location, which detects address
// faults. It is written in section Start and verified in section End; in between, T accumulates a
// stream of words.

constexpr unsigned vector_words = 4, vector_shorts = 2 * vector_words;
/// Vectors of work registers in either half.
constexpr unsigned work_vectors = 3;
/// Instructions besides those for the local memory, which is tested as far as they fit.
constexpr unsigned other_instructions = 256;
constexpr unsigned place_instructions = 4;

/// Numbers of vectors in the registers and the local memory.
struct VectorCounts {
  unsigned registers = 0, local = 0;
};

VectorCounts vector_counts(const Geometry& g) {
  const unsigned capacity = g.instruction_words > other_instructions
                                ? (g.instruction_words - other_instructions) / place_instructions
                                : 0;
  return {std::min(g.register_words / vector_words, 32U),
          std::min(g.local_words / vector_words, capacity)};
}

std::string vector_register(unsigned v) { return fmt::format("$lr{}v", v * vector_shorts); }
std::string vector_of_local(unsigned v) { return fmt::format("$lm{}v", v * vector_shorts); }

/// `works` is the first vector of work registers.
std::string kernel_text(const std::vector<std::string>& places, unsigned works) {
  const std::string pattern = vector_register(works), work = vector_register(works + 1),
                    wrong = vector_register(works + 2);
  std::string text = fmt::format(
      ".kernel memory_test\n"
      "ivar long given raw at {0}\n"
      "fvar long seen raw pass at {0}\n"
      "fvar long stream raw pass at {1}\n"
      "fvar long wrong raw pass at {2}\n"
      "jvar long x0 x1 x2 x3 raw\n"
      ".start\n    upass $t 0\n",
      pattern, work, wrong);
  for (std::size_t k = 0; k < places.size(); ++k)
    text += fmt::format("    ixor {} {} {}\n", places[k], pattern, k);
  text += fmt::format(".body\n    bget {0} x0.v\n    ixor $t $t {0}\n", work);
  text += fmt::format(".end\n    upass {} 0\n", wrong);
  for (std::size_t k = 0; k < places.size(); ++k)
    text += fmt::format("    ixor {0} {1} {2}\n    ixor {0} {0} {3}\n    ior {4} {4} {0}\n", work,
                        places[k], pattern, k, wrong);
  return text + fmt::format("    upass {} $t\n", work);
}

/// Registers from a vector on, `n` vectors of them.
std::vector<std::string> registers_from(unsigned first, unsigned n) {
  std::vector<std::string> places;
  for (unsigned v = first; v < first + n; ++v) places.push_back(vector_register(v));
  return places;
}

/// Raw long words: two words of the host each, the lower one first.
using Longs = std::vector<std::uint64_t>;

Longs random_longs(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Longs words(2 * n);
  for (std::size_t k = 0; k < n; ++k) {
    words[2 * k] = random();
    words[2 * k + 1] = random() & 0xff;
  }
  return words;
}

void invert(Longs& words) {
  for (std::size_t k = 0; k < words.size(); ++k) words[k] ^= k % 2 == 0 ? ~std::uint64_t{0} : 0xff;
}

constexpr std::ptrdiff_t long_bytes = 2 * sizeof(std::uint64_t);

ConstArray input(const Longs& words, std::size_t first = 0, std::ptrdiff_t stride = long_bytes) {
  ConstArray array;
  array.data = words.data() + 2 * first;
  array.type = HostNumber::Raw;
  array.stride = stride;
  return array;
}

MutableArray output(Longs& words) {
  MutableArray array;
  array.data = words.data();
  array.type = HostNumber::Raw;
  array.stride = long_bytes;
  return array;
}

std::string target_location(const Geometry& g, std::size_t target) {
  const std::size_t pe = target / vector_words;
  return fmt::format("PE {} of block {} of chip {}", pe % g.pes_per_block,
                     pe / g.pes_per_block % g.blocks, pe / g.pes_per_block / g.blocks);
}

/// Description of the first mismatch; empty: none.
std::string compare(const Geometry& g, const char* what, const Longs& found, const Longs& wanted) {
  const auto [a, b] = std::ranges::mismatch(found, wanted);
  if (a == found.end()) return {};
  const auto word = static_cast<std::size_t>(a - found.begin());
  return fmt::format("{} of {}: bits {:#x} of the {} word are wrong", what,
                     target_location(g, word / 2), *a ^ *b,
                     word % 2 == 0 ? "lower 64 bits of a" : "upper 8 bits of a");
}

/// Runs a kernel twice: on patterns and a stream of items, and on their complements. The number of
/// items is odd, so that the sum in T is complemented too.
std::string run_test(Device& device, const Geometry& g, const std::string& text, std::size_t items,
                     std::uint64_t seed) {
  const std::size_t targets =
      std::size_t{g.chips_per_board} * g.blocks * g.pes_per_block * vector_words;
  Longs given = random_longs(targets, seed), sent = random_longs(items * vector_words, ~seed);
  Job job = device.job(Kernel::assemble(text, "memory_test.gds"));
  for (int run = 0; run < 2; ++run) {
    Longs of_pe(2 * vector_words), sums(2 * targets);
    for (std::size_t k = 0; k < sent.size(); ++k) of_pe[k % of_pe.size()] ^= sent[k];
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = of_pe[k % of_pe.size()];
    constexpr std::ptrdiff_t item = vector_words * long_bytes;
    job.sources(items, {{"x0", input(sent, 0, item)},
                        {"x1", input(sent, 1, item)},
                        {"x2", input(sent, 2, item)},
                        {"x3", input(sent, 3, item)}});
    job.targets(targets, {{"given", input(given)}});
    Longs wrong(2 * targets), seen(2 * targets), stream(2 * targets);
    job.run({{"seen", output(seen)}, {"wrong", output(wrong)}, {"stream", output(stream)}});
    std::string failure = compare(g, "registers", seen, given);
    if (failure.empty())
      failure = compare(g, "registers or local memory", wrong, Longs(2 * targets));
    if (failure.empty()) failure = compare(g, "broadcast memory or T", stream, sums);
    if (!failure.empty()) return failure;
    invert(given);
    invert(sent);
  }
  return {};
}

/// Every PE writes patterns to all registers, its local memory and T and verifies them; a stream of
/// words passes the broadcast memories. Every bit is tested as 0 and as 1, and every word differs
/// from its neighbours. Returns the failure and its location; empty: none. Machines with too few
/// registers or instructions are not tested.
std::string test_inner_memories(Device& device, const Geometry& g, unsigned round) {
  const VectorCounts has = vector_counts(g);
  const unsigned half = has.registers / 2;
  if (half < work_vectors) return {};
  std::vector<std::string> places = registers_from(0, half);
  for (unsigned v = 0; v < has.local; ++v) places.push_back(vector_of_local(v));
  // The stream fills both halves of the broadcast memory, plus one item.
  const std::size_t items = (g.broadcast_words / vector_words) | 1;
  const std::string failure = run_test(device, g, kernel_text(places, half), items, round);
  if (!failure.empty()) return failure;
  places = registers_from(half, has.registers - half);
  return run_test(device, g, kernel_text(places, 0), 1, round + 1);
}

/// Tests sums over sources: separate in all PEs, or reduced by the network.
std::string test_sums(Device& device, const DeviceCore& core, unsigned round) {
  const Geometry& g = core.geometry;
  const bool split = core.partition == Partition::SourcesOverBlocks;
  const std::size_t lanes = std::size_t{g.pes_per_block} * max_elements;
  const std::size_t targets = split ? lanes : lanes * g.blocks * g.chips_per_board;
  const std::size_t sources = split ? std::size_t{3} * g.blocks * g.chips_per_board + 5 : 37;
  const std::vector<double> xi = numbers(targets, 16, round), xj = numbers(sources, 16, round + 1),
                            mj = numbers(sources, 5, round + 2);
  std::vector<double> force(targets), mass(targets);
  Job job = device.job(sums_kernel());
  job.sources(sources, {{"xj", xj}, {"mj", mj}});
  job.targets(targets, {{"xi", xi}});
  job.run({{"force", force}, {"mass", mass}});
  double total = 0, moment = 0;
  for (std::size_t j = 0; j < sources; ++j) {
    total += mj[j];
    moment += mj[j] * xj[j];
  }
  for (std::size_t i = 0; i < targets; ++i) {
    const double wanted = moment - total * xi[i];
    if (force[i] == wanted && mass[i] == total) continue;
    return fmt::format("{}: target {} got {} and {} where {} and {} belong",
                       split ? "reduction network" : "arithmetic", i, force[i], mass[i], wanted,
                       total);
  }
  return {};
}

/// Rows of the identity, spread over all blocks and chips, times 2048 i + j.
std::string test_product(Device& device, unsigned round) {
  try {
    MatrixProduct product(device);
    const std::size_t k = product.depth(), n = 8, m = std::min<std::size_t>(k, 64);
    std::vector<double> a(m * k, 0.0), b(k * n), c(m * n);
    const auto column = [&](std::size_t row) { return (row * (k / m) + round) % k; };
    for (std::size_t row = 0; row < m; ++row) a[row + column(row) * m] = 1;
    const auto value = [](std::size_t i, std::size_t j) {
      return 2048.0 * static_cast<double>(i) + static_cast<double>(j);
    };
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < k; ++i) b[i + j * k] = value(i, j);
    product.compute(m, n, k, 1.0, {a.data(), m}, {b.data(), k}, 0.0, {c.data(), m});
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < m; ++i)
        if (c[i + j * m] != value(column(i), j))
          return fmt::format(
              "product of the identity with 2048 i + j: element ({}, {}) is {} where "
              "{} belongs",
              i, j, c[i + j * m], value(column(i), j));
  } catch (const Error& e) {
    if (e.category() != ErrorCategory::Unsupported) throw;  // a geometry without matrix products
  }
  return {};
}

}  // namespace

/// Wraps a single board in a temporary device.
struct SelfTest {
  static std::shared_ptr<DeviceCore> core(const Device& device) { return device.core(); }

  static std::string run(const DeviceCore& like, BoardSlot& slot, unsigned round) {
    auto core = std::make_shared<DeviceCore>();
    core->geometry = like.geometry;
    core->threads = like.threads;
    core->where = slot.board->name();
    core->boards.push_back(std::move(slot));
    BoardSlot& alone = core->boards.front();
    alone.invalidate();
    std::string failure;
    std::exception_ptr error;
    try {
      Device device = Device::over({core});
      failure = test_memories(alone, core->geometry, round);
      core->partition = Partition::TargetsOverBlocks;
      if (failure.empty()) failure = test_inner_memories(device, core->geometry, round);
      for (const Partition partition :
           {Partition::TargetsOverBlocks, Partition::SourcesOverBlocks}) {
        core->partition = partition;
        if (failure.empty()) failure = test_sums(device, *core, round);
      }
      if (failure.empty()) failure = test_product(device, round);
    } catch (...) {
      error = std::current_exception();
    }
    const std::string lost = alone.failure;
    slot = std::move(alone);
    slot.discard_work();
    slot.failed = false;  // reported by the caller
    if (!lost.empty()) throw driver::BoardFailure(lost);
    if (error) std::rethrow_exception(error);
    return failure;
  }
};

std::string test_board(const DeviceCore& device, BoardSlot& slot, unsigned round) {
  return SelfTest::run(device, slot, round);
}

std::vector<BoardTest> test_boards(DeviceCore& device, unsigned rounds, unsigned first_round,
                                   const std::stop_token& stop) {
  std::vector<BoardTest> tests;
  for (BoardSlot* const slot : device.usable()) {
    if (stop.stop_requested()) break;
    const Stopwatch timer;
    BoardTest& test = tests.emplace_back();
    test.board = slot->board->name();
    try {
      for (unsigned r = 0; r < rounds && test.failure.empty() && !stop.stop_requested(); ++r)
        test.failure = test_board(device, *slot, first_round + r);
    } catch (const Error& e) {
      test.failure = e.what();
    }
    test.seconds = timer.seconds();
    if (!test.failure.empty()) device.fail(*slot, test.failure);
  }
  device.usable();  // throws if none is left
  return tests;
}

std::shared_ptr<DeviceCore> core_of(const Device& device) { return SelfTest::core(device); }

}  // namespace gdr
