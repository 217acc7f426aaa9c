#include "libgdr/device/header_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>

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

std::string member_name(const KernelVariable& v) {
  return is_c_word(v.name) ? v.name + "_" : v.name;
}

std::string bytes_text(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::size_t k = 0; k < bytes.size(); ++k)
    fmt::format_to(std::back_inserter(text), "{}{},", k % 20 == 0 ? "\n  " : "", bytes[k]);
  return text;
}

}  // namespace gdr
