// Vectors of two and three components, symmetric tensors and complex numbers: operations and
// functions, by components.
#include <algorithm>
#include <optional>
#include <string>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/arithmetic.hpp"
#include "kernels/compiler/front/complex.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

/// Index of a component of a tensor by row and column.
constexpr std::size_t tensor_index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

/// A call of a function of vectors.
struct VectorCall {
  Arithmetic& with;
  Components& by_parts;
  const Arguments& a;
  Context ctx;
  const SourceRange& where;

  Value combine(Fn fn, const Value& x, const Value& y) const {
    return with.combine(fn, x, y, ctx, where);
  }
};

bool equal_values(const Value& a, const Value& b) noexcept {
  return a.constant && b.constant ? a.number == b.number && a.kind == b.kind
                                  : a.constant == b.constant && a.node == b.node;
}

Value dot(const VectorCall& c) { return c.by_parts.dot(c.a[0].parts, c.a[1].parts); }
Value norm2(const VectorCall& c) { return c.by_parts.dot(c.a[0].parts, c.a[0].parts); }
Value norm(const VectorCall& c) { return c.with.round1(Fn::Sqrt, norm2(c), c.ctx, c.where); }

Value cross(const VectorCall& c) {
  std::vector<Value> parts;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    const std::vector<Value>&a = c.a[0].parts, &b = c.a[1].parts;
    parts.push_back(
        c.by_parts.difference(c.by_parts.product(a[i], b[j]), c.by_parts.product(a[j], b[i])));
  }
  return value_of_parts(Shape::Vector, std::move(parts));
}

/// The component across the plane.
Value cross_in_plane(const VectorCall& c) {
  const std::vector<Value>&a = c.a[0].parts, &b = c.a[1].parts;
  return c.by_parts.difference(c.by_parts.product(a[0], b[1]), c.by_parts.product(a[1], b[0]));
}

/// The sum over all nine products of components: those off the diagonal count twice.
Value contraction(const VectorCall& c) {
  const std::vector<Value>&a = c.a[0].parts, &b = c.a[1].parts;
  const Value diagonal = c.by_parts.dot({a[0], a[3], a[5]}, {b[0], b[3], b[5]});
  const Value others = c.by_parts.dot({a[1], a[2], a[4]}, {b[1], b[2], b[4]});
  return c.by_parts.sum(diagonal, c.by_parts.product(constant_int(2), others));
}

template <std::size_t tensor>
Value transformed(const VectorCall& c) {
  return c.by_parts.transform(c.a[tensor], c.a[1 - tensor]);
}

Value trace(const VectorCall& c) {
  const std::vector<Value>& a = c.a[0].parts;
  return c.by_parts.sum(c.by_parts.sum(a[0], a[3]), a[5]);
}

/// a a^T, or the symmetric part of a b^T.
Value outer(const VectorCall& c) {
  const std::vector<Value>&a = c.a.front().parts, &b = c.a.back().parts;
  const bool equal = std::ranges::equal(a, b, equal_values);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = i; j < 3; ++j) {
      Value part = c.by_parts.product(a[i], b[j]);
      if (i != j && !equal) {
        part = c.by_parts.sum(part, c.by_parts.product(a[j], b[i]));
        part = c.by_parts.product(constant_number(0.5), part);
      }
      parts.push_back(std::move(part));
    }
  }
  return value_of_parts(Shape::Tensor, std::move(parts));
}

/// The value as a number; a constant int stays one.
Value as_number(const VectorCall& c, const Value& a) {
  if (a.kind == Kind::Number || a.constant) return a;
  return c.with.convert(c.ctx.wide ? Type::Long : Type::Short, a, c.where);
}

template <Shape shape>
Value from_components(const VectorCall& c) {
  std::vector<Value> parts;
  for (const Value& a : c.a) parts.push_back(as_number(c, a));
  return value_of_parts(shape, std::move(parts));
}

/// The number of edges in a difference, to the nearest.
Value edges_in(const VectorCall& c, const Value& d, const Value& edge) {
  return c.with.round1(Fn::Round, c.combine(Fn::Div, d, edge), c.ctx, c.where);
}

Value image(const VectorCall& c, const Value& d, const Value& edge) {
  return c.combine(Fn::Sub, d, c.combine(Fn::Mul, edges_in(c, d, edge), edge));
}

