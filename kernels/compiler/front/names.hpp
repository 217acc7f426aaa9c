// What names stand for while a kernel is built.
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
  Input,     ///< VARI, VARJ or CONST: read only
  Table,     ///< CONST table
  Result,    ///< VARF: contributions only
  List,      ///< VARF list: what is appended only
  Constant,  ///< CONST with a value, or the name of a loop
  Temporary,
};

struct Name {
  NameKind kind = NameKind::Temporary;
  std::string_view name;
  SourceRange where;                ///< of the declaration, or of the first assignment
  std::optional<Type> type;         ///< as declared
  std::vector<std::int64_t> sizes;  ///< of an array or table
  std::int32_t first = 0;           ///< variable, or slot, of the first element
  Value value;                      ///< Constant
  bool used = false;                ///< Input, Table
  bool growing = false;             ///< Temporary: an array whose size nobody declared
  std::map<std::int64_t, std::int32_t> elements;  ///< its slots by index
};

/// Names of one level: the whole kernel, or one call of a function.
using Scope = std::unordered_map<std::string_view, Name*>;

/// A place in the text that assigns; warned of if nothing that it ever assigned was read.
struct Site {
  SourceRange where;
  std::string_view name;
  bool read = false;
  std::optional<SourceRange> overwritten;
};

/// One value of a temporary: assigned at a site, or chosen from two others by a condition.
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
  bool accumulates = false;  ///< began as zero, with += or -=
  std::int32_t definition = -1;
  SourceRange where;  ///< of the last assignment
};

}  // namespace gdr::kc::front
