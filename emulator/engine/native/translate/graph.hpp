// The intermediate representation of the native engine: a section as a graph of values.
//
// A node is one value of one PE, in every lane alike. Each element of an instruction makes its own
// nodes. Numbers are host doubles (or floats); a short's 36 bits are the upper 36 bits of a double,
// so that bits and short numbers convert without instructions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace gdr::native {

/// Thrown for operations that host numbers cannot represent. Never leaves the engine: the section
/// then runs on the exact engine, and the text becomes SectionStats::reason.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Kind : std::uint8_t { Number, Bits, Mask };

enum class NodeOp : std::uint8_t {
  // leaves; they come first (is_leaf)
  Constant,  ///< `bits`: a double's, or a short's at the top
  Input,     ///< a location of the PE at the beginning of the iteration; `bits`: key
  Source,    ///< a word of the group of j-items, equal in all PEs; `bits`: key
  Uniform,   ///< a word of the broadcast memory outside of the j-items; `bits`: key
  // numbers
  Add,
  Sub,
  Mul,
  Fma,  ///< a * b + c; `detail`: FmaSign
  Max,
  Min,
  Scale,          ///< a 2^b, for an integer b (AVX-512)
  Round,          ///< to the 25 significant bits of a short
  Rsqrt,          ///< scale / sqrt(a); `bits`: the scale; `detail`: Accuracy
  Recip,          ///< scale / a
  RsqrtEstimate,  ///< the host's, some bits of 1 / sqrt(a)
  RecipEstimate,
  Divide,
  Sqrt,
  Truncate,  ///< to an integer; `detail`: Towards
  FromInt,   ///< an integer as a number (floats)
  Function,  ///< `detail`: Function; of a, and of b if it has two arguments (floats)
  // numbers or bits
  Select,    ///< a (mask) ? b : c
  AsBits,    ///< all 64 bits of a number
  AsNumber,  ///< the double that has these bits
  Lookup,    ///< an element of a table: a is an index, below the table's size; `bits`: key
  // bits
  IntAdd,
  IntSub,
  And,
  Or,
  Xor,
  ShiftLeft,   ///< b: a count, in the bits of a short
  ShiftRight,  ///< without keeping the low 28 bits zero
  ShiftArith,
  SignedMax,
  SignedMin,
  UnsignedMax,
  UnsignedMin,
  ToInt,  ///< an integer from a number, rounded towards zero; unshifted, also among doubles
  // masks
  Negative,      ///< number below zero
  IsZero,        ///< number of either sign
  BitsNegative,  ///< the top bit
  BitsEqual,
  BitsAtLeast,  ///< a >= b, unsigned
  Both,         ///< a and b
  // effects; they have no value
  Append,  ///< where a (mask) holds, appends b (bits) to a list; `bits`: AppendKey
  // factors of Newton steps, for NEON
  RsqrtStep,  ///< (3 - a b) / 2
  RecipStep,  ///< 2 - a b
};

/// Signs of a fused multiply-add: bit 0 negates the product, bit 1 the addend.
enum FmaSign : std::uint8_t { fma_plain = 0, fma_negate_product = 1, fma_negate_addend = 2 };

/// `detail` of Fma: rounded once also on the portable path, whose other ones round twice.
constexpr std::uint8_t fma_once = 4;

/// Directions of Truncate.
enum class Towards : std::uint8_t { Zero, Nearest, Down };

/// Functions that programs compute from the bits of numbers, and code for floats in its own way.
enum class Function : std::uint8_t {
  Exp,  ///< zero where it is below 2^-100
  Log,
  Sin,
  Cos,
  Tanh,
  Erf,
  Erfc,   ///< as Exp
  Power,  ///< a to the power of b; as Exp
  Tan,
  Asin,
  Acos,
  Atan,
  Atan2,  ///< the angle of the point (b, a)
  Cbrt,
};

/// Relative error that a reciprocal (square root) may have.
enum class Accuracy : std::uint8_t { Short, Double };

/// `detail` of sums and products whose result is a short: they need no more accuracy than that. Of
/// Round: a long that the program converts to a short.
constexpr std::uint8_t short_result = 1;

/// `detail` of Min: b where a is not a number. Other minima are not a number there.
constexpr std::uint8_t second_of_nan = 2;

