#include "emulator/engine/native/gpu/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "emulator/engine/native/gpu/list_text.hpp"

namespace gdr::native {
namespace {

/// What differs between devices' languages and between doubles and floats. Numbers, integers and
/// masks are `number`, `bits` and `bool`; words of memory are bits.
constexpr const char* prelude_of_doubles = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef double number;
typedef ulong bits;
typedef long signed_bits;
typedef ulong2 bits2;
#define as_number(x) as_double(x)
#define as_bits(x) as_ulong(x)
#define as_signed(x) as_long(x)
)";
constexpr const char* prelude_of_floats = R"(#pragma OPENCL FP_CONTRACT OFF
typedef float number;
typedef uint bits;
typedef int signed_bits;
typedef uint2 bits2;
#define as_number(x) as_float(x)
#define as_bits(x) as_uint(x)
#define as_signed(x) as_int(x)
)";
/// As the portable path's operations (lane_operations.hpp).
constexpr const char* functions = R"(
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__) || defined(__CUDACC__)
#define has_ptx
#endif
#ifdef __CUDACC__
#define assembly asm
#else
#define assembly __asm__
#endif
number larger(number a, number b) { return isnan(a) || !(b > a || isnan(b)) ? a : b; }
number smaller(number a, number b) { return isnan(a) || !(b < a || isnan(b)) ? a : b; }
bits load_mask(bool mask) { return mask ? ~(bits)0 : (bits)0; }
)";
constexpr const char* functions_of_doubles = R"(
// scale / sqrt(x). NVIDIA's function takes branches for subnormals; from the same estimate of 20 bits, a
// step of third order has an error of one unit of the last place: 1 + e / 2 + 3/8 e^2, with x y^2 = 1 - e.
// NaN for 0 and infinity, where x y is.
#ifdef has_ptx
number scaled_root(number x, number scale) {
  number y;
  assembly("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const number e = fma(-(x * y), y, 1.0);
  return y * fma(e, fma(e, 0.375 * scale, 0.5 * scale), scale);
}
#else
number scaled_root(number x, number scale) { return fma(x, 0.0, rsqrt(x) * scale); }
#endif
long integer_of(bits x) { return as_long(x) >> 28; }
bits round_to_short(bits x) {
  return (x + 0x7ffffffUL + ((x >> 28) & 1UL)) & ~0xfffffffUL;
}
bits shifted_left(bits a, bits b) {
  bits n = b >> 28;
  return n < 64UL ? a << n : 0UL;
}
bits shifted_right(bits a, bits b) {
  bits n = b >> 28;
  return n < 64UL ? a >> n : 0UL;
}
bits shifted_arithmetically(bits a, bits b) {
  bits n = b >> 28;
  return as_ulong(as_long(a) >> (n < 63UL ? n : 63UL));
}
bits to_int(number x) { return isnan(x) ? 0x8000000000000000UL : as_ulong(convert_long_sat_rtz(x)); }
)";
constexpr const char* functions_of_floats = R"(
#ifdef has_ptx
number estimated_root(number x) {
  number y;
  assembly("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#else
number estimated_root(number x) { return rsqrt(x); }
#endif
// NaN for infinity.
number scaled_root(number x, number scale) { return fma(x, 0.0f, estimated_root(x) * scale); }
long integer_of(bits x) { return (long)as_int(x); }
bits shifted_left(bits a, bits b) { return b < 32u ? a << b : 0u; }
bits to_int(number x) { return isnan(x) ? 0x80000000u : as_uint(convert_int_sat_rtz(x)); }
)";

constexpr unsigned copies_of_free = 4;

class Writer {
 public:
  Writer(const CodeContext& context, std::span<const LeafKey> compared, PassShare share)
      : c_(context),
        k_(context.kernel),
        compared_(compared),
        share_(share),
        floats_(context.target.precision == Precision::Float),
        lists_(context) {}

  std::string run() {
    line("{}{}{}{}", floats_ ? prelude_of_floats : prelude_of_doubles, functions,
         floats_ ? functions_of_floats : functions_of_doubles, lists_.function());
    line("__kernel void run(__global const bits* restrict items, __global bits* restrict results,");
    line("                  __global const bits* restrict words,");
    line("                  __global const bits* restrict uniforms, ulong threads,");
    line("                  ulong first_word, ulong passes, {},", share_arguments());
    line(
        "                  __global bits* restrict left, __global const long* restrict ranges{}) "
        "{{",
        lists_.arguments());
    begin_thread();
    const auto of_thread = [&](const char* type, const char* name, std::uint32_t bytes) {
      line("__global {0}bits* restrict {1} = {1}s + thread / {2} * {3} + thread % {2};", type, name,
           lanes(), word(bytes));
    };
    of_thread("const ", "item", k_.layout.bytes());
    of_thread("", "result", k_.layout.outputs * k_.layout.vector_bytes);
    line("left += thread / {0} * {1} + thread % {0};", lanes(), left_words() * lanes());
    line("__global const bits* restrict source = words + first_word + begin * {};", group_words());
    begin_values();
    text_ += lists_.begin();
    if (share_ == PassShare::Join) {
      join_parts();
      last_pass();
    } else if (k_.loops && k_.has_effects()) {
      loop();
    } else if (k_.loops) {
      // Only the last pass is observable.
      line("source += (passes - 1) * {};", group_words());
    }
    if (share_ == PassShare::Part)
      leave();
    else
      segment(k_.once);
    text_ += lists_.end();
    line("}}");
    return std::move(text_);
  }

 private:
  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  std::uint32_t lanes() const { return c_.target.lanes(); }
  std::uint32_t word(std::uint32_t bytes) const { return bytes / c_.target.lane_bytes(); }
  std::uint32_t group_words() const { return word(c_.group_bytes()); }

  /// A word that a launch leaves for the next one. At a constant distance from the thread's first
  /// one, so that the loop does not keep its address.
  std::string left(std::uint32_t number) const { return fmt::format("left[{}]", number * lanes()); }
  std::uint32_t left_words() const { return k_.layout.carried + k_.layout.totals; }

  const char* share_arguments() const {
    return share_ == PassShare::All    ? "ulong begin, ulong end"
           : share_ == PassShare::Part ? "ulong first_part, ulong parts, ulong length"
                                       : "ulong parts";
  }
  /// The thread's lane, and its passes: from `begin` to before `end`.
  void begin_thread() {
    if (share_ == PassShare::Part) {
      line("const ulong part = first_part + get_global_id(0) / threads;");
      line("const ulong thread = get_global_id(0) % threads;");
      line("if (part >= parts) return;");
      line("const ulong begin = part * length, end = min(begin + length, passes - 1);");
      line("left += part * threads * {};", left_words());
      return;
    }
    line("const ulong thread = get_global_id(0);");
    line("if (thread >= threads) return;");
    if (share_ == PassShare::Join) line("const ulong begin = passes - 1;");
  }

  /// The carried values before the first pass. The sums of a part other than the first one begin
  /// with zero.
  void begin_values() {
    const auto resumed = [&](Kind kind, std::uint32_t number) {
      return share_ == PassShare::Part ? "0" : loaded(kind, left(number));
    };
    for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c) {
      const Kind kind = kind_of(carried_type(c));
      line("{} c{} = {};", type_name(kind), c, loaded(kind, place(c_.carried(base_carried, c))));
      line("if (begin != 0) c{} = {};", c, resumed(kind, c));
    }
    for (std::uint32_t t = 0; t < k_.layout.totals; ++t)
      line("number total{} = begin != 0 ? {} : 0;", t,
           resumed(Kind::Number, k_.layout.carried + t));
  }

  /// Adds the sums of the other parts to those of the first one.
  void join_parts() {
    const bool blocks = k_.sums.count > 0;
    // Of each sum: what is not in a total yet, then the total's two parts.
    const std::vector<std::uint32_t> carried = blocked();
    const auto move = [&](auto number_of) {
      for (std::uint32_t n = 0; n < carried.size(); ++n)
        line("c{} = {};", carried[n], loaded(Kind::Number, left(number_of(n))));
      segment(k_.sums.move);
    };
    const auto total = [&](std::uint32_t n) { return k_.layout.carried + 2 * n; };
    if (blocks) segment(k_.sums.move);
    line("for (ulong part = 1; part < parts; ++part) {{");
    line("left += threads * {};", left_words());
    if (blocks) {
      move([&](std::uint32_t n) { return carried[n]; });
      move(total);
      for (std::uint32_t n = 0; n < carried.size(); ++n)
        line("total{} += {};", 2 * n + 1, loaded(Kind::Number, left(total(n) + 1)));
    } else {
      for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c)
        line("c{} += {};", c, loaded(Kind::Number, left(c)));
    }
    line("}}");
  }
  /// The carried values of blocked sums, in their order.
  std::vector<std::uint32_t> blocked() const {
    std::vector<std::uint32_t> carried;
    for (const Store& store : k_.sums.move.stores)
      if (store.area == Store::Area::Carried) carried.push_back(store.slot);
    return carried;
  }

  void leave() {
    for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c)
      line("{} = {};", left(c), stored(kind_of(carried_type(c)), fmt::format("c{}", c)));
    for (std::uint32_t t = 0; t < k_.layout.totals; ++t)
      line("{} = {};", left(k_.layout.carried + t),
           stored(Kind::Number, fmt::format("total{}", t)));
  }
  /// A launch that does not reach the last pass ends here.
  void leave_unfinished() {
    line("if (end < passes) {{");
    leave();
    text_ += lists_.end();
    line("return;");
    line("}}");
  }

  void last_pass() {
    if (k_.sums.count > 0) segment(k_.sums.finish);
    segment(k_.last);
  }

  /// As the portable path (interpret.cpp).
  void loop() {
    const bool blocks = k_.sums.count > 0;
    line("if (passes > 1) {{");
    line("if (begin == 0) {{");
    segment(k_.first);
    line("source += {};", group_words());
    if (blocks) segment(k_.sums.begin);
    line("}}");
    line("const ulong stop = end < passes ? end : passes - 1;");
    const bool may_be_free = has_ranges();
    if (may_be_free) begin_free();
    line("for (ulong pass = begin == 0 ? 1 : begin; pass < stop;) {{");
    line("ulong until = min(stop, pass + 0x40000000UL);");
    if (blocks)
      line("until = min(until, (pass + {0}) / {1} * {1} + 1);", k_.sums.passes - 1, k_.sums.passes);
    if (may_be_free) {
      line("const ulong window = (first_group + pass) / {};", SourceWindows::groups);
      line("until = min(until, (window + 1) * {} - first_group);", SourceWindows::groups);
      line("if (is_free && {}", free_of("window"));
      line("    && {}) {{",
           free_of(fmt::format("(first_group + pass - 1) / {}", SourceWindows::groups)));
      passes_before(k_.unguarded.loop, copies_of_free);
      line("}} else {{");
    }
    passes_before(k_.loop, 1);
    if (may_be_free) line("}}");
    if (blocks) {
      line("if ((pass - 1) % {} == 0) {{", k_.sums.passes);
      segment(k_.sums.move);
      line("}}");
    }
    line("}}");
    if (share_ == PassShare::All) {
      line("if (end >= passes) {{");
      last_pass();
      line("}}");
    }
    line("}}");
    if (share_ == PassShare::All) leave_unfinished();
  }

  /// `copies`: passes at a time, in text, since compilers do not unroll loops with assembly.
  void passes_before(const Segment& pass, unsigned copies) {
    line("uint remaining = (uint)(until - pass);");
    for (const unsigned at_once : copies > 1 ? std::vector{copies, 1U} : std::vector{1U}) {
      line("for (; remaining >= {0}u; remaining -= {0}u) {{", at_once);
      for (unsigned k = 0; k < at_once; ++k) {
        segment(pass);
        line("source += {};", group_words());
      }
      line("}}");
    }
    line("pass = until;");
  }

  /// Whether the loop without rare conditions can be chosen by the ranges of source words.
  bool has_ranges() const {
    const UnguardedLoop& free = k_.unguarded;
    return free.usable && std::ranges::all_of(free.equal, [&](const EqualWords& e) {
             return std::ranges::find(compared_, e.source) != compared_.end();
           });
  }
  /// What does not depend on the pass: UnguardedLoop::positive_slots and positive_uniforms.
  void begin_free() {
    line("const ulong first_group = first_word / {};", group_words());
    std::string positive = "true";
    const auto add = [&](const std::string& word) {
      positive += fmt::format(" && as_signed({}) >= {}", word,
                              floats_ ? "0x00800000" : "0x0010000000000000L");
    };
    for (const std::uint32_t slot : k_.unguarded.positive_slots)
      add(place(c_.item(k_.input_offset[slot])));
    for (const LeafKey word : k_.unguarded.positive_uniforms)
      add(fmt::format("uniforms[{}]", c_.uniform_words.number(word)));
    line("const bool is_free = {};", positive);
    for (std::size_t n = 0; n < k_.unguarded.equal.size(); ++n)
      line("const long id{} = integer_of({});", n,
           place(c_.item(k_.input_offset[k_.unguarded.equal[n].slot])));
  }
  /// Whether no source of a window has a word equal to the thread's.
  std::string free_of(const std::string& window) const {
    std::string all = "true";
    for (std::size_t n = 0; n < k_.unguarded.equal.size(); ++n) {
      const auto number =
          std::ranges::find(compared_, k_.unguarded.equal[n].source) - compared_.begin();
      const std::string range = fmt::format("({} * {} + {}) * 2", window, compared_.size(), number);
      all += fmt::format(" && (id{0} < ranges[{1}] || ranges[{1} + 1] < id{0})", n, range);
    }
    return all;
  }

  static Kind kind_of(WordType type) {
    if (type == WordType::Mask) return Kind::Mask;
    return is_number(type) ? Kind::Number : Kind::Bits;
  }
  WordType carried_type(std::uint32_t c) const {
    // A carried value has the type of the store that makes it.
    for (const Segment* s : {&k_.loop, &k_.first, &k_.last})
      for (const Store& store : s->stores)
        if (store.area == Store::Area::Carried && store.slot == c) return store.type;
    return WordType::Bits;
  }
  static const char* type_name(Kind kind) {
    constexpr std::array names{"number", "bits", "bool"};
    return names[static_cast<std::size_t>(kind)];
  }
  /// A word of memory as a value.
  static std::string loaded(Kind kind, const std::string& from) {
    if (kind == Kind::Number) return "as_number(" + from + ")";
    return kind == Kind::Mask ? from + " != 0" : from;
  }
  static std::string stored(Kind kind, const std::string& value) {
    if (kind == Kind::Number) return "as_bits(" + value + ")";
    return kind == Kind::Mask ? "load_mask(" + value + ")" : value;
  }

  std::string place(Location l) const {
    const std::int32_t offset = l.offset / static_cast<std::int32_t>(c_.target.lane_bytes());
    if (l.base == base_source) return fmt::format("source[{}]", offset);
    if (l.base == base_uniforms) return fmt::format("uniforms[{}]", offset);
    if (l.base == base_carried)
      return fmt::format("item[{}]", static_cast<std::int64_t>(word(k_.layout.set(0))) + offset);
    return fmt::format("item[{}]", offset);
  }

  std::string constant(const Node& node) const {
    const std::uint64_t lane = constant_lane(node, c_.target.precision);
    const std::string bits = floats_ ? fmt::format("{:#x}u", static_cast<std::uint32_t>(lane))
                                     : fmt::format("{:#x}UL", lane);
    if (node.kind == Kind::Mask) return lane != 0 ? "true" : "false";
    return node.kind == Kind::Number ? "as_number(" + bits + ")" : bits;
  }

  /// The values of a segment, then its stores.
  void segment(const Segment& s) {
    const Graph& g = s.graph;
    const std::vector<bool> needed = without_roots(g, needed_nodes(s));
    line("{{");
    load_pairs(g, needed);
    for (std::uint32_t n = 0; n < g.size(); ++n) {
      if (!needed[n]) continue;
      const Node& node = g[ref_to(n)];
      if (node.op == NodeOp::Append)
        line("{}", lists_.append(AppendKey::unpack(node.bits).list, operand(g, node.a),
                                 operand(g, node.b)));
      else
        line("const {} v{} = {};", type_name(node.kind), n, expression(g, node));
    }
    for (const Store& store : s.stores) {
      if (!store.has_place()) continue;  // an append
      const Kind kind = g[store.value].kind;
      const std::string value = operand(g, store.value);
      if (store.area == Store::Area::Carried)
        line("c{} = {};", store.slot, as_kind(value, kind, kind_of(carried_type(store.slot))));
      else if (store.area == Store::Area::Total)
        line("total{} = {};", store.slot, value);
      else
        line("result[{}] = {};", store.slot * lanes(), stored(kind, value));
    }
    line("}}");
  }
  /// Source words are loaded in pairs, if all groups begin with one.
  bool in_pairs() const { return group_words() % 2 == 0; }
  void load_pairs(const Graph& g, const std::vector<bool>& needed) {
    std::set<std::int32_t> pairs;
    for (std::uint32_t n = 0; n < g.size() && in_pairs(); ++n)
      if (needed[n] && g[ref_to(n)].op == NodeOp::Source)
        pairs.insert(source_word(g[ref_to(n)]) >> 1);
    for (const std::int32_t pair : pairs)
      line("const bits2 {} = ((__global const bits2*)source)[{}];", pair_name(pair), pair);
  }
  std::int32_t source_word(const Node& node) const {
    return c_.leaf(node).offset / static_cast<std::int32_t>(c_.target.lane_bytes());
  }
  static std::string pair_name(std::int32_t pair) {
    return fmt::format("{}{}", pair < 0 ? "before" : "pair", pair < 0 ? -pair : pair);
  }

  /// The roots that a node takes, with a scale and NaN for an infinite argument, as one function.
  struct ScaledRoot {
    Ref x = no_ref, scale = no_ref;  ///< no scale: 1
    Ref product = no_ref, root = no_ref;
  };
  static std::optional<ScaledRoot> scaled_root(const Graph& g, const Node& node) {
    if (node.op != NodeOp::Fma || node.detail != 0 || node.kind != Kind::Number)
      return std::nullopt;
    const Node& zero = g[node.b];
    if (zero.op != NodeOp::Constant || zero.bits != 0) return std::nullopt;
    ScaledRoot r{node.a, no_ref, no_ref, node.c};
    if (g[r.root].op == NodeOp::Mul) {
      r.product = r.root;
      const Node& m = g[r.product];
      const bool first = g[m.a].op == NodeOp::RsqrtEstimate;
      r.root = first ? m.a : m.b;
      r.scale = first ? m.b : m.a;
      if (g[r.scale].op != NodeOp::Constant) return std::nullopt;
    }
    if (g[r.root].op != NodeOp::RsqrtEstimate || g[r.root].a != r.x) return std::nullopt;
    return r;
  }
  /// Without the parts of such roots that nothing else uses.
  static std::vector<bool> without_roots(const Graph& g, std::vector<bool> needed) {
    std::vector<unsigned> uses(g.size(), 0), in_roots(g.size(), 0);
    for (std::uint32_t n = 0; n < g.size(); ++n) {
      if (!needed[n]) continue;
      const Node& node = g[ref_to(n)];
      for (const Ref r : node.operands()) ++uses[node_of(r)];
      if (const auto root = scaled_root(g, node)) {
        ++in_roots[node_of(root->product != no_ref ? root->product : root->root)];
      }
    }
    for (std::uint32_t n = static_cast<std::uint32_t>(g.size()); n-- > 0;) {
      if (!needed[n] || in_roots[n] == 0 || in_roots[n] != uses[n]) continue;
      needed[n] = false;
      if (g[ref_to(n)].op == NodeOp::Mul)
        for (const Ref r : g[ref_to(n)].operands())
          if (g[r].op == NodeOp::RsqrtEstimate) ++in_roots[node_of(r)];
    }
    return needed;
  }

  /// A number's bits and its value are one word.
  static std::string as_kind(const std::string& value, Kind from, Kind to) {
    if (from == to) return value;
    return loaded(to, stored(from, value));
  }

  static std::string operand(const Graph& g, Ref r) {
    const std::string name = fmt::format("v{}", node_of(r));
    if (!negated(r)) return name;
    return g[r].kind == Kind::Mask ? "!" + name : "~" + name;
  }

  std::string leaf(const Node& node) const {
    if (node.op == NodeOp::Constant) return constant(node);
    const LeafKey key = LeafKey::unpack(node.bits);
    if (node.op == NodeOp::Input) {
      if (const auto number = c_.carried_number(key.place)) {
        const Kind kind = kind_of(carried_type(*number));
        return as_kind(fmt::format("c{}", *number), kind, node.kind);
      }
      if (key.place >= k_.layout.inputs)
        return fmt::format("total{}", key.place - k_.layout.inputs);
    }
    if (node.op == NodeOp::Source && in_pairs()) {
      const std::int32_t word = source_word(node);
      return loaded(node.kind,
                    fmt::format("{}.{}", pair_name(word >> 1), (word & 1) == 0 ? 'x' : 'y'));
    }
    return loaded(node.kind, place(c_.leaf(node)));
  }

  std::string expression(const Graph& g, const Node& node) const {
    if (is_leaf(node.op)) return leaf(node);
    std::array<std::string, 3> in;
    std::size_t count = 0;
    for (const Ref r : node.operands()) in[count++] = operand(g, r);
    const auto &a = in[0], &b = in[1], &c = in[2];
    const auto infix = [&](const char* op) { return a + " " + op + " " + b; };
    const auto call = [&](const char* name) {
      return fmt::format("{}({}{}{})", name, a, count > 1 ? ", " : "", b);
    };
    const auto integers = [&](const char* name) {
      return fmt::format("as_bits({}(as_signed({}), as_signed({})))", name, a, b);
    };
    switch (node.op) {
      case NodeOp::Add:
      case NodeOp::IntAdd:
        return infix("+");
      case NodeOp::Sub:
      case NodeOp::IntSub:
        return infix("-");
      case NodeOp::Mul:
        return infix("*");
      case NodeOp::Fma:
        if (const auto root = scaled_root(g, node))
          return fmt::format("scaled_root({}, {})", a,
                             root->scale != no_ref ? operand(g, root->scale) : "1");
        return fmt::format("fma({}{}, {}, {}{})",
                           (node.detail & fma_negate_product) != 0 ? "-" : "", a, b,
                           (node.detail & fma_negate_addend) != 0 ? "-" : "", c);
      case NodeOp::Divide:
        return infix("/");
      case NodeOp::Sqrt:
        return call("sqrt");
      case NodeOp::RsqrtEstimate:
        return call("rsqrt");
      case NodeOp::Max:
        return call("larger");
      case NodeOp::Min:
        return call("smaller");
      case NodeOp::Round:
        return fmt::format("as_number(round_to_short(as_bits({})))", a);
      case NodeOp::Truncate:
        return call(std::array{"trunc", "rint", "floor"}[node.detail]);
      case NodeOp::FromInt:
        return fmt::format("(number)as_signed({})", a);
      case NodeOp::ToInt:
        return call("to_int");
      case NodeOp::Select:
        return fmt::format("{} ? {} : {}", a, b, c);
      case NodeOp::AsBits:
        return call("as_bits");
      case NodeOp::AsNumber:
        return call("as_number");
      case NodeOp::And:
        return infix("&");
      case NodeOp::Or:
        return infix("|");
      case NodeOp::Xor:
        return infix("^");
      case NodeOp::ShiftLeft:
        return call("shifted_left");
      case NodeOp::ShiftRight:
        return call("shifted_right");
      case NodeOp::ShiftArith:
        return call("shifted_arithmetically");
      case NodeOp::SignedMax:
        return integers("max");
      case NodeOp::SignedMin:
        return integers("min");
      case NodeOp::UnsignedMax:
        return call("max");
      case NodeOp::UnsignedMin:
        return call("min");
      case NodeOp::Negative:
        return a + " < 0";
      case NodeOp::IsZero:
        return a + " == 0";
      case NodeOp::BitsNegative:
        return fmt::format("as_signed({}) < 0", a);
      case NodeOp::BitsEqual:
        return infix("==");
      case NodeOp::BitsAtLeast:
        return infix(">=");
      case NodeOp::Both:
        return infix("&&");
      case NodeOp::Lookup:
        return loaded(node.kind,
                      fmt::format("uniforms[{} + {}]",
                                  word(static_cast<std::uint32_t>(c_.table(node).offset)), a));
      default:
        throw Unsupported("it has an operation without a GPU instruction");
    }
  }

  const CodeContext& c_;
  const KernelCode& k_;
  const std::span<const LeafKey> compared_;
  const PassShare share_;
  const bool floats_;
  const ListText lists_;
  std::string text_;
};

}  // namespace

std::string kernel_text(const CodeContext& context, std::span<const LeafKey> compared,
                        PassShare share) {
  return Writer(context, compared, share).run();
}

}  // namespace gdr::native
