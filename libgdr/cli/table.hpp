// Tables of numbers in text files, for `gdr run`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/program.hpp"
#include "gdr/device.hpp"

namespace gdr::cli {

/// The values of one variable. Every value takes two 64-bit words, the first of which begins with
/// the bits of a double, of a float or an integer; of a raw word both hold the bits, lower part
/// first.
struct Column {
  std::string name;
  HostNumber type = HostNumber::F64;
  Width width = Width::Long;  ///< width of the location, and of raw words
  std::vector<std::uint64_t> words;

  static constexpr std::ptrdiff_t stride = 2 * sizeof(std::uint64_t);
  std::size_t size() const noexcept { return words.size() / 2; }
};

/// Columns for the variables of one kind, in the order of declaration, without values.
std::vector<Column> columns_of(const Program& program, VarKind kind);

/// Number of rows (0 where there are no columns).
std::size_t row_count(const std::vector<Column>& columns) noexcept;

/// Read a text: one row a line, as many whitespace-separated values as there are columns, `#`
/// begins a comment, blank lines do not count. Floats are decimal, integers decimal or 0x...,
/// raw words 9 (short) or 18 (long) hex digits. Throws Error (Input) naming file, line and column.
void read_table(std::string_view text, const std::string& file, std::vector<Column>& columns);

/// Write a table: a comment with the names, then one row a line. Floats have 17 significant digits.
std::string write_table(const std::vector<Column>& columns);

/// One value as text.
std::string value_text(const Column& column, std::size_t row);

}  // namespace gdr::cli
