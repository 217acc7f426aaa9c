// Copies between strided arrays and link words. A link word has 64 bits; fields are located in
// units of 32 bits, lower half first.
#include "libgdr/device/arrays.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "emulator/host/parallel.hpp"
#include "emulator/host/thread_choice.hpp"
#include "emulator/isa/program.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/columns.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {

void detail::refuse_numbers(const char* name, std::size_t size, std::size_t n, bool gaps) {
  throw Error(ErrorCategory::Usage,
              gaps ? std::string(name) + ": its numbers are not consecutive; copy them"
                   : std::string(name) + " has " + std::to_string(size) + " numbers, expected " +
                         std::to_string(n));
}

namespace {

static_assert(std::endian::native == std::endian::little,
              "fields are addressed in 32-bit halves, lower half first");

constexpr std::string_view type_names[] = {"float64", "float32", "int64", "raw", "int32"};

std::string_view type_name(HostNumber type) { return type_names[static_cast<unsigned>(type)]; }

template <typename T>
T load(const void* base, std::ptrdiff_t stride, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + static_cast<std::ptrdiff_t>(index) * stride,
              sizeof value);
  return value;
}

/// For names of a few characters: a call of the C library's comparison takes longer.
bool is_same(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k] != b[k]) return false;
  return true;
}

/// Only conversions that preserve every value are allowed: the user decides on rounding.
bool input_fits(const LinkField& field, HostNumber given) {
  if (field.type == given) return true;
  if (field.type == HostNumber::F64) return given == HostNumber::F32;
  if (field.type == HostNumber::I64) return given == HostNumber::I32;
  return field.type == HostNumber::Raw && field.half_words == 2 && given == HostNumber::I64;
}

/// Results may be rounded to a narrower float array: the user declared that array.
bool result_fits(const LinkField& field, HostNumber wanted) {
  const auto is_float = [](HostNumber t) { return t == HostNumber::F64 || t == HostNumber::F32; };
  if (is_float(field.type) && is_float(wanted)) return true;
  return input_fits(field, wanted);
}

/// Throws Error (Usage): `target variable "name" WHAT`.
[[noreturn]] void refuse(const LinkGroup& group, std::string_view name, const std::string& what) {
  throw Error(ErrorCategory::Usage,
              std::string(group.role) + " \"" + std::string(name) + "\" " + what);
}

[[noreturn]] void wrong_type(const LinkGroup& group, const LinkField& field, HostNumber given) {
  refuse(group, field.name,
         "is " + std::string(type_name(field.type)) + ", the array given for it is " +
             std::string(type_name(given)) + "; give an array of the declared type");
}

/// Throws Error (Usage) for a null pointer, and for an array that is known not to have the numbers
/// of n items, `count` for each.
template <typename Named>
void check_extent(const LinkGroup& group, const Named& named, std::size_t n, std::size_t count) {
  const auto& array = named.array;
  if (n == 0) return;
  if (array.row != 0 && array.row != count)
    refuse(group, named.name,
           count == 1 ? "is a single value, its array has " + std::to_string(array.row) +
                            " numbers for each item"
                      : "has " + std::to_string(count) + " elements, its array has " +
                            std::to_string(array.row) + " numbers for each item");
  if (array.size / count < n)
    refuse(group, named.name,
           "needs " + std::to_string(n * count) + " numbers" +
               (count == 1 ? "" : ", " + std::to_string(count) + " for each item") +
               ", its array has " + std::to_string(array.size));
  if (array.data == nullptr)
    throw Error(ErrorCategory::Usage, "the array of " + std::string(group.role) + " \"" +
                                          std::string(named.name) + "\" is a null pointer");
}

template <typename Named>
void refuse_twice(const LinkGroup& group, std::span<const Named> arrays) {
  for (std::size_t k = 1; k < arrays.size(); ++k)
    for (std::size_t m = 0; m < k; ++m)
      if (arrays[k].name == arrays[m].name) refuse(group, arrays[k].name, "is given twice");
}

