// Moving values between strided arrays and link words. A link word is 64 bits; fields stand in it
// in units of 32, lower half first.
#include "libgdr/device/arrays.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "gdr/error.hpp"
#include "libgdr/device/finite.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {
namespace {

static_assert(std::endian::native == std::endian::little,
              "fields are addressed in 32-bit halves, lower half first");

constexpr std::string_view role_names[] = {"ivar", "jvar", "fvar", "param", "ovar"};
constexpr std::string_view type_names[] = {"float64", "float32", "int64", "raw"};

std::string_view type_name(HostNumber type) { return type_names[static_cast<unsigned>(type)]; }

template <typename T>
T load(const void* base, std::ptrdiff_t stride, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + static_cast<std::ptrdiff_t>(index) * stride,
              sizeof value);
  return value;
}

template <typename T>
void store(void* base, std::ptrdiff_t stride, std::size_t index, T value) {
  std::memcpy(static_cast<char*>(base) + static_cast<std::ptrdiff_t>(index) * stride, &value,
              sizeof value);
}

/// What a float32 variable would do to a double is the user's to decide, and an integer is no
/// float; everything that keeps the value is allowed.
bool input_fits(const LinkField& field, HostNumber given) {
  if (field.type == given) return true;
  if (field.type == HostNumber::F64) return given == HostNumber::F32;
  return field.type == HostNumber::Raw && field.half_words == 2 && given == HostNumber::I64;
}

/// A result may go to a narrower float array: the user declared that array.
bool result_fits(const LinkField& field, HostNumber wanted) {
  const auto is_float = [](HostNumber t) { return t == HostNumber::F64 || t == HostNumber::F32; };
  if (is_float(field.type) && is_float(wanted)) return true;
  return input_fits(field, wanted);
}

const LinkField& find_field(const LinkGroup& group, std::string_view name) {
  for (const LinkField& field : group.fields)
    if (field.name == name) return field;
  std::vector<std::string_view> known;
  for (const LinkField& field : group.fields) known.push_back(field.name);
  throw Error(ErrorCategory::Usage, unknown_name(group.role, name, known));
}

[[noreturn]] void wrong_type(const LinkGroup& group, const LinkField& field, HostNumber given) {
  throw Error(ErrorCategory::Usage,
              std::string(group.role) + " \"" + field.name + "\" is " +
                  std::string(type_name(field.type)) + ", the array given for it is " +
                  std::string(type_name(given)) + "; give an array of the declared type");
}

void check_pointer(const LinkGroup& group, std::string_view name, const void* data, std::size_t n) {
  if (data == nullptr && n > 0)
    throw Error(ErrorCategory::Usage, "the array of " + std::string(group.role) + " \"" +
                                          std::string(name) + "\" is a null pointer");
}

template <typename Named>
void refuse_twice(const LinkGroup& group, std::span<const Named> arrays) {
  for (std::size_t k = 1; k < arrays.size(); ++k)
    for (std::size_t m = 0; m < k; ++m)
      if (arrays[k].name == arrays[m].name)
        throw Error(ErrorCategory::Usage, std::string(group.role) + " \"" +
                                              std::string(arrays[k].name) + "\" is given twice");
}

void refuse_missing(const LinkGroup& group, std::span<const NamedInput> arrays) {
  std::string missing;
  for (const LinkField& field : group.fields) {
    bool found = false;
    for (const NamedInput& a : arrays) found = found || a.name == field.name;
    if (!found) missing += (missing.empty() ? "\"" : ", \"") + field.name + "\"";
  }
  if (!missing.empty())
    throw Error(ErrorCategory::Usage, "no array is given for " + std::string(group.role) + " " +
                                          missing + "; every one needs values");
}

/// The loop has no early exit, so that it runs at the speed of the memory; the culprit is looked
/// for only when there is one.
template <typename Number>
void check_finite(const NamedInput& input, std::size_t n) {
  using Test = FiniteTest<Number>;
  const auto bits = [&](std::size_t i) {
    return load<typename Test::Bits>(input.array.data, input.array.stride, i);
  };
  Test test;
  for (std::size_t i = 0; i < n; ++i) test.add(bits(i));
  if (test.all_finite()) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (Test::is_finite(bits(i))) continue;
    const auto value = load<Number>(input.array.data, input.array.stride, i);
    throw Error(ErrorCategory::Input, "\"" + std::string(input.name) + "\"[" + std::to_string(i) +
                                          "] is " +
                                          (std::isnan(value) ? "not a number" : "infinite") +
                                          "; all values must be finite");
  }
}

/// Values of elements first .. first + n - 1, one in each group.
template <typename From, typename To>
void pack_column(const ConstArray& a, std::size_t first, std::size_t n, std::size_t group_halves,
                 std::uint32_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const To value = static_cast<To>(load<From>(a.data, a.stride, first + i));
    std::memcpy(out + i * group_halves, &value, sizeof value);
  }
}

template <typename From, typename To>
void unpack_column(const MutableArray& a, std::size_t first, std::size_t n,
                   std::size_t group_halves, const std::uint32_t* in) {
  for (std::size_t i = 0; i < n; ++i) {
    From value;
    std::memcpy(&value, in + i * group_halves, sizeof value);
    store(a.data, a.stride, first + i, static_cast<To>(value));
  }
}

/// Groups that are filled or emptied column by column before the next: they stay in the cache.
constexpr std::size_t groups_at_once = 256;

/// Calls work(first, count) for so many groups at a time.
template <typename Work>
void for_groups(std::size_t n, Work work) {
  for (std::size_t first = 0; first < n; first += groups_at_once)
    work(first, std::min(groups_at_once, n - first));
}

