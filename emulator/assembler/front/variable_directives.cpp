// Directives about declared variables: arrays, names of the host, the cut-off.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "emulator/assembler/front/parser.hpp"
#include "emulator/assembler/object.hpp"

namespace gdr::assembly {

void parse_array(Assembly& a, Cursor& c, Span) {
  c.skip_spaces();
  const char* begin = c.p;
  VariableArray array;
  array.name = c.name().text();
  if (array.name.empty() || is_digit(array.name.front())) {
    c.p = begin;
    a.report.error(Code::NameExpected, c.rest_of_word(), "the array needs a name here");
    return;
  }
  std::int64_t most = max_array_elements;
  do {
    c.skip();
    const auto size =
        parse_integer(a, c, 1, most, "the size of an array", Code::DirectiveValue, parse_primary);
    if (!size) return;
    array.sizes.push_back(static_cast<std::uint32_t>(*size));
    most /= *size;
    c.skip();
    if (Cursor next = c; next.word().text() == "complex") {
      array.complex = true;
      c = next;
    }
  } while (!c.done() && !array.complex && array.sizes.size() < max_array_indices);
  if (array.complex && array.sizes.back() != 2) {
    a.report.error(Code::DirectiveValue, {begin, c.p},
                   "the last size of an array of complex numbers must be 2",
                   "real and imaginary part");
    return;
  }
  const std::vector<Variable>& variables = a.program.variables;
  const auto first = std::ranges::find(variables, array.element(0), &Variable::name);
  array.first = static_cast<std::uint32_t>(first - variables.begin());
  std::uint32_t k = 0;
  const auto is_next = [&](const Variable& v) {
    return v.name == array.element(k) && are_alike(v, *first);
  };
  for (auto v = first; v != variables.end() && k < array.count() && is_next(*v); ++v) ++k;
  if (k < array.count()) {
    a.report.error(Code::DirectiveValue, {begin, c.p},
                   "the elements of " + in_quotes(array.name) + " are not declared",
                   in_quotes(array.element(k)) + " is missing",
                   "declare them above, in order, with one kind and host type: " +
                       array.element(0) + ", " + array.element(1 % array.count()) + ", ...");
    return;
  }
  if (std::ranges::count(a.program.arrays, array.name, &VariableArray::name) > 0) {
    a.report.error(Code::NameTaken, {begin, c.p},
                   "the array " + in_quotes(array.name) + " is already declared");
    return;
  }
  a.program.arrays.push_back(std::move(array));
}

void parse_host_name(Assembly& a, Cursor& c, Span) {
  c.skip_spaces();
  const char* begin = c.p;
  HostName host;
  host.name = c.name().text();
  c.skip();
  if (!parse_string(a, c, host.host)) return;
  const Program& p = a.program;
  const bool known = std::ranges::count(p.variables, host.name, &Variable::name) > 0 ||
                     std::ranges::count(p.arrays, host.name, &VariableArray::name) > 0;
  const bool taken = std::ranges::count(p.host_names, host.name, &HostName::name) > 0;
  constexpr std::size_t longest = 4096;
  const bool valid = !host.host.empty() && host.host.size() <= longest &&
                     host.host.find('\0') == std::string::npos;
  if (known && !taken && valid) {
    a.program.host_names.push_back(std::move(host));
    return;
  }
  a.report.error(Code::DirectiveValue, {begin, c.p},
                 !known  ? in_quotes(host.name) + " is not a declared variable or array"
                 : taken ? in_quotes(host.name) + " already has a host name"
                         : "the host name is empty, too long or contains a zero byte");
}

void parse_cutoff(Assembly& a, Cursor& c, Span) {
  const std::vector<Variable>& variables = a.program.variables;
  const char* const begin = c.p;
  Cutoff cutoff;
  const auto read = [&](std::uint32_t& variable, VarKind kind) {
    c.skip_spaces();
    const char* const at = c.p;
    const std::string name(c.name().text());
    const auto found = std::ranges::find(variables, name, &Variable::name);
    variable = static_cast<std::uint32_t>(found - variables.begin());
    if (found != variables.end() && found->kind == kind && found->conversion.host == HostType::F64)
      return true;
    a.report.error(
        Code::DirectiveValue, {at, c.p},
        in_quotes(name) + " is not a declared variable of " +
            (kind == VarKind::Target ? "targets" : "sources") + " with doubles",
        {},
        "the cut-off needs the square of a radius and three coordinates of targets, then "
        "three of sources");
    return false;
  };
  if (!read(cutoff.radius2, VarKind::Target)) return;
  for (std::uint32_t& variable : cutoff.target)
    if (!read(variable, VarKind::Target)) return;
  for (std::uint32_t& variable : cutoff.source)
    if (!read(variable, VarKind::Source)) return;
  if (a.program.cutoff)
    a.report.error(Code::DirectiveValue, {begin, c.p}, "the program already has a cut-off");
  else
    a.program.cutoff = cutoff;
}

}  // namespace gdr::assembly