std::size_t index_of(const LinkGroup& group, const LinkField& field) {
  return static_cast<std::size_t>(&field - group.fields.data());
}

/// The column of element k of an array with `count` elements for each item.
template <typename Array>
Array element_of(Array array, std::size_t k, std::size_t count) {
  using Bytes = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(array.data)>>,
                                   const char, char>;
  if (array.data != nullptr)
    array.data = static_cast<Bytes*>(array.data) + static_cast<std::ptrdiff_t>(k) * array.stride;
  array.stride = array.item_stride != 0 ? array.item_stride
                                        : array.stride * static_cast<std::ptrdiff_t>(count);
  return array;
}

void refuse_missing(const LinkGroup& group, const std::vector<bool>& given) {
  std::string missing;
  for (std::size_t k = 0; k < group.fields.size(); ++k)
    if (!given[k] && !group.fields[k].default_value)
      missing += (missing.empty() ? "\"" : ", \"") + group.fields[k].name + "\"";
  if (!missing.empty())
    throw Error(ErrorCategory::Usage, "no array is given for " + std::string(group.role) + " " +
                                          missing +
                                          "; every one needs values, or an integer a default "
                                          "value in its declaration");
}

/// An element of an input for messages: `"x"[5]`, or of an array `"x"[5, 1]`.
std::string place_text(const NamedInput& input, std::size_t i, std::size_t count) {
  std::string text = "\"" + std::string(input.name) + "\"[" + std::to_string(i / count);
  if (count > 1) text += ", " + std::to_string(i % count);
  return text + "]";
}

/// Element i of an array with `count` elements for each item.
template <typename Number>
Number number_at(const ConstArray& array, std::size_t i, std::size_t count) {
  const ConstArray column = element_of(array, i % count, count);
  return load<Number>(column.data, column.stride, i / count);
}

/// Throws Error (Input) for the first value of an array that is not finite; it has `count` elements
/// for each item.
template <typename Number>
void refuse_not_finite(const NamedInput& input, const Items& items, std::size_t count) {
  for (std::size_t k = 0; k < items.n * count; ++k) {
    const std::size_t i = items.position(k, count);
    const auto value = number_at<Number>(input.array, i, count);
    if (std::isfinite(value)) continue;
    throw Error(ErrorCategory::Input, place_text(input, i, count) + " is " +
                                          (std::isnan(value) ? "not a number" : "infinite") +
                                          "; all values must be finite");
  }
}

/// Range of integers of 36 bits; the chip would saturate others and only raise a flag.
constexpr auto min_short = -static_cast<std::int64_t>(ShortIntegerTest::offset);
constexpr std::int64_t max_short = -(min_short + 1);

bool fits_short(std::int64_t value) noexcept { return value >= min_short && value <= max_short; }

/// Throws Error (Input) for the first integer of an array that exceeds 36 bits.
void refuse_long_integers(const NamedInput& input, const Items& items, std::size_t count) {
  for (std::size_t k = 0; k < items.n * count; ++k) {
    const std::size_t i = items.position(k, count);
    if (const auto value = number_at<std::int64_t>(input.array, i, count); !fits_short(value))
      throw Error(ErrorCategory::Input,
                  place_text(input, i, count) + " is " + std::to_string(value) +
                      ", but its variable has 36 bits, for " + std::to_string(min_short) + " to " +
                      std::to_string(max_short));
  }
}

/// The copy of an input array to link records.
Column column_of(const ConstArray& a, const LinkField& field) {
  // Columns that are packed into records are only read.
  Column c{static_cast<char*>(const_cast<void*>(a.data)), a.stride, field.half_word};
  if (field.half_words == 4) {
    c.width = 2;
  } else if (field.half_words == 1) {
    c.move = Move::Floats;
  } else if (a.type == HostNumber::F32) {
    c.move = Move::FloatsToDoubles;
  } else if (a.type == HostNumber::F64) {
    c.move = Move::Doubles;
  } else if (a.type == HostNumber::I32) {
    c.move = Move::IntegersToLong;
  } else if (field.short_integer) {
    c.move = Move::ShortIntegers;
  }
  return c;
}