Value image_in_interval(const VectorCall& c) { return image(c, c.a[0], c.a[1]); }

/// In a box of one edge, of a vector of edges, or of an edge for each component.
Value image_in_box(const VectorCall& c) {
  std::vector<Value> parts;
  for (std::size_t k = 0; k < c.a[0].parts.size(); ++k) {
    const Value& edge = c.a[1].has_parts() ? c.a[1].parts[k] : c.a[c.a.size() == 2 ? 1 : 1 + k];
    parts.push_back(image(c, c.a[0].parts[k], edge));
  }
  return value_of_parts(c.a[0].shape(), std::move(parts));
}

/// In a cell with the edges (ax, 0, 0), (bx, by, 0) and (cx, cy, cz), from the last to the first.
Value image_in_cell(const VectorCall& c) {
  std::vector<Value> d = c.a[0].parts;
  const Value* row = &c.a[4];
  for (std::size_t k = 3; k-- > 0; row -= k) {
    const Value n = edges_in(c, d[k], row[k]);
    for (std::size_t i = 0; i <= k; ++i)
      d[i] = c.combine(Fn::Sub, d[i], c.combine(Fn::Mul, n, row[i]));
  }
  return value_of_parts(Shape::Vector, std::move(d));
}

ComplexArithmetic complex_with(const VectorCall& c) { return {c.with, c.ctx, c.where}; }
Value complex_of_real(const VectorCall& c) { return complex_of(as_number(c, c.a[0])); }
template <std::size_t part>
Value part_of(const VectorCall& c) {
  return c.a[0].parts[part];
}
template <Value (ComplexArithmetic::*function)(const Value& z)>
Value of_complex(const VectorCall& c) {
  ComplexArithmetic complex = complex_with(c);
  return (complex.*function)(c.a[0]);
}

/// A form of a function: the shapes of its arguments, as one letter each.
struct VectorFunction {
  std::string_view name;
  std::string_view arguments;  ///< ShapeInfo::letter
  Value (*apply)(const VectorCall& call);
};
constexpr VectorFunction functions[] = {
    {"vec2", "nn", from_components<Shape::Plane>},
    {"vec3", "nnn", from_components<Shape::Vector>},
    {"sym3", "nnnnnn", from_components<Shape::Tensor>},
    {"dot", "vv", dot},
    {"dot", "pp", dot},
    {"dot", "tt", contraction},
    {"dot", "tv", transformed<0>},
    {"dot", "vt", transformed<1>},
    {"cross", "vv", cross},
    {"cross", "pp", cross_in_plane},
    {"norm2", "v", norm2},
    {"norm2", "p", norm2},
    {"norm", "v", norm},
    {"norm", "p", norm},
    {"outer", "v", outer},
    {"outer", "vv", outer},
    {"trace", "t", trace},
    {"minimum_image", "vv", image_in_box},
    {"minimum_image", "vn", image_in_box},
    {"minimum_image", "vnnn", image_in_box},
    {"minimum_image", "vnnnnnn", image_in_cell},
    {"minimum_image", "pp", image_in_box},
    {"minimum_image", "pn", image_in_box},
    {"minimum_image", "pnn", image_in_box},
    {"minimum_image", "nn", image_in_interval},
    {"complex", "nn", from_components<Shape::Complex>},
    {"complex", "n", complex_of_real},
    {"real", "c", part_of<0>},
    {"imag", "c", part_of<1>},
    {"conj", "c", of_complex<&ComplexArithmetic::conjugate>},
    {"norm2", "c", of_complex<&ComplexArithmetic::norm2>},
    {"abs", "c", of_complex<&ComplexArithmetic::absolute>},
    {"arg", "c", of_complex<&ComplexArithmetic::argument>},
    {"exp", "c", of_complex<&ComplexArithmetic::exponential>},
};

/// `dot(vec3, vec3)`.
std::string usage(std::string_view name, std::string_view arguments) {
  std::string text(name);
  for (const char letter : arguments) {
    text += text.size() == name.size() ? "(" : ", ";
    text += std::ranges::find(shape_infos, letter, &ShapeInfo::letter)->name;
  }
  return text + (arguments.empty() ? "()" : ")");
}

std::string_view verb(Fn fn) noexcept {
  return fn == Fn::Add   ? "added"
         : fn == Fn::Sub ? "subtracted"
         : fn == Fn::Mul ? "multiplied"
                         : "divided";
}

}  // namespace