struct TwoWords {
  std::uint64_t low, high;
};

}  // namespace

LinkGroup link_group(const Program& program, VarKind kind) {
  const LinkLayout layout = link_layout(program);
  const std::vector<LinkLayout::Field>* const fields[] = {
      &layout.targets, &layout.sources, &layout.results, &layout.params, &layout.outputs};
  const std::uint32_t words[] = {layout.target_words, layout.source_words, layout.result_words, 0,
                                 layout.output_words};
  LinkGroup group;
  group.role = role_names[static_cast<unsigned>(kind)];
  group.words = words[static_cast<unsigned>(kind)];
  for (const LinkLayout::Field& f : *fields[static_cast<unsigned>(kind)]) {
    const Variable& v = program.variables[f.variable];
    group.fields.push_back(
        {v.name, static_cast<HostNumber>(v.conversion.host), f.half_word, f.half_words});
  }
  return group;
}

void check_inputs(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
                  bool all) {
  refuse_twice(group, arrays);
  for (const NamedInput& input : arrays) {
    const LinkField& field = find_field(group, input.name);
    if (!input_fits(field, input.array.type)) wrong_type(group, field, input.array.type);
    check_pointer(group, input.name, input.array.data, n);
  }
  if (all) refuse_missing(group, arrays);
  for (const NamedInput& input : arrays) {
    if (input.array.type == HostNumber::F64) check_finite<double>(input, n);
    if (input.array.type == HostNumber::F32) check_finite<float>(input, n);
  }
}

void pack(const LinkGroup& group, std::size_t n, std::span<const NamedInput> arrays,
          std::uint64_t* words) {
  const std::size_t halves = std::size_t{group.words} * 2;
  std::vector<const LinkField*> fields;
  for (const NamedInput& input : arrays) fields.push_back(&find_field(group, input.name));
  for_groups(n, [&](std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const ConstArray& array = arrays[k].array;
      std::uint32_t* const out =
          reinterpret_cast<std::uint32_t*>(words) + first * halves + fields[k]->half_word;
      if (fields[k]->half_words == 4)
        pack_column<TwoWords, TwoWords>(array, first, count, halves, out);
      else if (fields[k]->half_words == 1)
        pack_column<float, float>(array, first, count, halves, out);
      else if (array.type == HostNumber::F32)
        pack_column<float, double>(array, first, count, halves, out);
      else
        pack_column<std::uint64_t, std::uint64_t>(array, first, count, halves, out);
    }
  });
}

namespace {

/// Whether a name is that of an element of `base`: base_4, or base_1_0 where there are two indices.
bool element_of(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  if (name.empty()) return false;
  while (!name.empty()) {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789", 1), name.size());
    if (name[0] != '_' || digits < 2) return false;
    name.remove_prefix(digits);
  }
  return true;
}

/// `name[]`: all elements of an array or a list, side by side for each target. False for other
/// names.
bool bind_row(const LinkGroup& group, std::size_t n, const NamedResult& result,
              std::vector<ResultBinding>& bindings) {
  if (!result.name.ends_with("[]")) return false;
  const std::string_view base = result.name.substr(0, result.name.size() - 2);
  std::vector<const LinkField*> row;
  for (const LinkField& field : group.fields)
    if (element_of(field.name, base)) row.push_back(&field);
  if (row.empty()) {
    find_field(group, base);  // says what there is, if not even that
    throw Error(ErrorCategory::Usage, std::string(group.role) + " \"" + std::string(base) +
                                          "\" is a single value: give its name without []");
  }
  check_pointer(group, result.name, result.array.data, n);
  const std::ptrdiff_t step = result.array.stride;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (!result_fits(*row[k], result.array.type)) wrong_type(group, *row[k], result.array.type);
    MutableArray column = result.array;
    if (column.data != nullptr)
      column.data = static_cast<char*>(column.data) + static_cast<std::ptrdiff_t>(k) * step;
    column.stride = static_cast<std::ptrdiff_t>(row.size()) * step;
    bindings.push_back({*row[k], column});
  }
  return true;
}

}  // namespace

void bind_results(const LinkGroup& group, std::size_t n, std::span<const NamedResult> results,
                  std::vector<ResultBinding>& bindings) {
  refuse_twice(group, results);
  bindings.clear();
  for (const NamedResult& result : results) {
    if (bind_row(group, n, result, bindings)) continue;
    const LinkField& field = find_field(group, result.name);
    if (!result_fits(field, result.array.type)) wrong_type(group, field, result.array.type);
    check_pointer(group, result.name, result.array.data, n);
    bindings.push_back({field, result.array});
  }
}

void unpack(const LinkGroup& group, std::span<const ResultBinding> bindings, std::size_t first,
            std::size_t n, const std::uint64_t* words) {
  const std::size_t halves = std::size_t{group.words} * 2;
  for_groups(n, [&](std::size_t done, std::size_t count) {
    for (const ResultBinding& b : bindings) {
      const std::uint32_t* const in =
          reinterpret_cast<const std::uint32_t*>(words) + done * halves + b.field.half_word;
      const std::size_t to = first + done;
      const bool to_float = b.array.type == HostNumber::F32;
      if (b.field.half_words == 4)
        unpack_column<TwoWords, TwoWords>(b.array, to, count, halves, in);
      else if (b.field.half_words == 1)
        to_float ? unpack_column<float, float>(b.array, to, count, halves, in)
                 : unpack_column<float, double>(b.array, to, count, halves, in);
      else if (to_float)
        unpack_column<double, float>(b.array, to, count, halves, in);
      else
        unpack_column<std::uint64_t, std::uint64_t>(b.array, to, count, halves, in);
    }
  });
}

}  // namespace gdr