/// The copy of link records to a result array.
Column column_of(const MutableArray& a, const LinkField& field) {
  Column c{static_cast<char*>(a.data), a.stride, field.half_word};
  const bool to_float = a.type == HostNumber::F32;
  if (field.half_words == 4) {
    c.width = 2;
  } else if (field.half_words == 1) {
    c.move = to_float ? Move::Floats : Move::FloatsToDoubles;
  } else if (to_float) {
    c.move = Move::DoublesToFloats;
  } else if (a.type == HostNumber::I32) {
    c.move = Move::LongToIntegers;
  }
  return c;
}

/// Records of a task, and words of those that are processed column by column at a time, so that
/// they and the elements that they are made of stay in the first cache.
constexpr std::size_t records_a_task = 256, words_at_once = 1024;

/// Calls work(first, count) for groups of records, in parallel if there are many.
template <typename Work>
void for_groups(std::size_t n, std::size_t values, unsigned threads, Work work) {
  constexpr double ns_a_value = 3;  // memory to memory
  const Phase phase{(n + records_a_task - 1) / records_a_task, [&](std::size_t part) {
                      const std::size_t first = part * records_a_task;
                      work(first, std::min(records_a_task, n - first));
                    }};
  const auto ns = static_cast<double>(n) * static_cast<double>(values) * ns_a_value;
  run_phases({&phase, 1}, threads_for_input(ns, threads));
}

/// What messages call a variable, by its kind: in the words of all languages of kernels.
constexpr std::array<std::string_view, 5> role_words{"target variable", "source variable", "result",
                                                     "param", "output"};

}  // namespace

LinkGroup link_group(const Program& program, VarKind kind) {
  const LinkLayout layout = link_layout(program);
  const std::vector<LinkLayout::Field>* const fields[] = {
      &layout.targets, &layout.sources, &layout.results, &layout.params, &layout.outputs};
  const std::uint32_t words[] = {layout.target_words, layout.source_words, layout.result_words, 0,
                                 layout.output_words};
  LinkGroup group;
  group.role = role_words[static_cast<std::size_t>(kind)];
  group.words = words[static_cast<unsigned>(kind)];
  for (const LinkLayout::Field& f : *fields[static_cast<unsigned>(kind)]) {
    const Variable& v = program.variables[f.variable];
    const auto host = static_cast<HostNumber>(v.conversion.host);
    group.fields.push_back({v.name, host, f.half_word, f.half_words,
                            host == HostNumber::I64 && v.location.width == Width::Short,
                            v.default_value});
  }
  // The fields of a group are in the order of declaration, like the elements of an array.
  for (const VariableArray& array : program.arrays) {
    if (program.variables[array.first].kind != kind) continue;
    const auto first =
        std::ranges::find(group.fields, program.variables[array.first].name, &LinkField::name);
    group.arrays.push_back(
        {array.name, static_cast<std::size_t>(first - group.fields.begin()), array.count()});
  }
  return group;
}

namespace {

std::span<const LinkField> find_fields(const LinkGroup& group, std::string_view name) noexcept {
  const bool whole = name.ends_with("[]");
  if (whole) name.remove_suffix(2);
  const auto field = std::ranges::find(group.fields, name, &LinkField::name);
  if (!whole && field != group.fields.end()) return {&*field, 1};
  const auto array = std::ranges::find(group.arrays, name, &LinkArray::name);
  if (array == group.arrays.end()) return {};
  return std::span(group.fields).subspan(array->first, array->count);
}

}  // namespace

