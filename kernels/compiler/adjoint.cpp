#include "kernels/compiler/adjoint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "kernels/compiler/front/derivative.hpp"
#include "kernels/compiler/language.hpp"

namespace gdr::kc {
namespace {

using front::Arithmetic;
using front::Derivative;
using front::Messages;
using front::NodeTable;
using front::Value;

[[noreturn]] void refuse(ErrorCategory category, const std::string& message) {
  throw Error(category, message);
}

/// The number of variables of an array: a table or list is one.
std::size_t variable_count(const Graph& graph, const VariableArray& array) {
  const GraphVariable& first = graph.variables[array.first];
  return first.table_size != 0 || first.list_size != 0 ? 1 : array.count();
}

/// The variables with this name: one, or the elements of an array. Throws Error.
std::vector<std::int32_t> variables_named(const Graph& graph, const std::string& name) {
  std::vector<std::int32_t> found;
  std::string known;
  for (std::size_t v = 0; v < graph.variables.size(); ++v)
    if (graph.variables[v].name == name) found.push_back(static_cast<std::int32_t>(v));
  for (const VariableArray& a : graph.arrays) {
    if (a.name != name || !found.empty()) continue;
    for (std::size_t k = 0; k < variable_count(graph, a); ++k)
      found.push_back(static_cast<std::int32_t>(a.first + k));
  }
  const auto differentiable = [&](std::size_t v) {
    const GraphVariable& x = graph.variables[v];
    return x.kind != VarKind::Result && x.type != Type::Int && x.table_size == 0;
  };
  if (found.empty()) {
    for (std::size_t v = 0; v < graph.variables.size(); ++v)
      if (differentiable(v)) known += (known.empty() ? "" : ", ") + graph.variables[v].name;
    refuse(ErrorCategory::Usage,
           fmt::format("kernel \"{}\" has no variable \"{}\"; derivatives can be "
                       "taken with respect to {}",
                       graph.name, name, known.empty() ? "none" : known));
  }
  const GraphVariable& first = graph.variable(found.front());
  if (first.kind == VarKind::Result)
    refuse(ErrorCategory::Usage,
           fmt::format("\"{}\" is a result of kernel \"{}\": derivatives are taken with respect to "
                       "targets, sources and parameters",
                       name, graph.name));
  if (first.type == Type::Int)
    refuse(
        ErrorCategory::Usage,
        fmt::format("\"{}\" of kernel \"{}\" is an int: there is no derivative with respect to it",
                    name, graph.name));
  if (first.table_size != 0)
    refuse(
        ErrorCategory::Unsupported,
        fmt::format("\"{}\" of kernel \"{}\" is a table: derivatives with respect to its elements "
                    "are not computed",
                    name, graph.name));
  return found;
}

/// The adjoint of one kernel with respect to variables of one side.
class Adjoint {
 public:
  Adjoint(const Graph& law, std::span<const std::string> names) : law_(law), messages_(1) {
    for (const std::string& name : names) {
      const std::vector<std::int32_t> variables = variables_named(law, name);
      for (const std::int32_t v : variables)
        if (std::ranges::find(by_, v) == by_.end()) by_.push_back(v);
      if (by_.size() > variables.size()) list_ += ", ";
      list_ += name;
    }
    const auto any = [&](VarKind kind) {
      return std::ranges::any_of(by_,
                                 [&](std::int32_t v) { return law_.variable(v).kind == kind; });
    };
    exchanged_ = any(VarKind::Source);
    if (exchanged_ && any(VarKind::Target))
      refuse(ErrorCategory::Usage,
             fmt::format(
                 "one kernel has the derivatives of kernel \"{}\" with respect to its targets or "
                 "to its sources: take two for {}",
                 law_.name, list_));
  }

  std::string text() {
    copy_inputs();
    add_weights();
    copy_nodes();
    differentiate();
    out_.nodes = nodes_.release();
    front::drop_unused_nodes(out_);
    keep_needed_variables();
    return to_language(out_, comment());
  }

 private:
  /// A variable of the law, as one of the new kernel.
  VarKind side(VarKind kind) const {
    if (!exchanged_) return kind;
    return kind == VarKind::Target   ? VarKind::Source
           : kind == VarKind::Source ? VarKind::Target
                                     : kind;
  }
  bool is_taken(const std::string& name) const {
    const auto same = [&](const auto& x) { return x.name == name; };
    return std::ranges::any_of(out_.variables, same) || std::ranges::any_of(out_.arrays, same);
  }
  std::string barred(std::string name, std::size_t count) const {
    const auto taken = [&] {
      if (is_taken(name)) return true;
      for (std::size_t k = 0; k < count && count > 1; ++k)
        if (is_taken(fmt::format("{}_{}", name, k))) return true;
      return false;
    };
    do name += "_bar";
    while (taken());
    return name;
  }