bool is_constant(const Value& a, double x) noexcept { return a.constant && a.number == x; }

Value value_of_parts(Shape shape, std::vector<Value> parts) {
  Value v;
  if (std::ranges::any_of(parts, &Value::poison)) return v;
  v.kind = Kind::Parts;
  v.form = shape;
  v.wide = std::ranges::any_of(parts, &Value::wide);
  v.parts = std::move(parts);
  return v;
}

Value zero_of(Shape shape) {
  return shape == Shape::Scalar ? constant_int(0) : value_of_parts(shape, constant_int(0));
}

Value unit_tensor() {
  Value unit = zero_of(Shape::Tensor);
  for (std::size_t k = 0; k < 3; ++k) unit.parts[tensor_index[k][k]] = constant_int(1);
  return unit;
}

void widen(Value& value) {
  value.wide = true;
  for (Value& part : value.parts) part.wide = true;
}

Value Components::sum(const Value& a, const Value& b) {
  if (is_constant(a, 0)) return b;
  return is_constant(b, 0) ? a : with_.combine(Fn::Add, a, b, ctx_, where_);
}

Value Components::difference(const Value& a, const Value& b) {
  if (is_constant(b, 0)) return a;
  return is_constant(a, 0) ? with_.negate(b, where_) : with_.combine(Fn::Sub, a, b, ctx_, where_);
}

Value Components::product(const Value& a, const Value& b) {
  if (is_constant(a, 0) || is_constant(b, 0)) return constant_int(0);
  if (is_constant(a, 1)) return b;
  return is_constant(b, 1) ? a : with_.combine(Fn::Mul, a, b, ctx_, where_);
}

Value Components::dot(const std::vector<Value>& a, const std::vector<Value>& b) {
  Value sum_of_products = product(a[0], b[0]);
  for (std::size_t k = 1; k < a.size(); ++k)
    sum_of_products = sum(sum_of_products, product(a[k], b[k]));
  return sum_of_products;
}

Value Components::transform(const Value& tensor, const Value& vector) {
  std::vector<Value> parts;
  for (const auto& row : tensor_index)
    parts.push_back(
        dot({tensor.parts[row[0]], tensor.parts[row[1]], tensor.parts[row[2]]}, vector.parts));
  return value_of_parts(Shape::Vector, std::move(parts));
}

bool Arithmetic::has_shape(Shape shape, const Value& a, const SourceRange& where) {
  if (a.poison() || a.shape() == shape) return true;
  const bool wants_number = shape == Shape::Scalar;
  error(Code::ShapesDiffer, where,
        "a " + std::string(info(shape).name) + " is required, but this is a " +
            std::string(info(a.shape()).name))
      .help(a.shape() == Shape::Complex
                ? "use a part of it or its absolute value: real(z), imag(z), abs(z)"
            : wants_number ? "use a component, for example `.x`, or a function such as dot and norm"
                           : "build one from its components: " +
                                 usage(info(shape).name, std::string(info(shape).count, 'n')));
  return false;
}

Value Arithmetic::component(const Value& a, std::string_view name, const SourceRange& where) {
  if (a.poison()) return {};
  const auto k = component_of(a.shape(), name);
  if (k) return a.parts[*k];
  const ShapeInfo& shape = info(a.shape());
  std::string known;
  for (std::uint32_t i = 0; a.has_parts() && i < shape.count; ++i)
    known += (known.empty() ? "" : " ") + std::string(shape.components[i]);
  error(Code::NoComponent, where,
        "a " + std::string(shape.name) + " has no component " + in_quotes(name))
      .help(known.empty() ? "only vectors, tensors and complex numbers have components"
                          : "it has " + known);
  return {};
}

