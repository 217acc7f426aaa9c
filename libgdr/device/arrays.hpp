// Between the user's arrays and the words of the link: names matched, types checked, values moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/board/command.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// One variable of a kernel together with the place of its values in a group of link words.
struct LinkField {
  std::string name;
  HostNumber type = HostNumber::F64;
  std::uint32_t half_word = 0;   ///< offset in the group, in 32-bit units
  std::uint32_t half_words = 2;  ///< size of a value, in 32-bit units
  bool short_integer = false;    ///< an int64 that goes to a location of 36 bits
};

/// All variables of one role: the values of one target, item or result lie in `words` link words.
struct LinkGroup {
  std::string_view role;  ///< for messages: "ivar", "jvar", "fvar"
  std::vector<LinkField> fields;
  std::uint32_t words = 0;
};

LinkGroup link_group(const Program& program, VarKind kind);

/// Throws Error (Usage) for so many elements, of so many words each, as no vector could hold: they
/// come from a wrong sign or a wrong unit. `what` is "sources".
void check_count(std::size_t n, std::uint32_t words, const char* what);

/// Check names and types of input arrays against a group. Throws Error (Usage) for a name that is
/// unknown, given twice or (where `all` is asked for) missing, a null pointer, or a type that would
/// lose bits.
void check_inputs(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
                  bool all);

/// Write the arrays' values into `words`, group by group; where there is no array the words stay as
/// they are. The arrays have been checked. Throws Error (Input) for a NaN, an infinity, or an
/// integer that its variable has not the bits for, with index.
void pack(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
          std::vector<std::uint64_t>& words, unsigned threads);

/// A result array bound to the field that fills it.
struct ResultBinding {
  LinkField field;
  MutableArray array;
};

/// Match result names to fields, into `bindings`; `name[]` means all elements of an array or a
/// list, side by side for each target. Throws Error (Usage) like check_inputs.
void bind_results(const LinkGroup& group, std::size_t n, std::span<const NamedResult> results,
                  std::vector<ResultBinding>& bindings);

/// Write n groups of link words to elements first, first + 1, ... of the bound arrays.
void unpack(const LinkGroup& group, std::span<const ResultBinding> bindings, std::size_t first,
            std::size_t n, const std::uint64_t* words, unsigned threads);

}  // namespace gdr