  void copy_inputs() {
    for (const GraphVariable& v : law_.variables) {
      GraphVariable copy = v;
      copy.kind = side(v.kind);
      // Results stay as placeholders, so that numbers of variables and arrays are those of the law.
      if (v.kind == VarKind::Result) copy.name.clear();
      out_.variables.push_back(copy);
    }
    for (const VariableArray& a : law_.arrays)
      if (law_.variables[a.first].kind != VarKind::Result) out_.arrays.push_back(a);
  }

  /// New variables for variables of the law, an array for those of an array; their numbers by those
  /// of the law.
  std::map<std::int32_t, std::int32_t> add_barred(const std::vector<std::int32_t>& of,
                                                  VarKind kind) {
    return add_like(
        of,
        [&](const GraphVariable&) { return GraphVariable{.name = {}, .kind = kind, .where = {}}; },
        [&](const std::string& name, std::size_t count) { return barred(name, count); });
  }
  /// The same with `make(variable)` for each, without its name, and names `name_of(name, count)`.
  template <typename Make, typename NameOf>
  std::map<std::int32_t, std::int32_t> add_like(const std::vector<std::int32_t>& of,
                                                const Make& make, const NameOf& name_of) {
    std::map<std::int32_t, std::int32_t> made;
    for (const std::int32_t v : of) {
      if (made.contains(v)) continue;
      const auto array = std::ranges::find_if(law_.arrays, [&](const VariableArray& a) {
        return index(v) >= a.first && index(v) < a.first + variable_count(law_, a);
      });
      const bool single = array == law_.arrays.end();
      const std::size_t first = single ? index(v) : array->first;
      const std::size_t count = single ? 1 : array->count();
      const std::string old = single ? law_.variable(v).name : array->name;
      const std::string name = name_of(old, count);
      if (!single)
        out_.arrays.push_back({name, static_cast<std::uint32_t>(out_.variables.size()),
                               array->sizes, array->complex});
      for (std::size_t k = 0; k < count; ++k) {
        const auto from = static_cast<std::int32_t>(first + k);
        made[from] = static_cast<std::int32_t>(out_.variables.size());
        GraphVariable variable = make(law_.variable(from));
        // The elements' names end in their indices.
        variable.name = name + law_.variable(from).name.substr(old.size());
        out_.variables.push_back(std::move(variable));
      }
    }
    return made;
  }

  void add_weights() {
    std::vector<std::int32_t> results, known;
    for (const Contribution& c : law_.contributions) {
      if (!has_derivative(c)) continue;
      for (std::int32_t rank = 0; rank < ranks_of(c); ++rank) results.push_back(c.result + rank);
      if (is_known(c.reduction)) known.push_back(c.result);
      if (!is_extremum(c.reduction)) continue;
      check_extremum(c);
      for (std::int32_t rank = 0; rank < ranks_of(c); ++rank)
        known.push_back(law_.variable(c.result + rank).index_result);
    }
    // Indices of extrema, products, logarithms of sums, and weighted means.
    known_results_ = add_like(
        known,
        [&](const GraphVariable& v) {
          const bool is_int = v.type == Type::Int;
          return GraphVariable{.name = {},
                               .kind = side(VarKind::Target),
                               .type = is_int ? Type::Int : Type::Long,
                               .type_given = is_int,
                               .where = {}};
        },
        [](const std::string& name, std::size_t) { return name; });
    weights_ = add_barred(results, side(VarKind::Target));
    for (const auto& [result, weight] : weights_)
      weight_names_[weight] = out_.variable(weight).name;
  }
  /// Whether the derivative is computed from the result.
  static bool is_known(Reduction r) {
    return r == Reduction::LogSumExp || r == Reduction::Softmax || r == Reduction::Product;
  }
  static bool is_ranked(Reduction r) { return r == Reduction::Smallest || r == Reduction::Largest; }
  static bool is_extremum(Reduction r) {
    return r == Reduction::Min || r == Reduction::Max || is_ranked(r);
  }
  /// The number of results that a contribution may change.
  std::int32_t ranks_of(const Contribution& c) const {
    const auto ranks = static_cast<std::int32_t>(law_.variable(c.result).ranks);
    return is_ranked(c.reduction) ? ranks : 1;
  }
  /// Refuse extrema whose sources are not known.
  void check_extremum(const Contribution& c) const {
    const GraphVariable& result = law_.variable(c.result);
    const std::string_view what = reduction_info(c.reduction).name;
    const std::string_view word = reduction_info(c.reduction).word;
    if (c.payload_result < 0)
      refuse(ErrorCategory::Unsupported,
             fmt::format("result \"{0}\" of kernel \"{1}\" is {2} without an index, so that its "
                         "source is not known; give it one: `VARF int n{4};` and `{0} {3}= ... : "
                         "n = id;`",
                         result_name(c.result), law_.name, what, word,
                         is_ranked(c.reduction) ? fmt::format("[{}]", result.ranks) : ""));
    const auto same = [&](const Contribution& other) { return other.result == c.result; };
    if (is_ranked(c.reduction) && std::ranges::count_if(law_.contributions, same) > 1)
      refuse(
          ErrorCategory::Unsupported,
          fmt::format("result \"{}\" of kernel \"{}\" has several values of one source, of which "
                      "the index does not tell; write one `{}=`",
                      result_name(c.result), law_.name, word));
  }
  /// Of an element the array's.
  std::string result_name(std::int32_t variable) const {
    for (const VariableArray& a : law_.arrays)
      if (index(variable) >= a.first && index(variable) < a.first + variable_count(law_, a))
        return a.name;
    return law_.variable(variable).name;
  }
  bool has_derivative(const Contribution& c) const {
    return c.reduction != Reduction::Append && law_.variable(c.result).type != Type::Int;
  }

