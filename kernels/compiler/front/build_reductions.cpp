// Contributions to results: sums, extrema, conditions, products and weighted means.
#include <algorithm>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

}  // namespace

/// Record the reduction of a result; reports an error and returns false on a conflict.
bool Builder::claim(std::int32_t result, Reduction reduction, std::int32_t payload_result,
                    const SourceRange& where) {
  ResultUse& use = results_[index(result)];
  if (!use.used) {
    use = {true, reduction, payload_result, false, where};
    return true;
  }
  if (use.reduction == reduction && use.payload_result == payload_result && !use.is_payload)
    return true;
  const std::string& name = graph_.variable(result).name;
  error(Code::ReductionMixed, where,
        "the result " + in_quotes(name) + " has two different reductions")
      .help("declare another result")
      .note(use.where,
            use.is_payload ? "used as an index here"
            : use.reduction != reduction
                ? "reduced by " + std::string(reduction_info(use.reduction).word) + "= here"
                : "another index here");
  return false;
}

/// The index of an extremum, of Smallest and Largest that of the first one.
bool Builder::payload(const Statement& s, Contribution& c) {
  const LValue& lvalue = s.payloads[0].lvalue;
  const ExprId written = s.payloads[0].value;
  Name* n = find(lvalue.name);
  const Value value = int_value(written);
  const GraphVariable& key = graph_.variable(c.result);
  if (key.type == Type::Int) {
    error(Code::BadPayload, s.lvalue.where, "an int result cannot have an index")
        .help("declare it without `int`, `VARF " + key.name + ";`: it holds all ints exactly");
    return false;
  }
  const auto ranks = static_cast<std::int32_t>(key.ranks);
  const std::string size = ranks > 0 ? "[" + std::to_string(ranks) + "]" : "";
  if (n == nullptr || n->kind != NameKind::Result || n->type != Type::Int ||
      (ranks > 0 && (n->sizes.size() != 1 || n->count() != key.ranks))) {
    Message d = error(Code::BadPayload, lvalue.where,
                      ranks > 0 ? "the indices must be stored in an array of as many int results"
                                : "the index must be stored in an int result")
                    .help("declare it: `VARF int " + std::string(lvalue.name) + size + ";`");
    if (n != nullptr) d.note(n->where, "declared here");
    return false;
  }
  if (!lvalue.component.empty()) {
    error(Code::NoComponent, lvalue.where, "an index has no components");
    return false;
  }
  const bool whole = ranks > 0 && lvalue.indices.empty();
  const auto number =
      whole ? std::optional<std::int64_t>(0) : element(*n, lvalue.indices, lvalue.where);
  if (!number || value.poison()) return false;
  if (ranks > 0 && !whole) {
    error(Code::IndexCount, lvalue.where, "the indices are stored in the whole array")
        .help("write `: " + std::string(n->name) + " = ...;`");
    return false;
  }
  c.payload_result = n->first + static_cast<std::int32_t>(*number);
  c.payload = arithmetic_.int_node(value, expr(written).where);
  for (std::int32_t k = 0; k < std::max(1, ranks); ++k) {
    ResultUse& use = results_[index(c.payload_result + k)];
    if (!use.used) {
      use = {true, c.reduction, c.result + k, true, lvalue.where};
      continue;
    }
    if (use.is_payload && use.payload_result == c.result + k) continue;
    error(Code::BadPayload, lvalue.where, in_quotes(n->name) + " already has another contribution")
        .help("declare another result")
        .note(use.where, "used here");
    return false;
  }
  return true;
}

/// `list append= int;`
void Builder::append(Name& n, const Statement& s) {
  const Value v = int_value(s.value);
  if (!s.lvalue.indices.empty()) {
    error(Code::IndexCount, s.lvalue.where, "an append to " + in_quotes(n.name) + " takes no index")
        .help("write `" + std::string(n.name) + " append= ...;`")
        .note(n.where, "declared here");
    return;
  }
  results_[index(n.first)].used = true;
  if (v.poison()) return;
  add_contribution({.result = n.first,
                    .reduction = Reduction::Append,
                    .value = arithmetic_.int_node(v, expr(s.value).where),
                    .where = s.lvalue.where});
}

