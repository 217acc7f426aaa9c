// Values in the text of a kernel: words of memory, constants and leaves.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

/// Names and places of values as OpenCL C. Carried values are variables `c0` and so on, totals
/// `total0`, and nodes of a segment `v0`.
class ValueText {
 public:
  explicit ValueText(const CodeContext& context)
      : c_(context), floats_(context.target.precision == Precision::Float) {}

  bool floats() const noexcept { return floats_; }
  std::uint32_t lanes() const noexcept { return c_.target.lanes(); }
  /// A number of bytes in words.
  std::uint32_t word(std::uint32_t bytes) const noexcept { return bytes / c_.target.lane_bytes(); }
  std::uint32_t group_words() const noexcept { return word(c_.group_bytes()); }

  /// The kind of a carried value: that of the store that makes it.
  Kind carried_kind(std::uint32_t number) const;
  static const char* type_name(Kind kind);
  /// A word of memory as a value, and the reverse.
  static std::string loaded(Kind kind, const std::string& from);
  static std::string stored(Kind kind, const std::string& value);
  /// A value as another kind: a number's bits and its value are one word.
  static std::string as_kind(const std::string& value, Kind from, Kind to);

  std::string place(Location l) const;
  /// An Input, Source, Uniform or Constant.
  std::string leaf(const Node& node) const;
  static std::string operand(const Graph& g, Ref r);

  /// Whether source words are loaded in pairs: all groups begin with one.
  bool in_pairs() const noexcept { return group_words() % 2 == 0; }
  /// The position of a source word in the group of this iteration; negative in groups before it.
  std::int32_t source_word(const Node& node) const;
  static std::string pair_name(std::int32_t pair);

 private:
  std::string constant(const Node& node) const;

  const CodeContext& c_;
  bool floats_;
};

}  // namespace gdr::native