std::span<const LinkField> fields_named(const LinkGroup& group, std::string_view name) {
  const std::span<const LinkField> found = find_fields(group, name);
  if (!found.empty()) return found;
  if (name.ends_with("[]") && !find_fields(group, name.substr(0, name.size() - 2)).empty())
    refuse(group, name.substr(0, name.size() - 2), "is a single value: give its name without []");
  std::vector<std::string_view> known;
  for (const LinkArray& array : group.arrays) known.push_back(array.name);
  for (const LinkField& field : group.fields) known.push_back(field.name);
  throw Error(ErrorCategory::Usage, unknown_name(group.role, name, known));
}

bool has_fields(const LinkGroup& group, std::string_view name) noexcept {
  return !find_fields(group, name).empty();
}

void check_count(std::size_t n, std::uint32_t words, const char* what) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 1024;
  // A negative number of the caller.
  if (n > std::numeric_limits<std::size_t>::max() / 2)
    throw Error(ErrorCategory::Usage, "the number of " + std::string(what) + " is " +
                                          std::to_string(static_cast<std::ptrdiff_t>(n)) +
                                          "; it must not be negative");
  if (n > most / std::max(1U, words))
    throw Error(ErrorCategory::Usage,
                std::to_string(n) + " " + what + " are more than any memory holds");
}

void check_inputs(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
                  bool all) {
  std::vector<bool> given(group.fields.size(), false);
  for (const NamedInput& input : arrays) {
    const std::span<const LinkField> fields = fields_named(group, input.name);
    for (const LinkField& field : fields) {
      if (given[index_of(group, field)]) refuse(group, field.name, "is given twice");
      given[index_of(group, field)] = true;
      if (!input_fits(field, input.array.type)) wrong_type(group, field, input.array.type);
    }
    check_extent(group, input, n, fields.size());
  }
  if (all) refuse_missing(group, given);
}

namespace {

using Element = InputPacker::Element;

/// The elements of all inputs by their position in the record, so that adjacent columns are merged;
/// with `all` also variables that have their default value.
std::vector<Element> elements_of(const LinkGroup& group, std::span<const NamedInput> arrays,
                                 bool all) {
  std::vector<Element> elements;
  std::vector<bool> given(group.fields.size(), false);
  for (std::size_t input = 0; input < arrays.size(); ++input) {
    const std::span<const LinkField> fields = fields_named(group, arrays[input].name);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      elements.push_back({input, k, fields.size(), &fields[k]});
      given[index_of(group, fields[k])] = true;
    }
  }
  for (const LinkField& field : group.fields)
    if (all && field.default_value && !given[index_of(group, field)])
      elements.push_back({arrays.size(), 0, 1, &field});
  std::ranges::sort(elements, {}, [](const Element& e) { return e.field->half_word; });
  return elements;
}

void make_columns(const std::vector<Element>& elements, std::span<const NamedInput> arrays,
                  std::vector<Column>& columns) {
  columns.clear();
  for (const Element& e : elements) {
    // One value for all items is an array with a stride of 0.
    const ConstArray array = e.input < arrays.size()
                                 ? element_of(arrays[e.input].array, e.number, e.count)
                                 : ConstArray(&*e.field->default_value, 0);
    add_column(columns, column_of(array, *e.field));
  }
}

/// Throws Error (Input) for the first value that an input must not have.
void refuse_values(const LinkGroup& group, const Items& items, std::span<const NamedInput> arrays) {
  for (const NamedInput& input : arrays) {
    const std::span<const LinkField> fields = fields_named(group, input.name);
    if (fields.front().short_integer && input.array.type == HostNumber::I64)
      refuse_long_integers(input, items, fields.size());
    if (input.array.type == HostNumber::F64) refuse_not_finite<double>(input, items, fields.size());
    if (input.array.type == HostNumber::F32) refuse_not_finite<float>(input, items, fields.size());
  }
}

}  // namespace

