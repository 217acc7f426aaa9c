// The portable path: a kernel's segments, value by value, in plain loops over lanes.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/translate/lane_operations.hpp"
#include "emulator/engine/native/words/word_conversion.hpp"

namespace gdr::native {
namespace {

/// Lanes of the portable path.
constexpr std::size_t lanes = row_lanes;
static_assert(lanes == Target{}.lanes());

/// A kernel with locations instead of keys.
class Interpreter {
 public:
  explicit Interpreter(const CodeContext& context)
      : precision_(context.target.precision),
        layout_(context.kernel.layout),
        group_bytes_(context.group_bytes()),
        loops_(context.kernel.loops),
        once_(prepare(context.kernel.once, context)) {
    if (!loops_) return;
    first_ = prepare(context.kernel.first, context);
    loop_ = prepare(context.kernel.loop, context);
    last_ = prepare(context.kernel.last, context);
    blocks_ = context.kernel.sums.count > 0;
    block_iterations_ = context.kernel.sums.iterations;
    begin_ = prepare(context.kernel.sums.begin, context);
    move_ = prepare(context.kernel.sums.move, context);
    finish_ = prepare(context.kernel.sums.finish, context);
  }

  void run(std::byte* item, const std::byte* source, const std::byte* uniforms,
           std::uint64_t iterations) const {
    Bases bases{item, item + layout_.set(0), item + layout_.set(1), source, uniforms};
    if (loops_ && iterations > 1) {
      run_segment(first_, bases);
      std::swap(bases.carried, bases.next);
      bases.source += group_bytes_;
      if (blocks_) run_in_place(begin_, bases);
      for (std::uint64_t iteration = 1; iteration + 1 < iterations; ++iteration) {
        run_segment(loop_, bases);
        std::swap(bases.carried, bases.next);
        bases.source += group_bytes_;
        if (blocks_ && iteration % block_iterations_ == 0) run_in_place(move_, bases);
      }
      if (blocks_) run_in_place(finish_, bases);
      run_in_place(last_, bases);
    }
    run_segment(once_, bases);
  }

 private:
  /// One operation and its operands.
  struct Step {
    Node node;
    std::array<std::uint32_t, 3> in{};  ///< numbers of the operands
    std::array<bool, 3> inverted{};
    /// Location of an Input, Source or Uniform, the table of a Lookup, the ListRows of an Append.
    Location leaf;
    bool has_lanes = false;  ///< whether a leaf has a value for each lane
  };
  struct Stored {
    Location to;
    std::uint32_t value;
    bool inverted;
  };
  /// Step n makes value n.
  struct SegmentCode {
    std::vector<Step> steps;
    std::vector<Stored> stores;
  };
  struct Bases {
    std::byte *item, *carried, *next;
    const std::byte *source, *uniforms;
    const std::byte* at(Location l) const noexcept {
      const std::byte* const bases[] = {item, source, uniforms, nullptr, carried, next};
      return bases[l.base] + l.offset;
    }
  };

  static SegmentCode prepare(const Segment& segment, const CodeContext& context) {
    SegmentCode code;
    const std::vector<bool> needed = needed_nodes(segment);
    std::vector<std::uint32_t> number(segment.graph.size(), 0);
    for (std::uint32_t n = 0; n < segment.graph.size(); ++n) {
      if (!needed[n]) continue;
      Step step;
      step.node = segment.graph[ref_to(n)];
      std::size_t k = 0;
      for (const Ref r : step.node.operands()) {
        step.in[k] = number[node_of(r)];
        step.inverted[k++] = negated(r);
      }
      if (is_leaf(step.node.op) && step.node.op != NodeOp::Constant) {
        step.leaf = context.leaf(step.node);
        step.has_lanes = context.has_lanes(step.node);
      }
      if (step.node.op == NodeOp::Lookup) step.leaf = context.table(step.node);
      if (step.node.op == NodeOp::Append)
        step.leaf = context.list(AppendKey::unpack(step.node.bits).list);
      number[n] = static_cast<std::uint32_t>(code.steps.size());
      code.steps.push_back(step);
    }
    for (const Store& store : segment.stores) {
      if (!store.has_place()) continue;
      code.stores.push_back({context.destination(store, base_next), number[node_of(store.value)],
                             negated(store.value)});
    }
    return code;
  }

