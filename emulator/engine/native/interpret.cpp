#include "emulator/engine/native/interpret.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulator/engine/native/lane_operations.hpp"

namespace gdr::native {
namespace {

/// Lanes of the portable path.
constexpr std::size_t lanes = row_lanes;
static_assert(lanes == Target{}.lanes());

}  // namespace

InterpretedKernel::InterpretedKernel(const KernelCode& code, Target target,
                                     const WordTable& source_words, const WordTable& uniform_words)
    : target_(target),
      layout_(code.layout),
      source_words_(source_words),
      uniform_words_(uniform_words),
      word_bytes_(target.precision == Precision::Float ? 4 : 8),
      group_bytes_(static_cast<std::uint32_t>(source_words.words.size()) * word_bytes_),
      loops_(code.loops) {
  once_ = prepare(code.once, code);
  if (!loops_) return;
  first_ = prepare(code.first, code);
  loop_ = prepare(code.loop, code);
  last_ = prepare(code.last, code);
}

InterpretedKernel::Piece InterpretedKernel::prepare(const Segment& segment,
                                                    const KernelCode& code) {
  Piece piece;
  const std::vector<bool> needed = needed_nodes(segment);
  std::vector<std::uint32_t> number(segment.graph.size(), 0);
  for (std::uint32_t n = 0; n < segment.graph.size(); ++n) {
    if (!needed[n]) continue;
    Step step;
    step.node = segment.graph[ref_to(n)];
    std::size_t k = 0;
    for (const Ref r : {step.node.a, step.node.b, step.node.c}) {
      if (r != no_ref) {
        step.in[k] = number[node_of(r)];
        step.inverted[k] = negated(r);
      }
      ++k;
    }
    const LeafKey key = LeafKey::unpack(step.node.bits);
    const auto word = [&](std::uint32_t w) { return static_cast<std::int32_t>(w * word_bytes_); };
    if (step.node.op == NodeOp::Source) {
      step.offset =
          word(source_words_.number(key)) - static_cast<std::int32_t>(key.delay * group_bytes_);
    } else if (step.node.op == NodeOp::Uniform) {
      step.offset = word(uniform_words_.number(key));
    } else if (step.node.op == NodeOp::Input) {
      const auto found = std::find(code.carried_slot.begin(), code.carried_slot.end(), key.place);
      step.carried = found != code.carried_slot.end();
      step.offset = static_cast<std::int32_t>(
          step.carried
              ? static_cast<std::uint32_t>(found - code.carried_slot.begin()) * layout_.vector_bytes
              : layout_.input(key.place));
    }
    number[n] = step.to = static_cast<std::uint32_t>(piece.values++);
    piece.steps.push_back(step);
  }
  for (const Store& store : segment.stores) {
    const bool output = store.area == Store::Area::Output;
    const std::uint32_t offset =
        output ? layout_.output(store.slot) : store.slot * layout_.vector_bytes;
    piece.stores.push_back({store.area, static_cast<std::int32_t>(offset),
                            number[node_of(store.value)], negated(store.value)});
  }
  return piece;
}

template <typename Lane, typename Word>
void InterpretedKernel::run_lanes(const Piece& piece, const Bases& bases) const {
  static thread_local std::vector<Word> memory;
  memory.resize((piece.values + 3) * lanes);
  Word* const turned = memory.data() + piece.values * lanes;  // complements of masks
  for (const Step& step : piece.steps) {
    Word* const to = memory.data() + step.to * lanes;
    const auto broadcast = [&](const std::byte* from) {
      Word word;
      std::memcpy(&word, from + step.offset, sizeof word);
      std::fill_n(to, lanes, word);
    };
    switch (step.node.op) {
      case NodeOp::Constant:
        std::fill_n(to, lanes, static_cast<Word>(constant_lane(step.node, target_.precision)));
        continue;
      case NodeOp::Source:
        broadcast(bases.source);
        continue;
      case NodeOp::Uniform:
        broadcast(bases.uniforms);
        continue;
      case NodeOp::Input:
        std::memcpy(to, (step.carried ? bases.carried : bases.item) + step.offset,
                    lanes * sizeof(Word));
        continue;
      default:
        break;
    }
    std::array<const Word*, 3> in{};
    for (std::size_t k = 0; k < 3; ++k) {
      in[k] = memory.data() + step.in[k] * lanes;
      if (!step.inverted[k]) continue;
      for (std::size_t i = 0; i < lanes; ++i) turned[k * lanes + i] = static_cast<Word>(~in[k][i]);
      in[k] = turned + k * lanes;
    }
    const Rows<Lane, Word> rows{in[0], in[1], in[2], to};
    apply(step.node, rows);
  }
  for (const Stored& store : piece.stores) {
    std::byte* const base = store.area == Store::Area::Output ? bases.item : bases.next;
    const Word* from = memory.data() + store.value * lanes;
    if (store.inverted) {
      for (std::size_t i = 0; i < lanes; ++i) turned[i] = static_cast<Word>(~from[i]);
      from = turned;
    }
    std::memcpy(base + store.offset, from, lanes * sizeof(Word));
  }
}

void InterpretedKernel::run_piece(const Piece& piece, const Bases& bases) const {
  if (target_.precision == Precision::Float) {
    run_lanes<float, std::uint32_t>(piece, bases);
  } else {
    run_lanes<double, std::uint64_t>(piece, bases);
  }
}

void InterpretedKernel::run(std::byte* item, const std::byte* source, const std::byte* uniforms,
                            std::uint64_t passes) const {
  Bases bases{item, item + layout_.set(0), item + layout_.set(1), source, uniforms};
  if (loops_ && passes > 1) {
    run_piece(first_, bases);
    std::swap(bases.carried, bases.next);
    bases.source += group_bytes_;
    for (std::uint64_t pass = 1; pass + 1 < passes; ++pass) {
      run_piece(loop_, bases);
      std::swap(bases.carried, bases.next);
      bases.source += group_bytes_;
    }
    std::byte* const spare = std::exchange(bases.next, bases.carried);
    run_piece(last_, bases);
    bases.next = spare;
  }
  run_piece(once_, bases);
}

}  // namespace gdr::native
