// Conversion between the user's arrays and link words: matching of names, checks of types, copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/host/line_allocator.hpp"
#include "gdr/device.hpp"
#include "libgdr/device/columns.hpp"

namespace gdr {

/// Link words of sources or targets, item by item.
using LinkWords = LineVector<std::uint64_t>;

/// A variable of a kernel with the location of its values in a record of link words.
struct LinkField {
  std::string name;
  HostNumber type = HostNumber::F64;
  std::uint32_t half_word = 0;   ///< offset in the record, in 32-bit units
  std::uint32_t half_words = 2;  ///< size of a value, in 32-bit units
  bool short_integer = false;    ///< whether an int64 is stored in 36 bits
  /// The value of all items if no array is given.
  std::optional<std::int64_t> default_value = {};
};

/// An array of the kernel's interface: `count` fields from number `first` of its group on.
struct LinkArray {
  std::string name;
  std::size_t first = 0, count = 0;
};

/// All variables of one role: a record of one target, source or result has `words` link words.
struct LinkGroup {
  std::string_view role;  ///< word for messages: "target variable", "result"
  std::vector<LinkField> fields;
  std::vector<LinkArray> arrays;  ///< arrays whose elements have this role
  std::uint32_t words = 0;
};

LinkGroup link_group(const Program& program, VarKind kind);

/// The fields that a name stands for: one variable, or all elements of an array, vector or tensor.
/// `name[]` means the array where a variable has the same name, as that of a list has. Throws Error
/// (Usage) for an unknown name, and for `name[]` of a single variable.
std::span<const LinkField> fields_named(const LinkGroup& group, std::string_view name);
/// Whether fields_named knows the name.
bool has_fields(const LinkGroup& group, std::string_view name) noexcept;

/// Throws Error (Usage) for a count of elements, of so many words each, that exceeds the address
/// space, e.g. a negative number. `what` is "sources".
void check_count(std::size_t n, std::uint32_t words, const char* what);

/// Checks names and types of input arrays against a group. An array of the kernel takes all its
/// elements for each item, consecutive; its stride is that between elements. Throws Error (Usage)
/// for a name that is unknown, given twice or (if `all`) missing, a null pointer, an array that is
/// known to be shorter than n items, or a type that would lose bits. Variables with a default value
/// are never missing.
void check_inputs(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
                  bool all);

/// Writes the arrays' values to the records in `words`, and with `all` the default values of
/// variables without an array; other words are unchanged. The arrays have been checked. Throws
/// Error (Input) with the index of a NaN, an infinity, or an integer that exceeds the bits of its
/// variable.
void pack(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays, bool all,
          LinkWords& words, unsigned threads);

/// Items of input arrays: n from `first` on, or n with given indices.
struct Items {
  std::size_t n = 0, first = 0;
  const std::int32_t* index = nullptr;
  /// Position of element k of the items in an array of `count` elements for each item.
  std::size_t position(std::size_t k, std::size_t count) const noexcept {
    return index == nullptr ? first * count + k
                            : static_cast<std::size_t>(index[k / count]) * count + k % count;
  }
};

/// Fills elements first .. first + n - 1 of arrays, just before they are converted. Thread-safe for
/// disjoint ranges.
using FillArrays = std::function<void(std::size_t first, std::size_t n)>;

/// Copies the input arrays of a group, all of its variables, to records, and the default values of
/// those without an array. Names are only searched for if they or their types differ from those of
/// the previous arrays, so that many small calls are fast. Not thread-safe.
class InputPacker {
 public:
  /// The group must outlive it.
  explicit InputPacker(const LinkGroup& group) : group_(&group) {}
  /// Checks arrays of at least n items. Throws like check_inputs.
  void check(std::size_t n, std::span<const NamedInput> arrays);
  /// Writes the records of some items of arrays that have been checked last. Throws Error (Input)
  /// like pack.
  void pack(const Items& items, std::span<const NamedInput> arrays, std::uint64_t* records,
            unsigned threads = 1, const FillArrays& fill = {});
  /// The same in parts: `begin`, then threads pack disjoint ranges of items of the same arrays.
  void begin(std::span<const NamedInput> arrays);
  void pack_range(std::size_t first, std::size_t n, std::span<const NamedInput> arrays,
                  std::uint64_t* records, const FillArrays& fill) const;

  /// An element of an input with the field that it fills.
  struct Element {
    std::size_t input =
        0;  ///< index of the input, or their number where the field has its default value
    std::size_t number = 0;  ///< number of the element
    std::size_t count = 1;   ///< number of elements of the input
    const LinkField* field = nullptr;
  };

 private:
  bool is_known(std::span<const NamedInput> arrays) const noexcept;

  const LinkGroup* group_;
  std::vector<std::string> names_;  ///< names of the arrays that were checked last
  std::vector<HostNumber> types_;
  std::vector<std::size_t> counts_;  ///< element counts by field
  std::vector<Element> elements_;
  std::vector<Column> columns_;
};

/// Sets a param or all elements of an array of them, in `words`, of which each param of the group
/// has two: the first holds the host bits of its value. Throws Error (Usage) for an unknown name or
/// another number of values, and Error (Input) for a value that the param's type does not
/// represent; no words are changed then. Returns the index of the first.
std::size_t set_params(const LinkGroup& params, std::string_view name,
                       std::span<const double> values, std::span<std::uint64_t> words);

/// A result array bound to the field that fills it.
struct ResultBinding {
  LinkField field;
  MutableArray array;
};

/// Matches result names to fields, into `bindings`; the elements of an array are consecutive for
/// each target. Throws Error (Usage) like check_inputs.
void bind_results(const LinkGroup& group, std::size_t n, std::span<const NamedResult> results,
                  std::vector<ResultBinding>& bindings);

/// Binds other arrays to the fields of bindings that bind_results has made for the same group.
/// False if that does not suffice, as names or types differ: many small calls repeat both.
bool rebind_results(const LinkGroup& group, std::size_t n, std::span<const NamedResult> results,
                    std::vector<ResultBinding>& bindings);

/// Moves bound arrays, so that item 0 becomes item `first`.
void begin_results_at(std::size_t first, std::vector<ResultBinding>& bindings);

/// Writes n records of link words to elements first, first + 1, ... of the bound arrays. Throws
/// Error (Input) for an integer that exceeds the bits of its array.
void unpack(const LinkGroup& group, std::span<const ResultBinding> bindings, std::size_t first,
            std::size_t n, const std::uint64_t* words, unsigned threads);

}  // namespace gdr