  template <typename Word>
  static void append(const jit::ListRows& list, const Word* mask, const Word* entries) {
    for (std::size_t k = 0; k < lanes; ++k)
      if (mask[k] != 0 && (list.live >> k & 1) != 0)
        list.append(
            k, static_cast<std::uint64_t>(lane_integer(static_cast<Integer<Word>>(entries[k]))));
  }

  /// Fills the lanes of a leaf.
  template <typename Word>
  void load_leaf(const Step& step, const Bases& bases, Word* to) const {
    if (step.node.op == NodeOp::Constant) {
      std::fill_n(to, lanes, static_cast<Word>(constant_lane(step.node, precision_)));
    } else if (step.has_lanes) {
      std::memcpy(to, bases.at(step.leaf), lanes * sizeof(Word));
    } else {
      std::fill_n(to, lanes, load_lane<Word>(bases.at(step.leaf)));
    }
  }

  /// An operand or its complement, which is then in `complement`.
  template <typename Word>
  static const Word* operand(const Word* lanes_of_value, bool inverted, Word* complement) {
    if (!inverted) return lanes_of_value;
    for (std::size_t i = 0; i < lanes; ++i) complement[i] = static_cast<Word>(~lanes_of_value[i]);
    return complement;
  }

  template <typename Lane, typename Word>
  void run_lanes(const SegmentCode& code, const Bases& bases) const {
    static thread_local std::vector<Word> memory;
    memory.resize((code.steps.size() + 3) * lanes);
    Word* const complements = memory.data() + code.steps.size() * lanes;  // complements of masks
    Word* to = memory.data();
    for (const Step& step : code.steps) {
      Word* const made = std::exchange(to, to + lanes);
      if (is_leaf(step.node.op)) {
        load_leaf(step, bases, made);
        continue;
      }
      std::array<const Word*, 3> in{};
      for (std::size_t k = 0; k < 3; ++k)
        in[k] =
            operand(memory.data() + step.in[k] * lanes, step.inverted[k], complements + k * lanes);
      if (step.node.op == NodeOp::Append) {
        append(*reinterpret_cast<const jit::ListRows*>(bases.item + step.leaf.offset), in[0],
               in[1]);
      } else if (step.node.op == NodeOp::Lookup) {
        for (std::size_t i = 0; i < lanes; ++i)
          made[i] = load_lane<Word>(bases.at(step.leaf) + in[0][i] * sizeof(Word));
      } else {
        apply(step.node, Rows<Lane, Word>{in[0], in[1], in[2], made});
      }
    }
    for (const Stored& store : code.stores) {
      std::byte* const base = store.to.base == base_items ? bases.item : bases.next;
      const Word* const from =
          operand(memory.data() + store.value * lanes, store.inverted, complements);
      std::memcpy(base + store.to.offset, from, lanes * sizeof(Word));
    }
  }

  /// Carried values are replaced.
  void run_in_place(const SegmentCode& code, Bases bases) const {
    bases.next = bases.carried;
    run_segment(code, bases);
  }

  void run_segment(const SegmentCode& code, const Bases& bases) const {
    if (precision_ == Precision::Float) {
      run_lanes<float, std::uint32_t>(code, bases);
    } else {
      run_lanes<double, std::uint64_t>(code, bases);
    }
  }

  Precision precision_;
  ItemLayout layout_;
  std::uint32_t group_bytes_;
  bool loops_, blocks_ = false;
  std::uint64_t block_iterations_ = 1;
  SegmentCode once_, first_, loop_, last_;
  SegmentCode begin_, move_, finish_;  ///< segments of blocked sums
};

}  // namespace

InterpretedKernel interpret_kernel(const CodeContext& context) {
  return [interpreter = std::make_shared<const Interpreter>(context)](
             std::byte* item, const std::byte* source, const std::byte* uniforms,
             std::uint64_t iterations) { interpreter->run(item, source, uniforms, iterations); };
}

}  // namespace gdr::native