/// A node, or the complement of a mask: index * 2 + 1.
using Ref = std::uint32_t;
constexpr Ref no_ref = ~Ref{0};
constexpr std::uint32_t node_of(Ref r) noexcept { return r >> 1; }
constexpr bool negated(Ref r) noexcept { return (r & 1) != 0; }
constexpr Ref complement(Ref r) noexcept { return r ^ 1; }
constexpr Ref ref_to(std::uint32_t node) noexcept { return node << 1; }

struct Node {
  NodeOp op = NodeOp::Constant;
  Kind kind = Kind::Number;
  std::uint8_t detail = 0;
  Ref a = no_ref, b = no_ref, c = no_ref;
  std::uint64_t bits = 0;
  friend bool operator==(const Node&, const Node&) = default;

  /// The operands that the node has, for range-based loops.
  struct Operands {
    std::array<Ref, 3> refs;
    const Ref* begin() const noexcept { return refs.data(); }
    const Ref* end() const noexcept { return std::find(refs.begin(), refs.end(), no_ref); }
  };
  Operands operands() const noexcept { return {{a, b, c}}; }
};

/// Interpretation of a word of the state or of the broadcast memory. LongRest: what a long has
/// beyond the float next to it; zero among doubles.
enum class WordType : std::uint8_t { Long, LongRest, Short, Bits, Mask, PeNumber, BlockNumber };
constexpr bool is_long(WordType type) noexcept {
  return type == WordType::Long || type == WordType::LongRest;
}
constexpr bool is_number(WordType type) noexcept {
  return is_long(type) || type == WordType::Short;
}

/// Key of a leaf: location (a cell of the PE, an address in the BM) and interpretation; for a
/// source also the age of its group in iterations.
struct LeafKey {
  WordType type = WordType::Long;
  std::uint32_t place = 0;
  std::uint32_t delay = 0;
  friend bool operator==(const LeafKey&, const LeafKey&) = default;
  std::uint64_t packed() const noexcept {
    return (std::uint64_t{delay} << 48) | (static_cast<std::uint64_t>(type) << 32) | place;
  }
  static LeafKey unpack(std::uint64_t bits) noexcept {
    return {static_cast<WordType>((bits >> 32) & 0xff), static_cast<std::uint32_t>(bits),
            static_cast<std::uint32_t>(bits >> 48)};
  }
};

/// LeafKey::place of a Lookup: a table of the section, and the half of a long whose bits are read.
/// A long as a number has the place of its upper half. LeafKey::delay: how many elements behind the
/// index.
constexpr std::uint32_t lookup_place(std::uint32_t table, bool lower) noexcept {
  return table * 2 + (lower ? 1 : 0);
}
constexpr std::uint32_t table_of(LeafKey key) noexcept { return key.place / 2; }
constexpr bool reads_lower_half(LeafKey key) noexcept { return key.place % 2 != 0; }

/// Key of an Append: its list (an index that the owner of the graph defines), and its position
/// among the appends of an iteration, so that two appends of one value remain two.
struct AppendKey {
  std::uint32_t list = 0, position = 0;
  std::uint64_t packed() const noexcept { return (std::uint64_t{position} << 32) | list; }
  static AppendKey unpack(std::uint64_t bits) noexcept {
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
};

/// Position of a short's bits.
constexpr unsigned short_shift = 28;
constexpr std::uint64_t short_mask = ~std::uint64_t{0} << short_shift;

/// NodeOp::Round on the bits of a number.
constexpr std::uint64_t round_to_short(std::uint64_t bits) noexcept {
  const std::uint64_t odd = (bits >> short_shift) & 1;
  return (bits + ((std::uint64_t{1} << (short_shift - 1)) - 1) + odd) & short_mask;
}

constexpr bool is_leaf(NodeOp op) noexcept { return op <= NodeOp::Uniform; }
constexpr bool is_sum(NodeOp op) noexcept { return op == NodeOp::Add || op == NodeOp::Sub; }

/// Nodes in an order in which operands come first. Equal nodes are one, constants are folded.
class Graph {
 public:
  const Node& operator[](Ref r) const noexcept { return nodes_[node_of(r)]; }
  std::size_t size() const noexcept { return nodes_.size(); }
  const std::vector<Node>& nodes() const noexcept { return nodes_; }