Value Arithmetic::combine_parts(Fn fn, const Value& a, const Value& b, Context ctx,
                                const SourceRange& where) {
  for (const Value* v : {&a, &b})
    if (!v->has_parts() && !arithmetic_operand(*v, where)) return {};
  const Shape x = a.shape(), y = b.shape();
  const auto is_complex = [](Shape s) { return s == Shape::Complex || s == Shape::Scalar; };
  if (is_complex(x) && is_complex(y)) {
    // Variable ints become numbers, as they do among numbers.
    const auto number = [&](const Value& v) {
      return v.kind == Kind::Int && !v.constant
                 ? convert(ctx.wide || a.wide || b.wide ? Type::Long : Type::Short, v, where)
                 : v;
    };
    return ComplexArithmetic(*this, ctx, where).combine(fn, number(a), number(b));
  }
  Components by_parts(*this, ctx, where);
  if (fn == Fn::Mul && x == Shape::Tensor && y == Shape::Vector) return by_parts.transform(a, b);
  if (fn == Fn::Mul && x == Shape::Vector && y == Shape::Tensor) return by_parts.transform(b, a);
  const bool alike = x == y && (fn == Fn::Add || fn == Fn::Sub || is_vector(x));
  const bool scaled = (fn == Fn::Mul && (x == Shape::Scalar || y == Shape::Scalar)) ||
                      (fn == Fn::Div && y == Shape::Scalar);
  if (!alike && !scaled) {
    const std::string names[] = {std::string(info(x).name), std::string(info(y).name)};
    error(Code::ShapesDiffer, where,
          "a " + names[0] + " and a " + names[1] + " cannot be " + std::string(verb(fn)))
        .help(is_vector(x) && is_vector(y) ? "both must have as many components"
              : fn == Fn::Mul
                  ? "the product is not symmetric; `dot(a, b)` is the sum of all products "
                    "of their components"
              : fn == Fn::Div ? "only a number can divide a " + names[0]
              : x == Shape::Plane || y == Shape::Plane
                  ? "a number for all components is `vec2(s, s)`"
                  : "a number for all components is `vec3(s, s, s)` or `s*identity`");
    return {};
  }
  std::vector<Value> parts;
  for (std::size_t k = 0; k < std::max(a.parts.size(), b.parts.size()); ++k) {
    const Value& p = a.has_parts() ? a.parts[k] : a;
    const Value& q = b.has_parts() ? b.parts[k] : b;
    parts.push_back(fn == Fn::Add       ? by_parts.sum(p, q)
                    : fn == Fn::Sub     ? by_parts.difference(p, q)
                    : fn == Fn::Mul     ? by_parts.product(p, q)
                    : is_constant(p, 0) ? p
                                        : combine(Fn::Div, p, q, ctx, where));
  }
  return value_of_parts(a.has_parts() ? x : y, std::move(parts));
}

Value Arithmetic::promoted(Shape shape, const Value& a, Context ctx, const SourceRange& where) {
  const bool number = a.kind == Kind::Number || a.kind == Kind::Int;
  if (shape != Shape::Complex || !number) return a;
  const Type type = ctx.wide || a.wide ? Type::Long : Type::Short;
  return complex_of(a.kind == Kind::Int && !a.constant ? convert(type, a, where) : a);
}

bool has_vector_form(std::string_view name, const Arguments& arguments) noexcept {
  std::string letters;
  for (const Value& a : arguments) letters += info(a.shape()).letter;
  return std::ranges::any_of(
      functions, [&](const VectorFunction& f) { return f.name == name && f.arguments == letters; });
}

bool is_vector_function(std::string_view name) noexcept {
  return std::ranges::find(functions, name, &VectorFunction::name) != std::end(functions);
}

std::vector<std::string_view> vector_function_names() {
  std::vector<std::string_view> names;
  for (const VectorFunction& f : functions)
    if (names.empty() || names.back() != f.name) names.push_back(f.name);
  return names;
}

Value call_vector_function(std::string_view name, Arithmetic& with, Messages& messages,
                           const Arguments& arguments, Context ctx, const SourceRange& where) {
  if (std::ranges::any_of(arguments, &Value::poison)) return {};
  std::string letters, forms;
  for (const Value& a : arguments) letters += info(a.shape()).letter;
  for (const VectorFunction& f : functions) {
    if (f.name != name) continue;
    forms += (forms.empty() ? "" : " or ") + usage(name, f.arguments);
    if (f.arguments != letters) continue;
    for (const Value& a : arguments)
      if (!a.has_parts() && a.kind == Kind::Bool) return with.negate(a, where);  // reports it
    Components by_parts(with, ctx, where);
    return f.apply({with, by_parts, arguments, ctx, where});
  }
  messages.error(Code::ShapesDiffer, where, usage(name, letters) + " is not a function")
      .help("use " + forms);
  return {};
}

}  // namespace gdr::kc::front