/// `result += value;` and the other reductions of one number.
void Builder::contribute(Name& n, const Statement& s) {
  const bool updates = s.op.ends_with('=');
  const Reduction reduction =
      updates ? reduction_of(s.op.substr(0, s.op.size() - 1)) : reduction_of(s.op);
  if (reduction == Reduction::And || reduction == Reduction::Or)
    return contribute_condition(n, s, reduction);
  if (reduction == Reduction::Smallest || reduction == Reduction::Largest)
    return contribute_ranked(n, s, reduction);
  const bool is_int = n.type == Type::Int;
  const SourceRange& where = expr(s.value).where;
  if (is_int && (reduction == Reduction::Product || reduction == Reduction::LogSumExp)) {
    unfit_result(n, s, "does not apply to an int result",
                 "declare it without `int`: `VARF " + std::string(n.name) + ";`");
    return void(evaluate(s.value, {wide_, false}));
  }
  LValue to = s.lvalue;
  bool failed = false;
  const auto component = split_component(n, to, failed);
  const auto number = failed ? std::nullopt : element(n, to.indices, to.where);
  Value v = evaluate(s.value, {wide_, is_int});
  const Shape shape = component ? Shape::Scalar : n.shape;
  v = arithmetic_.promoted(shape, v, {wide_, false}, where);
  if (!failed && !arithmetic_.has_shape(shape, v, where)) v = {};
  const std::int32_t first = n.first +
                             static_cast<std::int32_t>(number.value_or(0)) * n.components() +
                             static_cast<std::int32_t>(component.value_or(0));
  if (number && shape != Shape::Scalar) return contribute_parts(n, s, first, v);
  // convert() reports conditions.
  if (v.kind == Kind::Bool || is_int)
    v = arithmetic_.convert(is_int ? Type::Int : Type::Short, v, where);
  if (!number) return;
  Contribution c;
  c.result = first;
  c.reduction = reduction;
  c.negated = s.op == "-=";
  c.where = s.lvalue.where;
  const bool means = reduction == Reduction::LogSumExp;
  if (!means && !s.payloads.empty() && !payload(s, c)) return;
  if (!claim(c.result, c.reduction, c.payload_result, c.where)) return;
  GraphVariable& result = graph_.variable(c.result);
  result.reduction = c.reduction;
  result.index_result = c.payload_result;
  if (!v.poison()) {
    c.value =
        is_int ? arithmetic_.int_node(v, where) : arithmetic_.number_node(v, Type::Long, where);
    add_contribution(c);
  }
  if (means)
    for (const DeclaredItem& mean : s.payloads) contribute_mean(c, mean);
}

/// The reduction does not suit the declaration of its result.
void Builder::unfit_result(const Name& n, const Statement& s, const std::string& what,
                           const std::string& help) {
  error(Code::UnfitResult, s.lvalue.where,
        std::string(s.op) + (s.op.ends_with('=') ? "" : "=") + " " + what)
      .help(help)
      .note(n.where, "declared here");
}

