#include "kernels/compiler/language.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace gdr::kc {
namespace {

/// Precedences of the language, from the loosest.
enum Level : std::uint8_t {
  choice,
  disjunction,
  conjunction,
  equality,
  relation,
  sum,
  product,
  sign,
  atom
};

struct Operator {
  Fn fn;
  std::string_view text;
  Level level;
};
constexpr Operator infix[] = {
    {Fn::Add, " + ", sum},         {Fn::Sub, " - ", sum},          {Fn::Mul, "*", product},
    {Fn::Div, "/", product},       {Fn::Quotient, "/", product},   {Fn::Less, " < ", relation},
    {Fn::Equal, " == ", equality}, {Fn::And, " && ", conjunction}, {Fn::Or, " || ", disjunction},
};

const Operator* find_infix(Fn fn) {
  const auto* const found = std::ranges::find(infix, fn, &Operator::fn);
  return found == std::end(infix) ? nullptr : found;
}

/// Longer expressions become temporaries.
constexpr std::size_t longest_inline = 48;

struct Text {
  std::string text;
  Level level = atom;
};

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), needed_(needed_nodes(graph)) {}

  std::string print(std::string_view comment) {
    out_ = comment;
    out_ += fmt::format("kernel {};\n", graph_.name);
    describe();
    if (in_longs_) out_ += "precision long;\n";
    if (graph_.flops != 0) out_ += fmt::format("flops {};\n", graph_.flops);
    declare();
    out_ += "\n";
    texts_.resize(graph_.nodes.size());
    for (std::size_t k = 0; k < graph_.nodes.size(); ++k)
      if (needed_[k]) texts_[k] = of_node(static_cast<NodeId>(k));
    contribute();
    return out_;
  }

 private:
  static bool is_number(const Node& n) { return n.type == Type::Short || n.type == Type::Long; }
  /// Whether the result is rounded to the type of the node.
  static bool rounds(const Node& n) {
    return is_number(n) && n.fn != Fn::Input && n.fn != Fn::Constant && n.fn != Fn::Lookup &&
           n.fn != Fn::Neg && n.fn != Fn::Abs && n.fn != Fn::Min && n.fn != Fn::Max &&
           n.fn != Fn::Select;
  }
  const Node& node(NodeId id) const { return graph_.node(id); }

  /// Uses of the nodes, which of them make longs of the operations that use them, and whether all
  /// operations are in longs.
  void describe() {
    uses_.assign(graph_.nodes.size(), 0);
    wide_.assign(graph_.nodes.size(), false);
    bool any_short = false, any_long = false;
    for (std::size_t k = 0; k < graph_.nodes.size(); ++k) {
      if (!needed_[k]) continue;
      const Node& n = graph_.nodes[k];
      bool any_wide = false;
      for (const NodeId id : {n.a, n.b, n.c}) {
        if (id == no_node) continue;
        ++uses_[index(id)];
        any_wide |= wide_[index(id)];
      }
      // Inside of such an expression every operation would be in longs.
      if (needs_long(n) || (n.fn == Fn::Convert && n.type == Type::Long))
        for (const NodeId id : {n.a, n.b, n.c}) apart_.insert(id);
      wide_[k] = n.type == Type::Long && (rounds(n) || any_wide);
      if (n.fn != Fn::Convert && rounds(n)) (n.type == Type::Long ? any_long : any_short) = true;
    }
    for (const Contribution& c : graph_.contributions) {
      for (const NodeId id : {c.value, c.payload})
        if (id != no_node) ++uses_[index(id)];
      // Conditions may be repeated: a temporary has no advantage.
      if (c.condition != no_node) conditions_.insert(c.condition);
    }
    for (const NodeId id : conditions_) ++uses_[index(id)];
    in_longs_ = any_long && !any_short;
    for (const GraphVariable& v : graph_.variables) taken_.insert(v.name);
    for (const VariableArray& a : graph_.arrays) taken_.insert(a.name);
  }

  /// Whether an operation in longs needs a declaration, because no operand makes it one.
  bool needs_long(const Node& n) const {
    if (in_longs_ || !rounds(n) || n.type != Type::Long) return false;
    if (n.fn == Fn::Convert) return false;
    return std::ranges::none_of(std::array{n.a, n.b, n.c},
                                [&](NodeId id) { return id != no_node && wide_[index(id)]; });
  }
  /// A rounding to a short that the text must not spell as short(x), which rounds in longs, too.
  bool needs_short(const Node& n) const {
    return n.fn == Fn::Convert && n.type == Type::Short && n.integer == 0 && is_number(node(n.a));
  }

  // -- declarations ------------------------------------------------------------------------

  void declare() {
    std::size_t from = 0;
    while (from < graph_.variables.size()) from = declare_line(from);
  }

  bool is_complex(std::size_t variable) const {
    const VariableArray* const array = array_at(variable);
    return array != nullptr && array->complex;
  }
  const VariableArray* array_at(std::size_t variable) const {
    const auto found = std::ranges::find(graph_.arrays, variable, &VariableArray::first);
    return found == graph_.arrays.end() ? nullptr : &*found;
  }

  /// Variables of one kind and type from here on, in one declaration. Returns the next one.
  std::size_t declare_line(std::size_t from) {
    constexpr std::array<std::string_view, 5> words = {"VARI", "VARJ", "VARF", "CONST", "VARF"};
    const GraphVariable& v = graph_.variables[from];
    std::string line(words[static_cast<std::size_t>(v.kind)]);
    if (v.list_size != 0)
      line += " list";
    else if (v.type_given)
      line += v.type == Type::Int ? " int" : v.type == Type::Short ? " short" : " long";
    if (v.table_size != 0) line += " table";
    const bool complex = is_complex(from);
    if (complex) line += " complex";
    std::size_t at = from;
    for (; at < graph_.variables.size() && same_declaration(graph_.variables[at], v) &&
           is_complex(at) == complex;) {
      const VariableArray* const array = array_at(at);
      const GraphVariable& w = graph_.variables[at];
      line += (at == from ? " " : ", ") + (array != nullptr ? array->name : w.name);
      std::size_t count = 1;
      if (array != nullptr) {
        for (std::size_t k = 0; k + (complex ? 1 : 0) < array->sizes.size(); ++k)
          line += fmt::format("[{}]", array->sizes[k]);
        if (w.table_size == 0 && w.list_size == 0) {
          count = array->count();
          for (std::size_t k = 0; k < count; ++k) elements_[at + k] = element(*array, k);
        }
      }
      if (w.default_value) line += fmt::format(" = {}", *w.default_value);
      at += count;
      if (line.size() > 80) break;
    }
    if (!v.quantity.empty()) line += " as " + v.quantity + (v.squared ? "^2" : "");
    out_ += line + ";\n";
    return at;
  }
  static bool same_declaration(const GraphVariable& a, const GraphVariable& b) {
    return a.kind == b.kind && a.type == b.type && a.type_given == b.type_given &&
           (a.table_size != 0) == (b.table_size != 0) && (a.list_size != 0) == (b.list_size != 0) &&
           a.quantity == b.quantity && a.squared == b.squared;
  }
  static std::string element(const VariableArray& array, std::size_t k) {
    std::string indices = !array.complex ? "" : k % 2 == 0 ? ".re" : ".im";
    if (array.complex) k /= 2;
    for (auto size = array.sizes.rbegin() + (array.complex ? 1 : 0); size != array.sizes.rend();
         ++size) {
      indices.insert(0, fmt::format("[{}]", k % *size));
      k /= *size;
    }
    return array.name + indices;
  }
  std::string variable_name(std::int32_t id) const {
    const auto element = elements_.find(index(id));
    return element == elements_.end() ? graph_.variable(id).name : element->second;
  }

  // -- expressions -------------------------------------------------------------------------

  Text of_node(NodeId id) {
    const Node& n = node(id);
    Text text = expression(n);
    if (n.fn == Fn::Input || n.fn == Fn::Constant) return text;
    const bool declared = needs_long(n) || needs_short(n) || apart_.contains(id);
    const bool short_enough = text.text.size() <= longest_inline || is_condition_only(id);
    const bool negated_name = n.fn == Fn::Neg && text.text.size() <= 16;
    if (!declared && (negated_name || (uses_[index(id)] < 2 && short_enough && !is_named(id))))
      return text;
    const std::string name = new_name(id);
    out_ += fmt::format("{}{} = {};\n",
                        needs_long(n)    ? "long "
                        : needs_short(n) ? "short "
                                         : "",
                        name, text.text);
    return {name};
  }
  bool is_named(NodeId id) const { return graph_.names.contains(id) && !uses_once_as_result(id); }
  /// A value that is contributed and not used otherwise needs no name.
  bool uses_once_as_result(NodeId id) const {
    return uses_[index(id)] == 1 &&
           std::ranges::find(graph_.contributions, id, &Contribution::value) !=
               graph_.contributions.end();
  }
  bool is_condition_only(NodeId id) const {
    return uses_[index(id)] == 1 && conditions_.contains(id);
  }

  std::string new_name(NodeId id) {
    const auto known = graph_.names.find(id);
    std::string base = known != graph_.names.end()   ? known->second
                       : node(id).type == Type::Bool ? fmt::format("c{}", ++conditions_named_)
                                                     : fmt::format("t{}", ++values_named_);
    std::string name = base;
    for (int k = 2; !taken_.insert(name).second; ++k) name = fmt::format("{}_{}", base, k);
    return name;
  }

  Text expression(const Node& n) {
    if (n.fn == Fn::Input) return {variable_name(n.variable)};
    if (n.fn == Fn::Constant) return constant(n);
    if (n.fn == Fn::Lookup) return {lookup(n)};
    if (n.fn == Fn::Select) return selection(n);
    if (n.fn == Fn::Neg) return {"-" + operand(n.a, sign), sign};
    if (n.fn == Fn::Not) return negation(n);
    if (const Operator* const op = find_infix(n.fn))
      return {operand(n.a, op->level) + std::string(op->text) +
                  operand(n.b, static_cast<Level>(op->level + 1)),
              op->level};
    return {call(n)};
  }

  std::string operand(NodeId id, Level at_least) {
    const Text& t = texts_[index(id)];
    return t.level >= at_least ? t.text : "(" + t.text + ")";
  }

  /// Numbers without a point are ints only among ints, but for alternatives of a selection.
  static Text constant(const Node& n, bool with_point = false) {
    if (n.type == Type::Int) return {fmt::format("{}", n.integer), n.integer < 0 ? choice : atom};
    std::string text = fmt::format("{}", n.number);
    if (with_point && text.find_first_of(".e") == std::string::npos) text += ".0";
    return {text, text.front() == '-' ? choice : atom};
  }

  Text selection(const Node& n) {
    const auto alternative = [&](NodeId id) {
      return node(id).fn == Fn::Constant && is_number(node(id)) ? constant(node(id), true).text
                                                                : operand(id, disjunction);
    };
    return {operand(n.a, disjunction) + " ? " + alternative(n.b) + " : " + alternative(n.c),
            choice};
  }

  Text negation(const Node& n) {
    const Node& of = node(n.a);
    if (of.fn == Fn::Equal && texts_[index(n.a)].level == equality)
      return {operand(of.a, equality) + " != " + operand(of.b, relation), equality};
    return {"!" + operand(n.a, sign), sign};
  }

  std::string lookup(const Node& n) {
    const VariableArray* const array = array_at(index(n.variable));
    std::string text = graph_.variable(n.variable).name;
    for (std::size_t k = 1; array != nullptr && k < array->sizes.size(); ++k) text += "[0]";
    return text + "[" + texts_[index(n.a)].text + "]";
  }

  std::string call(const Node& n) {
    std::string text(n.fn == Fn::Integer ? "int" : name_of(n.fn));
    if (n.fn == Fn::Convert) {
      // A declaration rounds without a word in the expression.
      if (needs_short(n)) return texts_[index(n.a)].text;
      text = n.type == Type::Short ? "short" : "long";
    }
    text += n.fn == Fn::Boys ? fmt::format("({}, ", n.integer) : "(";
    text += texts_[index(n.a)].text;
    if (n.b != no_node) text += ", " + texts_[index(n.b)].text;
    return text + ")";
  }

  // -- results -----------------------------------------------------------------------------

  void contribute() {
    NodeId condition = no_node;
    out_ += "\n";
    for (const Contribution& c : graph_.contributions) {
      if (c.condition != condition && condition != no_node) out_ += "}\n";
      if (c.condition != condition && c.condition != no_node)
        out_ += "if (" + texts_[index(c.condition)].text + ") {\n";
      condition = c.condition;
      out_ += fmt::format("{}{} {} {}", condition == no_node ? "" : "  ", variable_name(c.result),
                          reduction(c), texts_[index(c.value)].text);
      if (c.payload != no_node)
        out_ += fmt::format(" : {} = {}", variable_name(c.payload_result),
                            texts_[index(c.payload)].text);
      out_ += ";\n";
    }
    if (condition != no_node) out_ += "}\n";
  }
  static std::string reduction(const Contribution& c) {
    if (c.negated) return "-=";
    return std::string(reduction_info(c.reduction).word) + "=";
  }

  const Graph& graph_;
  const std::vector<bool> needed_;
  std::vector<int> uses_;
  std::vector<bool> wide_;
  std::set<NodeId> conditions_;
  std::set<NodeId> apart_;  ///< operands that must not be part of an expression
  bool in_longs_ = false;
  std::set<std::string> taken_;                  ///< names of variables and temporaries
  std::map<std::size_t, std::string> elements_;  ///< elements of arrays, by variable
  int values_named_ = 0, conditions_named_ = 0;
  std::vector<Text> texts_;  ///< text of each node: a temporary's name, or an expression
  std::string out_;
};

}  // namespace

std::string to_language(const Graph& graph, std::string_view comment) {
  return Printer(graph).print(comment);
}

}  // namespace gdr::kc