namespace {

/// Packs consecutive items begin .. begin + n - 1 of `items`. False if a value must not be there.
bool pack_some(const LinkGroup& group, const std::vector<Column>& columns, const Items& items,
               std::size_t begin, std::size_t n, std::uint64_t* words, const FillArrays& fill) {
  const std::size_t halves = std::size_t{group.words} * 2;
  const std::size_t at_once =
      std::max<std::size_t>(8, words_at_once / std::max(1U, group.words) / 8 * 8);
  bool good = true;
  for (std::size_t done = begin; done < begin + n; done += at_once) {
    const std::size_t count = std::min(at_once, begin + n - done);
    if (fill) fill(items.first + done, count);
    auto* const to = reinterpret_cast<std::uint32_t*>(words) + done * halves;
    good &= items.index == nullptr ? pack_records(columns, items.first + done, count, to, halves)
                                   : gather_records(columns, items.index + done, count, to, halves);
  }
  return good;
}

void pack_columns(const LinkGroup& group, const std::vector<Column>& columns, const Items& items,
                  std::span<const NamedInput> arrays, std::uint64_t* words, unsigned threads,
                  const FillArrays& fill = {}) {
  std::atomic<bool> good = true;
  for_groups(items.n, group.fields.size(), threads, [&](std::size_t begin, std::size_t n) {
    if (!pack_some(group, columns, items, begin, n, words, fill)) good = false;
  });
  if (!good) refuse_values(group, items, arrays);
}

}  // namespace

void pack(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays, bool all,
          LinkWords& words, unsigned threads) {
  std::vector<Column> columns;
  make_columns(elements_of(group, arrays, all), arrays, columns);
  words.resize(n * group.words);
  pack_columns(group, columns, {n}, arrays, words.data(), threads);
}

bool InputPacker::is_known(std::span<const NamedInput> arrays) const noexcept {
  if (elements_.empty() || arrays.size() != names_.size()) return false;
  for (std::size_t k = 0; k < arrays.size(); ++k)
    if (arrays[k].array.type != types_[k] || !is_same(arrays[k].name, names_[k])) return false;
  return true;
}

void InputPacker::check(std::size_t n, std::span<const NamedInput> arrays) {
  if (is_known(arrays)) {
    for (std::size_t k = 0; k < arrays.size(); ++k) check_extent(*group_, arrays[k], n, counts_[k]);
    return;
  }
  names_.clear();
  types_.clear();
  counts_.clear();
  elements_.clear();  // nothing is known if the arrays are refused
  check_inputs(*group_, n, arrays, true);
  elements_ = elements_of(*group_, arrays, true);
  for (const NamedInput& input : arrays) {
    names_.emplace_back(input.name);
    types_.push_back(input.array.type);
    counts_.push_back(fields_named(*group_, input.name).size());
  }
}

void InputPacker::pack(const Items& items, std::span<const NamedInput> arrays,
                       std::uint64_t* records, unsigned threads, const FillArrays& fill) {
  begin(arrays);
  pack_columns(*group_, columns_, items, arrays, records, threads, fill);
}

void InputPacker::begin(std::span<const NamedInput> arrays) {
  make_columns(elements_, arrays, columns_);
}

void InputPacker::pack_range(std::size_t first, std::size_t n, std::span<const NamedInput> arrays,
                             std::uint64_t* records, const FillArrays& fill) const {
  const Items items{n, first};
  if (!pack_some(*group_, columns_, items, 0, n, records + first * group_->words, fill))
    refuse_values(*group_, items, arrays);
}