  Ref add(Node node);
  Ref constant(Kind kind, std::uint64_t bits);
  Ref number(double value);
  Ref leaf(NodeOp op, LeafKey key);
  Ref lookup(Ref element, LeafKey key);
  Ref op(NodeOp op, Kind kind, Ref a, Ref b = no_ref, Ref c = no_ref, std::uint8_t detail = 0);
  Ref both(Ref a, Ref b);
  /// A constant if the mask never holds.
  Ref append(Ref mask, Ref entry, AppendKey key);
  /// mask ? yes : no, of numbers and bits (by the kind of `yes`) or masks.
  Ref select(Ref mask, Ref yes, Ref no);
  Ref as_bits(Ref number);
  Ref as_number(Ref bits);

  bool is_constant(Ref r) const noexcept { return (*this)[r].op == NodeOp::Constant; }
  /// A node of the same operation on other operands, folded and simplified.
  Ref rebuilt(const Node& node, Ref a, Ref b, Ref c);
  /// The always-true mask; its complement is never true.
  Ref always() const noexcept { return always_; }

  Graph();

 private:
  struct NodeHash {
    std::size_t operator()(const Node& n) const noexcept;
  };
  std::vector<Node> nodes_;
  std::unordered_map<Node, Ref, NodeHash> known_;
  Ref always_ = no_ref;
};

/// NodeOp::Truncate. Nearest: of two the even one, in the host's rounding mode.
template <typename Number>
Number rounded_towards(Towards direction, Number x) noexcept {
  if (direction == Towards::Nearest) return std::nearbyint(x);
  return direction == Towards::Down ? std::floor(x) : std::trunc(x);
}

/// NodeOp::ToInt: the nearest integer that the type has; for a NaN the least one.
template <typename Integer, typename Number>
constexpr Integer integer_of(Number x) noexcept {
  constexpr Number end = static_cast<Number>(std::uint64_t{1} << (8 * sizeof(Integer) - 1));
  if (x >= end) return std::numeric_limits<Integer>::max();
  return x > -end ? static_cast<Integer>(x) : std::numeric_limits<Integer>::min();
}

/// The definition of an operation on the bits of its operands, for one lane.
std::uint64_t evaluate(const Node& node, std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// Marks, by node, also all nodes that marked ones depend on.
std::vector<bool> with_operands(const Graph& graph, std::vector<bool> marked);

/// By node: the union of the properties, `own(ref)`, of the node and of all nodes it depends on.
template <typename Own>
std::vector<unsigned> inherited(const Graph& graph, Own own) {
  std::vector<unsigned> properties(graph.size());
  for (std::uint32_t n = 0; n < graph.size(); ++n) {
    properties[n] = own(ref_to(n));
    for (const Ref r : graph[ref_to(n)].operands()) properties[n] |= properties[node_of(r)];
  }
  return properties;
}

/// References into a copy of a graph, by node of the original.
class NodeMap {
 public:
  explicit NodeMap(std::size_t nodes) : to_(nodes, no_ref) {}
  Ref operator()(Ref r) const { return r == no_ref ? r : to_[node_of(r)] ^ (r & 1); }
  void set(std::uint32_t node, Ref to) { to_[node] = to; }

 private:
  std::vector<Ref> to_;
};

/// Copies the nodes for which `wanted` is set. `change(to, old, copy)` creates the replacement of
/// the old reference in the new graph, or returns no_ref for an unchanged node; `copy` maps old
/// references of earlier nodes.
template <typename Change>
NodeMap copy_graph(const Graph& from, Graph& to, const std::vector<bool>& wanted, Change change) {
  NodeMap copy(from.size());
  for (std::uint32_t n = 0; n < from.size(); ++n) {
    if (!wanted[n]) continue;
    const Ref changed = change(to, ref_to(n), copy);
    const Node& node = from[ref_to(n)];
    copy.set(n, changed != no_ref ? changed
                                  : to.rebuilt(node, copy(node.a), copy(node.b), copy(node.c)));
  }
  return copy;
}

/// The constant that a sum adds, with its sign: of x - c it is -c, of c - x it is c. None for zero.
std::optional<double> constant_added(const Graph& g, const Node& node);

}  // namespace gdr::native
