#include "emulator/engine/native/gpu/kernel_text.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <iterator>
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
#define as_number(x) as_double(x)
#define as_bits(x) as_ulong(x)
#define as_signed(x) as_long(x)
)";
constexpr const char* prelude_of_floats = R"(#pragma OPENCL FP_CONTRACT OFF
typedef float number;
typedef uint bits;
typedef int signed_bits;
#define as_number(x) as_float(x)
#define as_bits(x) as_uint(x)
#define as_signed(x) as_int(x)
)";
/// As the portable path's operations (lane_operations.hpp).
constexpr const char* functions = R"(
number larger(number a, number b) { return isnan(a) || !(b > a || isnan(b)) ? a : b; }
number smaller(number a, number b) { return isnan(a) || !(b < a || isnan(b)) ? a : b; }
bits load_mask(bool mask) { return mask ? ~(bits)0 : (bits)0; }
)";
constexpr const char* functions_of_doubles = R"(
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
bits shifted_left(bits a, bits b) { return b < 32u ? a << b : 0u; }
bits to_int(number x) { return isnan(x) ? 0x80000000u : as_uint(convert_int_sat_rtz(x)); }
)";

class Writer {
 public:
  explicit Writer(const CodeContext& context)
      : c_(context),
        k_(context.kernel),
        floats_(context.target.precision == Precision::Float),
        lists_(context) {}

  std::string run() {
    line("{}{}{}{}", floats_ ? prelude_of_floats : prelude_of_doubles, functions,
         floats_ ? functions_of_floats : functions_of_doubles, lists_.function());
    line("__kernel void run(__global const bits* restrict items, __global bits* restrict results,");
    line("                  __global const bits* restrict words,");
    line("                  __global const bits* restrict uniforms, ulong threads,");
    line("                  ulong first_word, ulong passes, ulong begin, ulong end,");
    line("                  __global bits* restrict left{}) {{", lists_.arguments());
    line("const ulong thread = get_global_id(0);");
    line("if (thread >= threads) return;");
    const auto of_thread = [&](const char* type, const char* name, std::uint32_t bytes) {
      line("__global {0}bits* restrict {1} = {1}s + thread / {2} * {3} + thread % {2};", type, name,
           lanes(), word(bytes));
    };
    of_thread("const ", "item", k_.layout.bytes());
    of_thread("", "result", k_.layout.outputs * k_.layout.vector_bytes);
    line("__global const bits* restrict source = words + first_word + begin * {};", group_words());
    for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c) {
      const Kind kind = kind_of(carried_type(c));
      line("{} c{} = {};", type_name(kind), c, loaded(kind, place(c_.carried(base_carried, c))));
      line("if (begin != 0) c{} = {};", c, loaded(kind, left(c)));
    }
    for (std::uint32_t t = 0; t < k_.layout.totals; ++t)
      line("number total{} = begin != 0 ? {} : 0;", t,
           loaded(Kind::Number, left(k_.layout.carried + t)));
    text_ += lists_.begin();
    if (k_.loops && k_.has_effects()) {
      loop();
      leave_unfinished();
    } else if (k_.loops) {
      // Only the last pass is observable.
      line("source += (passes - 1) * {};", group_words());
    }
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

  /// A word that a launch leaves for the next one.
  static std::string left(std::uint32_t number) {
    return fmt::format("left[{} * threads + thread]", number);
  }

  /// A launch that does not reach the last pass ends here.
  void leave_unfinished() {
    line("if (end < passes) {{");
    for (std::uint32_t c = 0; c < k_.carried_slot.size(); ++c)
      line("{} = {};", left(c), stored(kind_of(carried_type(c)), fmt::format("c{}", c)));
    for (std::uint32_t t = 0; t < k_.layout.totals; ++t)
      line("{} = {};", left(k_.layout.carried + t),
           stored(Kind::Number, fmt::format("total{}", t)));
    text_ += lists_.end();
    line("return;");
    line("}}");
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
    line("for (ulong pass = begin == 0 ? 1 : begin; pass < stop; ++pass) {{");
    segment(k_.loop);
    line("source += {};", group_words());
    if (blocks) {
      line("if (pass % {} == 0) {{", k_.sums.passes);
      segment(k_.sums.move);
      line("}}");
    }
    line("}}");
    line("if (end >= passes) {{");
    if (blocks) segment(k_.sums.finish);
    segment(k_.last);
    line("}}");
    line("}}");
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
    const std::vector<bool> needed = needed_nodes(s);
    const Graph& g = s.graph;
    line("{{");
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
        return call("trunc");
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
  const bool floats_;
  const ListText lists_;
  std::string text_;
};

}  // namespace

std::string kernel_text(const CodeContext& context) { return Writer(context).run(); }

}  // namespace gdr::native
