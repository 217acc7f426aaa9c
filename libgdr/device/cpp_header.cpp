// Generation of C++ headers (`gdr header --cpp`). The common part is <gdr/kernels/typed.hpp>.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "libgdr/device/headers.hpp"

namespace gdr {
namespace {

/// Keywords of C and C++, which are valid names of variables but not of members.
constexpr std::string_view reserved[] = {
    "alignas",   "alignof",  "and",      "asm",      "auto",   "bitand",  "bitor",     "bool",
    "break",     "case",     "catch",    "char",     "class",  "compl",   "concept",   "const",
    "constexpr", "continue", "decltype", "default",  "delete", "do",      "double",    "else",
    "enum",      "explicit", "export",   "extern",   "false",  "float",   "for",       "friend",
    "goto",      "if",       "inline",   "int",      "long",   "mutable", "namespace", "new",
    "noexcept",  "not",      "nullptr",  "operator", "or",     "private", "protected", "public",
    "register",  "requires", "restrict", "return",   "short",  "signed",  "sizeof",    "static",
    "struct",    "switch",   "template", "this",     "throw",  "true",    "try",       "typedef",
    "typeid",    "typename", "union",    "unsigned", "using",  "virtual", "void",      "volatile",
    "while",     "xor"};

/// Member name of a variable, different from the names of the structures.
std::string cpp_member_name(const std::string& name) {
  for (const std::string_view taken : {"Source", "Target", "Parameters", "Result", "Output"})
    if (name == taken) return name + "_";
  return member_name(name);
}

std::string cpp_member(const Member& m) {
  const KernelVariable& v = *m.first;
  constexpr const char* types[] = {"double", "float", "std::int64_t", "std::uint64_t"};
  const std::string type = types[static_cast<unsigned>(v.type)];
  const std::string note =
      v.reduction.empty() ? v.conversion : fmt::format("{}, {}", v.conversion, v.reduction);
  // A param is one word for every location.
  const bool two_words = v.host_bytes == 16 && v.role != Role::Param;
  if (m.sizes.empty() && !two_words)
    return fmt::format("  {} {} = {};  ///< {}\n", type, cpp_member_name(m.name),
                       v.default_value.value_or(0), note);
  std::string array = two_words ? fmt::format("std::array<{}, 2>", type) : type;
  for (std::size_t k = m.sizes.size(); k-- > 0;)
    array = fmt::format("std::array<{}, {}>", array, m.sizes[k]);
  return fmt::format("  {} {}{{}};  ///< {}\n", array, cpp_member_name(m.name), note);
}

/// The text for the variables of a role.
struct CppRoleText {
  std::string members, fields;
  std::size_t count = 0;
};

CppRoleText cpp_role_text(const Kernel& kernel, Role role, const std::string& structure) {
  constexpr const char* types[] = {"F64", "F32", "I64", "Raw"};
  CppRoleText text;
  for (const Member& m : members_of(kernel, role)) {
    text.members += cpp_member(m);
    const std::string name = cpp_member_name(m.name);
    for (std::size_t k = 0; k < m.count(); ++k, ++text.count)
      text.fields +=
          fmt::format("\n      Field{{\"{}\", HostNumber::{}, offsetof({}, {}){}}},", m.variable(k),
                      types[static_cast<unsigned>(m.first->type)], structure, name,
                      k == 0 ? "" : fmt::format(" + {}", k * m.first->host_bytes));
  }
  if (text.count > 0) {
    text.fields.back() = '}';  // the last comma
    text.fields.insert(text.fields.begin(), '{');
  }
  return text;
}

std::string structure(const std::string& name, const std::string& what, const CppRoleText& text) {
  if (text.count == 0)
    return fmt::format("/// {} The kernel declares none.\nstruct {} {{}};\n", what, name);
  return fmt::format("/// {}\nstruct {} {{\n{}}};\n", what, name, text.members);
}

// {0}: namespace; {1}: structures; {2} {3} {4} {5}: members of source, target, result and output;
// {6} to {9}: their numbers; {10}: expression that creates the kernel; {11}: its object; {12}:
// assignment of the parameters; {13} {14}: declaration and use of the parameters; {15} {16}: of the
// outputs; {17}: the function that returns the results.
constexpr const char* cpp_header_text =
    R"(// Kernel {0} with structures that match its declarations. Written by `gdr header --cpp`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gdr/kernels/typed.hpp>

namespace gdr::kernels::{0} {{

{1}
{11}/// The definition of the kernel for TypedJob.
struct Definition {{
  using Source = {0}::Source;
  using Target = {0}::Target;
  using Result = {0}::Result;
  using Output = {0}::Output;
  static const ::gdr::Kernel& kernel() {{
    static const ::gdr::Kernel opened = ::gdr::Kernel::{10};
    return opened;
  }}
  static constexpr std::array<Field, {6}> source_fields{{{2}}};
  static constexpr std::array<Field, {7}> target_fields{{{3}}};
  static constexpr std::array<Field, {8}> result_fields{{{4}}};
  static constexpr std::array<Field, {9}> output_fields{{{5}}};
}};

/// A job with this kernel on a device.
class Job : public TypedJob<Definition> {{
 public:
  using TypedJob<Definition>::TypedJob;
{12}}};

/// Results of all sources for every target, in one call. Throws gdr::Error (Usage) for lists of
/// the wrong length, and the errors of gdr::Job.
inline void compute(Device& device,{13} std::span<const Source> sources,
                    std::span<const Target> targets, std::span<Result> results{15}) {{
  Job job(device);
{14}  job.sources(sources);
  job.targets(targets);
  job.run(results{16});
}}
{17}
}}  // namespace gdr::kernels::{0}
)";

// {0}: declaration of the parameters; {1}: their use.
constexpr const char* returning_text = R"(
/// Returns the results as a vector.
inline std::vector<Result> compute(Device& device,{0}
                                   std::span<const Source> sources,
                                   std::span<const Target> targets) {{
  std::vector<Result> results(targets.size());
  compute(device,{1} sources, targets, results);
  return results;
}}
)";