/// `flag and= condition;`, `flag or= condition;`: the minimum or maximum of 1 and 0.
void Builder::contribute_condition(Name& n, const Statement& s, Reduction reduction) {
  const SourceRange& where = expr(s.value).where;
  const Value holds = test(s.value);
  if (n.type != Type::Int)
    return unfit_result(n, s, "needs an int result",
                        "declare it: `VARF int " + std::string(n.name) + ";`");
  const auto number = element(n, s.lvalue.indices, s.lvalue.where);
  if (!number || holds.poison()) return;
  const std::int32_t result = n.first + static_cast<std::int32_t>(*number);
  if (!claim(result, reduction, -1, s.lvalue.where)) return;
  graph_.variable(result).reduction = reduction;
  const bool any = reduction == Reduction::Or;
  const Value outer = path_;
  path_ = arithmetic_.both(outer, any ? holds : arithmetic_.invert(holds, where), where);
  add_contribution({.result = result,
                    .reduction = reduction,
                    .value = arithmetic_.int_node(constant_int(any ? 1 : 0), where),
                    .where = s.lvalue.where});
  path_ = outer;
}

/// `array smallest= value : numbers = index;`
void Builder::contribute_ranked(Name& n, const Statement& s, Reduction reduction) {
  const SourceRange& where = expr(s.value).where;
  Value v = evaluate(s.value, {wide_, false});
  if (v.kind == Kind::Bool) v = arithmetic_.convert(Type::Short, v, where);
  if (!arithmetic_.has_shape(Shape::Scalar, v, where)) v = {};
  const std::string example = "declare it: `VARF " + std::string(n.name) + "[16];`";
  if (n.type == Type::Int || n.shape != Shape::Scalar)
    return unfit_result(
        n, s, n.type == Type::Int ? "does not apply to int results" : "does not apply to vectors",
        example);
  if (n.sizes.size() != 1 || n.count() > max_ranks)
    return unfit_result(
        n, s, n.sizes.size() == 1 ? "has at most 64 results" : "needs an array with one index",
        example);
  if (!s.lvalue.indices.empty()) {
    error(Code::IndexCount, s.lvalue.where,
          std::string(s.op) + "= applies to the whole array " + in_quotes(n.name))
        .help("write `" + std::string(n.name) + " " + std::string(s.op) + "= ...;`")
        .note(n.where, "declared here");
    return;
  }
  Contribution c{.result = n.first, .reduction = reduction, .where = s.lvalue.where};
  graph_.variable(n.first).ranks = static_cast<std::uint32_t>(n.count());
  if (!s.payloads.empty() && !payload(s, c)) return;
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(n.count()); ++k) {
    const std::int32_t number = c.payload_result < 0 ? -1 : c.payload_result + k;
    if (!claim(n.first + k, reduction, number, c.where)) return;
    graph_.variable(n.first + k).reduction = reduction;
    graph_.variable(n.first + k).index_result = number;
  }
  if (v.poison()) return;
  c.value = arithmetic_.number_node(v, Type::Long, where);
  add_contribution(c);
}

/// The mean of a value, weighted with the exponentials of which `weights` adds one.
void Builder::contribute_mean(const Contribution& weights, const DeclaredItem& mean) {
  const SourceRange& where = expr(mean.value).where;
  Value v = evaluate(mean.value, {wide_, false});
  Name* const n = find(mean.lvalue.name);
  if (n == nullptr || n->kind != NameKind::Result || n->type == Type::Int) {
    Message d = error(Code::BadPayload, mean.lvalue.where,
                      "a weighted mean must be stored in a result that is not an int")
                    .help("declare it: `VARF " + std::string(mean.lvalue.name) + ";`");
    if (n != nullptr) d.note(n->where, "declared here");
    return;
  }
  LValue to = mean.lvalue;
  bool failed = false;
  const auto component = split_component(*n, to, failed);
  const auto number = failed ? std::nullopt : element(*n, to.indices, to.where);
  const Shape shape = component ? Shape::Scalar : n->shape;
  v = arithmetic_.promoted(shape, v, {wide_, false}, where);
  if (!number || !arithmetic_.has_shape(shape, v, where) || v.poison()) return;
  const std::int32_t first = n->first + static_cast<std::int32_t>(*number) * n->components() +
                             static_cast<std::int32_t>(component.value_or(0));
  const std::int32_t parts = shape == Shape::Scalar ? 1 : n->components();
  for (std::int32_t k = 0; k < parts; ++k) {
    if (!claim(first + k, Reduction::Softmax, weights.result, to.where)) return;
    GraphVariable& result = graph_.variable(first + k);
    result.reduction = Reduction::Softmax;
    result.weighted_by = weights.result;
    const Value& part = parts == 1 ? v : v.parts[index(k)];
    if (part.kind == Kind::Bool) return void(arithmetic_.convert(Type::Short, part, where));
    add_contribution({.result = first + k,
                      .reduction = Reduction::Softmax,
                      .value = arithmetic_.number_node(part, Type::Long, where),
                      .where = to.where});
  }
}