  void copy_nodes() {
    bool any_short = false, any_long = false;
    for (const Node& node : law_.nodes) {
      Node copy = node;
      for (NodeId* const id : {&copy.a, &copy.b, &copy.c})
        if (*id != no_node) *id = moved_[index(*id)];
      const bool rounds = node.fn != Fn::Input && node.fn != Fn::Constant && node.fn != Fn::Lookup;
      any_short |= rounds && node.type == Type::Short;
      any_long |= rounds && node.type == Type::Long;
      moved_.push_back(nodes_.node(copy));
    }
    context_.wide = any_long && !any_short;
    for (const auto& [id, name] : law_.names) out_.names.emplace(moved_[index(id)], name);
  }

  NodeId input(std::int32_t variable) {
    return nodes_.node(
        {.fn = Fn::Input, .type = out_.variable(variable).type, .variable = variable});
  }

  void differentiate() {
    Derivative derivative(nodes_, with_, context_, {});
    for (const std::int32_t v : by_) derivative.respect_to(input(v));
    for (std::size_t k = 0; k < law_.contributions.size(); ++k) {
      const Contribution& c = law_.contributions[k];
      if (!has_derivative(c) || c.reduction == Reduction::Softmax) continue;
      Value weight = number(input(weights_.at(c.result)));
      if (c.negated) weight = with_.negate(weight, {});
      const NodeId value = moved_[index(c.value)];
      if (c.reduction == Reduction::LogSumExp)
        differentiate_logarithm(k, weight, derivative);
      else if (c.reduction == Reduction::Product)
        derivative.differentiate(value, by_factor(c, weight), condition_of(c));
      else if (is_ranked(c.reduction))
        derivative.differentiate(value, weight_of_rank(c), condition_of(c));
      else
        derivative.differentiate(
            value, weight, c.payload_result >= 0 ? condition_of_extremum(k) : condition_of(c));
    }
    derivative.on_derivative = [&](NodeId id, const Value& value) {
      const auto name = out_.names.find(id);
      if (value.node != no_node && name != out_.names.end())
        out_.names.try_emplace(value.node, name->second + "_bar");
    };
    derivative.run();
    if (messages_.errors() > 0)
      refuse(ErrorCategory::Unsupported,
             fmt::format("the derivative of kernel \"{}\" cannot be computed: {}", law_.name,
                         messages_.release().front().message));
    contribute(derivative);
  }

  Value condition_of(const Contribution& c) const {
    if (c.condition == no_node) return front::constant_bool(true);
    return front::node_value(front::Kind::Bool, moved_[index(c.condition)]);
  }

  /// The weight times the product of all other factors.
  Value by_factor(const Contribution& c, const Value& weight) {
    const Value others = with_.combine(Fn::Div, number(input(known_results_.at(c.result))),
                                       number(moved_[index(c.value)]), context_, {});
    return with_.combine(Fn::Mul, weight, others, context_, {});
  }

