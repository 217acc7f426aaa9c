// Two kernels. Each works in one half of the registers, in vectors of four, and tests the other
// half; the first one tests the local memory too. The expected word is the target's pattern XOR the
// number of the location, which detects address faults. It is written in section Start and verified
// in section End; in between, T accumulates a stream of words.
#include "libgdr/device/memory_test.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "gdr/kernel.hpp"

namespace gdr {
namespace {

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

}  // namespace

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

}  // namespace gdr