/// Sums of vectors and tensors, component by component.
void Builder::contribute_parts(const Name& n, const Statement& s, std::int32_t first,
                               const Value& v) {
  if (s.op != "+=" && s.op != "-=") {
    const std::string op = std::string(s.op) + (s.op.ends_with('=') ? "" : "=");
    error(Code::ShapesDiffer, s.lvalue.where,
          op + " applies to numbers, not to a " + std::string(info(n.shape).name))
        .help("update its components: `" + std::string(n.name) + "." +
              std::string(info(n.shape).components[0]) + " " + op + " ...;`");
    return;
  }
  for (std::int32_t k = 0; k < n.components(); ++k) {
    const bool claimed = claim(first + k, Reduction::Sum, -1, s.lvalue.where);
    if (!claimed || v.poison()) continue;
    const Value& part = v.parts[index(k)];
    add_contribution({.result = first + k,
                      .negated = s.op == "-=",
                      .value = arithmetic_.number_node(part, Type::Long, expr(s.value).where),
                      .where = s.lvalue.where});
  }
}

/// Note the reductions of a block that is not compiled, but for sums.
void Builder::leave_out(BlockId block) {
  for (const std::int32_t id : program_.block(block)) {
    const Statement& s = program_.statement(id);
    if (s.kind == StatementKind::Assign && s.op != "=" && s.op != "+=" && s.op != "-=")
      left_out_.push_back(&s);
    for (const BlockId inner : {s.body, s.other})
      if (inner != none) leave_out(inner);
  }
}

/// A result whose only contributions are left out has the value of its reduction of nothing.
void Builder::keep_reductions() {
  for (const Statement* const s : left_out_) {
    const Name* const n = find(s->lvalue.name);
    if (n == nullptr || n->kind != NameKind::Result || n->shape != Shape::Scalar) continue;
    const Reduction reduction = s->op == "*=" ? Reduction::Product : reduction_of(s->op);
    const bool ranked = reduction == Reduction::Smallest || reduction == Reduction::Largest;
    if (ranked && (n->sizes.size() != 1 || n->count() > max_ranks)) continue;
    const bool means = reduction == Reduction::LogSumExp;
    const Name* const payload =
        s->payloads.empty() || means ? nullptr : find(s->payloads[0].lvalue.name);
    const bool indexed = payload != nullptr && payload->kind == NameKind::Result &&
                         payload->type == Type::Int && payload->count() == n->count();
    if (ranked && !results_[index(n->first)].used)
      graph_.variable(n->first).ranks = static_cast<std::uint32_t>(n->count());
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(n->count()); ++k) {
      if (results_[index(n->first + k)].used) continue;
      GraphVariable& result = graph_.variable(n->first + k);
      result.reduction = reduction;
      if (indexed && !results_[index(payload->first + k)].used)
        result.index_result = payload->first + k;
    }
  }
}

/// Add a contribution under the current condition.
void Builder::add_contribution(Contribution c) {
  const Value condition = arithmetic_.both(path_, not_skipped_, c.where);
  if (condition.poison() || (condition.constant && !condition.truth)) return;
  if (!condition.constant) c.condition = condition.node;
  graph_.contributions.push_back(c);
}

}  // namespace gdr::kc::front