  /// The weight of the result that has this source: of none zero.
  Value weight_of_rank(const Contribution& c) {
    const Value own = front::node_value(front::Kind::Int, moved_[index(c.payload)]);
    Value weight = front::constant_number(0);
    for (std::int32_t rank = ranks_of(c); rank-- > 0;) {
      const std::int32_t index_result = law_.variable(c.result + rank).index_result;
      const Value found =
          front::node_value(front::Kind::Int, input(known_results_.at(index_result)));
      weight = with_.choose(with_.equal(own, found, {}),
                            number(input(weights_.at(c.result + rank))), weight, context_, {});
    }
    return weight;
  }

  /// Whether this contribution of the source is the extremum: its index is the one that was found,
  /// and no other contribution of the same source comes before it.
  Value condition_of_extremum(std::size_t k) {
    const Contribution& c = law_.contributions[k];
    const Value found =
        front::node_value(front::Kind::Int, input(known_results_.at(c.payload_result)));
    const auto is_found = [&](const Contribution& x) {
      const Value index_of = front::node_value(front::Kind::Int, moved_[index(x.payload)]);
      return with_.both(condition_of(x), with_.equal(index_of, found, {}), {});
    };
    Value condition = is_found(c);
    for (std::size_t other = 0; other < law_.contributions.size(); ++other) {
      const Contribution& o = law_.contributions[other];
      if (other == k || o.result != c.result) continue;
      const Value own = number(moved_[index(c.value)]), its = number(moved_[index(o.value)]);
      const bool least = c.reduction == Reduction::Min;
      const auto better = [&](const Value& a, const Value& b) {
        return least ? with_.less(a, b, {}) : with_.less(b, a, {});
      };
      const Value before = other < k ? with_.invert(better(own, its), {}) : better(its, own);
      condition = with_.both(condition, with_.invert(with_.both(is_found(o), before, {}), {}), {});
    }
    return condition;
  }

  /// Of l = log sum exp(x) the derivative by x is the term's share w = exp(x - l), of a mean
  /// m = sum w v it is w by v and w (v - m) by x, where v is 0 if the term is not in the mean.
  void differentiate_logarithm(std::size_t at, const Value& weight, Derivative& derivative) {
    const auto combine = [&](Fn fn, const Value& a, const Value& b) {
      return with_.combine(fn, a, b, context_, {});
    };
    const Contribution& c = law_.contributions[at];
    const Value condition = condition_of(c);
    const NodeId x = moved_[index(c.value)];
    const Value sum = number(input(known_results_.at(c.result)));
    const Value share = with_.round1(Fn::Exp, combine(Fn::Sub, number(x), sum), context_, {});
    derivative.differentiate(x, combine(Fn::Mul, weight, share), condition);
    for (const auto& [mean, mean_weight] : weights_) {
      if (law_.variable(mean).weighted_by != c.result || !known_results_.contains(mean)) continue;
      const Value part = combine(Fn::Mul, number(input(mean_weight)), share);
      Value excess = with_.negate(number(input(known_results_.at(mean))), {});
      for (std::size_t k = at + 1; k < law_.contributions.size(); ++k) {
        const Contribution& value = law_.contributions[k];
        if (value.reduction != Reduction::Softmax) break;
        if (value.result != mean) continue;
        const NodeId v = moved_[index(value.value)];
        derivative.differentiate(v, part, condition);
        excess = combine(Fn::Add, number(v), excess);
      }
      derivative.differentiate(x, combine(Fn::Mul, part, excess), condition);
    }
  }
  static Value number(NodeId id) { return front::node_value(front::Kind::Number, id); }

  void contribute(Derivative& derivative) {
    const auto results = add_barred(by_, VarKind::Result);
    for (const auto& [variable, result] : results) {
      if (std::ranges::find(by_, variable) == by_.end()) continue;
      const front::GuardedValue& d = derivative.of(input(variable));
      if (front::is_constant(d.value, 0)) continue;
      const Value condition = derivative.condition_of(d.guard);
      NodeId value = with_.number_node(d.value, Type::Long, {});
      const bool negated = nodes_[value].fn == Fn::Neg;
      if (negated) value = nodes_[value].a;
      out_.contributions.push_back({.result = result,
                                    .negated = negated,
                                    .value = value,
                                    .condition = condition.constant ? no_node : condition.node});
    }
  }

