// Symbol table of the front end.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/compiler/front/value.hpp"

namespace gdr::kc::front {

enum class NameKind : std::uint8_t {
  Input,     ///< VARI, VARJ or CONST: read-only
  Table,     ///< CONST table
  Result,    ///< VARF: contributions only
  List,      ///< VARF list: append only
  Constant,  ///< CONST with a value, or loop variable
  Temporary,
};

struct Name {
  NameKind kind = NameKind::Temporary;
  std::string_view name;
  SourceRange where;                              ///< declaration, or first assignment
  std::optional<Type> type;                       ///< declared type
  std::vector<std::int64_t> sizes;                ///< dimensions of an array or table
  std::int32_t first = 0;                         ///< variable or slot of the first element
  Value value;                                    ///< Constant
  bool used = false;                              ///< Input, Table
  bool growing = false;                           ///< Temporary: array without declared size
  std::map<std::int64_t, std::int32_t> elements;  ///< slots by index
};

/// The names of one scope: the kernel, or one function call.
using Scope = std::unordered_map<std::string_view, Name*>;

/// An assignment in the text; reported if none of its values is read.
struct AssignmentSite {
  SourceRange where;
  std::string_view name;
  bool read = false;
  std::optional<SourceRange> overwritten;
};

/// A value of a temporary: assigned at a site, or selected from two others by a condition.
struct Definition {
  std::int32_t site = -1;
  std::int32_t first = -1, second = -1;
  bool read = false;
};

enum class SlotState : std::uint8_t { Unassigned, Partial, Assigned };

/// A temporary, or an element of one.
struct Slot {
  SlotState state = SlotState::Unassigned;
  Value value;
  bool accumulates = false;  ///< started as zero, by += or -=
  std::int32_t definition = -1;
  SourceRange where;  ///< last assignment
};

}  // namespace gdr::kc::front
