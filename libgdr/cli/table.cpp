// Reading and writing tables of numbers.
#include "libgdr/cli/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/dump.hpp"

namespace gdr::cli {
namespace {

constexpr std::string_view blanks = " \t\r\f\v,;";

/// Position of a value, for messages.
struct Position {
  const std::string& file;
  std::size_t line, column;
};

[[noreturn]] void refuse(const Position& place, const std::string& message) {
  throw Error(ErrorCategory::Input,
              fmt::format("{}:{}:{}: {}", place.file, place.line, place.column, message));
}

std::string_view without_plus(std::string_view text) {
  return text.starts_with('+') ? text.substr(1) : text;
}

std::uint64_t parse_float(const Column& column, std::string_view text, const Position& place) {
  const auto value = parse_all<double>(without_plus(text));
  if (!value) refuse(place, fmt::format("'{}' is not a number (column '{}')", text, column.name));
  if (!std::isfinite(*value))
    refuse(place, fmt::format("'{}' is {} must be finite", column.name,
                              std::isnan(*value) ? "not a number; it" : "infinite; it"));
  if (column.type == HostNumber::F64) return std::bit_cast<std::uint64_t>(*value);
  const auto narrow = static_cast<float>(*value);
  if (!std::isfinite(narrow))
    refuse(place, fmt::format("'{}' is too large for the 32-bit float '{}'", text, column.name));
  return std::bit_cast<std::uint32_t>(narrow);
}

std::uint64_t parse_integer(const Column& column, std::string_view text, const Position& place) {
  if (text.starts_with("0x"))
    if (const auto bits = parse_all<std::uint64_t>(without_plus(text.substr(2)), 16)) return *bits;
  const auto value = parse_all<std::int64_t>(without_plus(text));
  if (!value)
    refuse(place, fmt::format("'{}' is not a 64-bit integer (column '{}')", text, column.name));
  return static_cast<std::uint64_t>(*value);
}

u128 parse_raw(const Column& column, std::string_view text, const Position& place) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const std::size_t digits = column.width == Width::Long ? 18 : 9;
  const std::size_t cut = digits - 9;  // hex digits above the low short
  const auto high =
      cut == 0 ? 0 : parse_all<std::uint64_t>(text.substr(0, std::min(cut, text.size())), 16);
  const auto low = parse_all<std::uint64_t>(text.substr(std::min(cut, text.size())), 16);
  if (text.size() != digits || !high || !low)
    refuse(place,
           fmt::format("'{}': the raw word '{}' needs {} hex digits", text, column.name, digits));
  return (u128{*high} << 36) | *low;
}

void append(Column& column, std::string_view text, const Position& place) {
  u128 bits = 0;
  if (column.type == HostNumber::Raw)
    bits = parse_raw(column, text, place);
  else
    bits = column.type == HostNumber::I64 ? parse_integer(column, text, place)
                                          : parse_float(column, text, place);
  column.words.push_back(static_cast<std::uint64_t>(bits));
  column.words.push_back(static_cast<std::uint64_t>(bits >> 64));
}

void read_row(std::string_view line, const std::string& file, std::size_t number,
              std::vector<Column>& columns) {
  std::size_t filled = 0, at = line.find_first_not_of(blanks);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    const Position place{file, number, at + 1};
    if (filled == columns.size())
      refuse(place, fmt::format("more than {} values in a line; the kernel declares no more",
                                columns.size()));
    append(columns[filled++], line.substr(at, end - at), place);
    at = line.find_first_not_of(blanks, end);
  }
  if (filled != 0 && filled != columns.size())
    refuse({file, number, line.size() + 1},
           fmt::format("{} values in a line, {} expected; '{}' is missing", filled, columns.size(),
                       columns[filled].name));
}

}  // namespace

std::vector<Column> columns_of(const Program& program, VarKind kind) {
  std::vector<Column> columns;
  for (const Variable& v : program.variables)
    if (v.kind == kind)
      columns.push_back({v.name, static_cast<HostNumber>(v.conversion.host), v.location.width, {}});
  return columns;
}

std::size_t row_count(const std::vector<Column>& columns) noexcept {
  return columns.empty() ? 0 : columns.front().size();
}

void read_table(std::string_view text, const std::string& file, std::vector<Column>& columns) {
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    read_row(line.substr(0, line.find('#')), file, ++number, columns);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string value_text(const Column& column, std::size_t row) {
  const std::uint64_t low = column.words[2 * row], high = column.words[2 * row + 1];
  switch (column.type) {
    case HostNumber::F64:
      return fmt::format("{:.16e}", std::bit_cast<double>(low));
    case HostNumber::F32:
      return fmt::format("{:.16e}", std::bit_cast<float>(static_cast<std::uint32_t>(low)));
    case HostNumber::I64:
      return fmt::format("{}", static_cast<std::int64_t>(low));
    case HostNumber::I32:  // of arrays only
    case HostNumber::Raw:
      break;
  }
  return word_text((u128{high} << 64) | low, column.width, DumpFormat::Hex, 0);
}

std::string write_table(const std::vector<Column>& columns) {
  std::string text = "#";
  for (const Column& column : columns) text += " " + column.name;
  text += '\n';
  for (std::size_t row = 0; row < row_count(columns); ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c != 0) text += ' ';
      text += value_text(columns[c], row);
    }
    text += '\n';
  }
  return text;
}

}  // namespace gdr::cli