namespace {

/// The host bits of the value of a param.
std::uint64_t bits_of_param(const LinkField& field, double value) {
  if (!std::isfinite(value))
    throw Error(ErrorCategory::Input, "param \"" + field.name + "\" must be finite");
  if (field.type == HostNumber::F64) return std::bit_cast<std::uint64_t>(value);
  if (field.type == HostNumber::F32) {
    const auto narrow = static_cast<float>(value);
    if (!std::isfinite(narrow))
      throw Error(ErrorCategory::Input,
                  fmt::format("param \"{}\" is float32 and cannot hold {}", field.name, value));
    return std::bit_cast<std::uint32_t>(narrow);
  }
  if (value != std::nearbyint(value) || std::abs(value) > 0x1p63 || value == 0x1p63)
    throw Error(ErrorCategory::Input,
                "param \"" + field.name + "\" takes a whole number of 64 bits");
  if (field.short_integer && !fits_short(static_cast<std::int64_t>(value)))
    throw Error(ErrorCategory::Input, "param \"" + field.name + "\" has 36 bits and cannot hold " +
                                          std::to_string(static_cast<std::int64_t>(value)));
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

}  // namespace

std::size_t set_params(const LinkGroup& params, std::string_view name,
                       std::span<const double> values, std::span<std::uint64_t> words) {
  const std::span<const LinkField> fields = fields_named(params, name);
  if (values.size() != fields.size())
    refuse(params, name,
           fields.size() == 1 ? "is a single value"
                              : "takes " + std::to_string(fields.size()) + " values, not " +
                                    std::to_string(values.size()));
  for (std::size_t k = 0; k < fields.size(); ++k) bits_of_param(fields[k], values[k]);
  const std::size_t first = index_of(params, fields.front());
  for (std::size_t k = 0; k < fields.size(); ++k)
    words[2 * (first + k)] = bits_of_param(fields[k], values[k]);
  return first;
}

void bind_results(const LinkGroup& group, std::size_t n, std::span<const NamedResult> results,
                  std::vector<ResultBinding>& bindings) {
  refuse_twice(group, results);
  bindings.clear();
  for (const NamedResult& result : results) {
    const std::span<const LinkField> fields = fields_named(group, result.name);
    check_extent(group, result, n, fields.size());
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (!result_fits(fields[k], result.array.type))
        wrong_type(group, fields[k], result.array.type);
      bindings.push_back({fields[k], element_of(result.array, k, fields.size())});
    }
  }
}

// An element of an array of variables has another name than its result.
bool rebind_results(const LinkGroup& group, std::size_t n, std::span<const NamedResult> results,
                    std::vector<ResultBinding>& bindings) {
  if (results.size() != bindings.size()) return false;
  for (std::size_t k = 0; k < results.size(); ++k)
    if (results[k].array.type != bindings[k].array.type ||
        !is_same(results[k].name, bindings[k].field.name))
      return false;
  for (std::size_t k = 0; k < results.size(); ++k) {
    check_extent(group, results[k], n, 1);
    bindings[k].array = element_of(results[k].array, 0, 1);
  }
  return true;
}

void begin_results_at(std::size_t first, std::vector<ResultBinding>& bindings) {
  if (first == 0) return;
  for (ResultBinding& b : bindings)
    b.array.data =
        static_cast<char*>(b.array.data) + static_cast<std::ptrdiff_t>(first) * b.array.stride;
}

namespace {

/// Throws Error (Input) for a result that an array of 32-bit integers cannot hold.
[[noreturn]] void refuse_long_result(const LinkGroup& group,
                                     std::span<const ResultBinding> bindings) {
  for (const ResultBinding& b : bindings)
    if (b.array.type == HostNumber::I32)
      throw Error(ErrorCategory::Input, std::string(group.role) + " \"" + b.field.name +
                                            "\" has a value that an integer of 32 bits cannot "
                                            "hold; give an array of 64-bit integers");
  throw Error(ErrorCategory::Input, "a result does not fit its array");
}

}  // namespace

void unpack(const LinkGroup& group, std::span<const ResultBinding> bindings, std::size_t first,
            std::size_t n, const std::uint64_t* words, unsigned threads) {
  const std::size_t halves = std::size_t{group.words} * 2;
  std::vector<Column> columns;
  columns.reserve(bindings.size());
  for (const ResultBinding& b : bindings) add_column(columns, column_of(b.array, b.field));
  std::atomic<bool> good = true;
  for_groups(n, bindings.size(), threads, [&](std::size_t done, std::size_t count) {
    const auto* const records = reinterpret_cast<const std::uint32_t*>(words);
    if (!unpack_records(columns, first + done, count, records + done * halves, halves))
      good = false;
  });
  if (!good) refuse_long_result(group, bindings);
}

}  // namespace gdr