  /// Leaves out inputs that are not needed, but for a target and a source, whose numbers a job
  /// needs.
  void keep_needed_variables() {
    std::vector<bool> keep(out_.variables.size(), false);
    for (std::size_t v = 0; v < keep.size(); ++v)
      keep[v] = out_.variables[v].kind == VarKind::Result && !out_.variables[v].name.empty();
    for (const Node& node : out_.nodes)
      if (node.variable >= 0) keep[index(node.variable)] = true;
    for (const VarKind kind : {VarKind::Target, VarKind::Source}) keep_one(kind, keep);
    for (const VariableArray& a : out_.arrays) {
      const auto begin = keep.begin() + static_cast<std::ptrdiff_t>(a.first);
      const auto end = begin + static_cast<std::ptrdiff_t>(variable_count(out_, a));
      if (std::find(begin, end, true) != end) std::fill(begin, end, true);
    }
    move_variables(keep);
  }
  void keep_one(VarKind kind, std::vector<bool>& keep) const {
    std::optional<std::size_t> first;
    for (std::size_t v = 0; v < keep.size(); ++v) {
      if (out_.variables[v].kind != kind) continue;
      if (keep[v]) return;
      if (!first) first = v;
    }
    if (first) keep[*first] = true;
  }
  void move_variables(const std::vector<bool>& keep) {
    std::vector<std::int32_t> moved(keep.size(), -1);
    std::vector<GraphVariable> kept;
    for (std::size_t v = 0; v < keep.size(); ++v) {
      if (!keep[v]) continue;
      moved[v] = static_cast<std::int32_t>(kept.size());
      kept.push_back(std::move(out_.variables[v]));
    }
    out_.variables = std::move(kept);
    for (Node& node : out_.nodes)
      if (node.variable >= 0) node.variable = moved[index(node.variable)];
    for (Contribution& c : out_.contributions) c.result = moved[index(c.result)];
    std::erase_if(out_.arrays, [&](const VariableArray& a) { return moved[a.first] < 0; });
    for (VariableArray& a : out_.arrays) a.first = static_cast<std::uint32_t>(moved[a.first]);
  }

  std::string comment() {
    out_.name = law_.name + "_adjoint";
    std::string weights;
    for (const auto& [result, weight] : weights_)
      weights += fmt::format("{}{} {}", weights.empty() ? "" : " + ", out_variable_name(weight),
                             law_.variable(result).name);
    return fmt::format(
        "// Derivatives of S with respect to {} of kernel {}, where S is the sum over all\n// "
        "targets of "
        "{}.{}\n",
        list_, law_.name, weights.empty() ? "0" : weights,
        exchanged_ ? "\n// Targets here are that kernel's sources, and sources its targets." : "");
  }
  const std::string& out_variable_name(std::int32_t v) const { return weight_names_.at(v); }

  const Graph& law_;
  std::vector<std::int32_t> by_;
  std::string list_;  ///< their names, for messages
  bool exchanged_ = false;
  Messages messages_;
  NodeTable nodes_;
  Arithmetic with_{nodes_, messages_};
  front::Context context_;
  Graph out_;
  std::vector<NodeId> moved_;                           ///< nodes by those of the law
  std::map<std::int32_t, std::int32_t> weights_;        ///< their weights by results of the law
  std::map<std::int32_t, std::int32_t> known_results_;  ///< inputs with results, by these
  std::map<std::int32_t, std::string> weight_names_;
};

}  // namespace

std::string adjoint_text(const Graph& graph, std::span<const std::string> variables) {
  if (variables.empty())
    refuse(ErrorCategory::Usage, "no variable is given with respect to which to differentiate");
  return Adjoint(graph, variables).text();
}

std::vector<std::string> adjoint_texts(const Graph& graph, std::span<const std::string> variables) {
  std::vector<std::string> targets, sources, parameters;
  for (const std::string& name : variables) {
    const VarKind kind = graph.variable(variables_named(graph, name).front()).kind;
    (kind == VarKind::Source  ? sources
     : kind == VarKind::Param ? parameters
                              : targets)
        .push_back(name);
  }
  std::vector<std::string>& first = targets.empty() && !sources.empty() ? sources : targets;
  first.insert(first.end(), parameters.begin(), parameters.end());
  std::vector<std::string> texts;
  if (!targets.empty() || sources.empty()) texts.push_back(adjoint_text(graph, targets));
  if (!sources.empty()) texts.push_back(adjoint_text(graph, sources));
  return texts;
}

}  // namespace gdr::kc