std::string set_function(const Kernel& kernel) {
  std::string text;
  for (const Member& m : members_of(kernel, Role::Param))
    for (std::size_t k = 0; k < m.count(); ++k)
      text += fmt::format("    untyped().set(\"{}\", parameter(all.{}{}));\n", m.variable(k),
                          cpp_member_name(m.name), m.index_text(k));
  if (text.empty()) return text;
  return "  /// Set the parameters of the following runs.\n  void set(const Parameters& all) {\n" +
         text + "  }\n";
}

}  // namespace

bool is_c_word(std::string_view text) {
  return std::ranges::find(reserved, text) != std::end(reserved);
}

bool is_c_identifier(std::string_view text) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  return !text.empty() && letter(text[0]) && std::ranges::all_of(text, [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c));
  });
}

std::string member_name(std::string_view name) {
  return std::string(name) + (is_c_word(name) ? "_" : "");
}

std::size_t Member::count() const noexcept {
  std::size_t product = 1;
  for (const std::size_t size : sizes) product *= size;
  return product;
}

std::string Member::index_text(std::size_t k) const {
  std::string text;
  for (std::size_t i = sizes.size(); i-- > 0; k /= sizes[i])
    text.insert(0, fmt::format("[{}]", k % sizes[i]));
  return text;
}

std::string Member::sizes_text() const {
  std::string text;
  for (const std::size_t size : sizes) text += fmt::format("[{}]", size);
  return text;
}

std::vector<Member> members_of(const Kernel& kernel, Role role) {
  const std::vector<KernelVariable>& variables = kernel.variables();
  std::vector<Member> members;
  for (std::size_t k = 0; k < variables.size(); ++k) {
    if (variables[k].role != role) continue;
    const auto array = std::ranges::find_if(kernel.arrays(), [&](const KernelArray& a) {
      return a.first == k && std::ranges::count(variables, a.name, &KernelVariable::name) == 0;
    });
    if (array == kernel.arrays().end()) {
      members.push_back({variables[k].name, &variables[k]});
      continue;
    }
    members.push_back({array->name, &variables[k], array->sizes});
    k += array->count - 1;
  }
  return members;
}

std::string bytes_text(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); ++k)
    text += fmt::format("{}{},", k % 20 == 0 ? "\n  " : "", bytes[k]);
  return text;
}

std::string cpp_header(const Kernel& kernel, std::string_view given, std::string_view builtin) {
  const std::string name(given.empty() ? std::string_view(kernel.name()) : given);
  if (!is_c_identifier(name) || is_c_word(name) || name == "std" || name == "gdr")
    throw Error(
        ErrorCategory::Usage,
        fmt::format("\"{}\" cannot be the name of a C++ namespace; give letters, digits and _",
                    name));
  const CppRoleText source = cpp_role_text(kernel, Role::Source, "Source"),
                    target = cpp_role_text(kernel, Role::Target, "Target"),
                    parameters = cpp_role_text(kernel, Role::Param, "Parameters"),
                    result = cpp_role_text(kernel, Role::Result, "Result"),
                    output = cpp_role_text(kernel, Role::Output, "Output");
  const std::string structures = structure("Source", "A source.", source) + "\n" +
                                 structure("Target", "A target.", target) + "\n" +
                                 structure("Parameters", "The parameters.", parameters) + "\n" +
                                 structure("Result", "The results of a target.", result) + "\n" +
                                 structure("Output", "The outputs of a source.", output);
  const bool has_parameters = parameters.count > 0, has_outputs = output.count > 0;
  const std::string taken = has_parameters ? " const Parameters& parameters," : "";
  const std::string set = has_parameters ? "  job.set(parameters);\n" : "";
  const std::string opened = builtin.empty()
                                 ? fmt::format("from_object(object, sizeof object, \"{}\")", name)
                                 : fmt::format("builtin(\"{}\")", builtin);
  const std::string object =
      builtin.empty() ? fmt::format(
                            "/// The kernel's object file.\ninline constexpr unsigned char "
                            "object[] = {{{}\n}};\n\n",
                            bytes_text(kernel.object()))
                      : "";
  const std::string returning = has_outputs ? ""
                                            : fmt::format(fmt::runtime(returning_text), taken,
                                                          has_parameters ? " parameters," : "");
  return fmt::format(fmt::runtime(cpp_header_text), name, structures, source.fields, target.fields,
                     result.fields, output.fields, source.count, target.count, result.count,
                     output.count, opened, object, set_function(kernel), taken, set,
                     has_outputs ? ", std::span<Output> outputs" : "",
                     has_outputs ? ", outputs" : "", returning);
}

}  // namespace gdr
