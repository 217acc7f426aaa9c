// Declarations of variables.
#include <algorithm>
#include <limits>
#include <optional>

#include "emulator/assembler/front/parser.hpp"

namespace gdr::assembly {
namespace {

bool in_pe(const Operand& x) noexcept { return in_pe_memory(x.space); }
template <Space space>
bool is_scalar_in(const Operand& x) noexcept {
  return x.space == space && !x.vector;
}

constexpr VariableKind kinds[] = {
    {"ivar", VarKind::Target, false, Space::Local, true, in_pe,
     "a vector of registers or of the local memory"},
    {"jvar", VarKind::Source, false, Space::BmSource, false, is_scalar_in<Space::BmSource>,
     "a location in the item, like $ls0"},
    {"fvar", VarKind::Result, true, Space::Local, true, in_pe,
     "a vector of registers or of the local memory"},
    {"param", VarKind::Param, false, Space::Bm, false,
     [](const Operand& x) noexcept { return (in_pe(x) || x.space == Space::Bm) && !x.vector; },
     "a fixed word of the broadcast memory, or a scalar register or local memory word"},
    {"ovar", VarKind::Output, true, Space::BmOutput, false, is_scalar_in<Space::BmOutput>,
     "a location in the output item, like $lo0"},
    {"tmp",
     {},
     false,
     Space::Local,
     true,
     [](const Operand& x) noexcept { return in_pe(x) || x.space == Space::T; },
     "a register, a word of the local memory or T"},
    {"bm",
     {},
     false,
     Space::Bm,
     false,
     is_scalar_in<Space::Bm>,
     "a fixed word of the broadcast memory, like $lb0"},
};

/// A declared name. In quotes it may be a reserved word.
struct NewName {
  Span word;
  bool quoted = false;
};

struct Declaration {
  const VariableKind* kind = nullptr;
  Width width = Width::Long;
  std::vector<NewName> names;
  Conversion conversion;
  Span conversion_span;
  std::optional<Reduce> reduce;
  Span key;  ///< reduction Index: the name of the key
  std::optional<Operand> location;
  std::optional<std::uint64_t> pad;
  bool copied = false;  ///< `pad copy`
  Span quantity;        ///< name behind `as`
  bool squared = false;
  std::optional<std::int64_t> default_value;
};

/// Letters, digits, `_` and points: the syntax of conversions.
Span dotted_word(Cursor& c) noexcept {
  const char* begin = c.p;
  while (is_word(*c.p) || (*c.p == '.' && c.p < c.end)) ++c.p;
  return {begin, c.p};
}

/// A reduction by its name, except `index`, which is not a reserved word.
std::optional<Reduce> find_reduce(std::string_view text) noexcept {
  const auto* const found = std::ranges::find(reduce_names, text);
  const auto reduce = static_cast<Reduce>(found - reduce_names.begin());
  if (found == reduce_names.end() || reduce == Reduce::Index) return std::nullopt;
  return reduce;
}

bool parse_width(Assembly& a, Cursor& c, Declaration& d) {
  c.skip();
  Cursor ahead = c;
  const Span word = ahead.word();
  if (word.text() != "long" && word.text() != "short") {
    Suggestion suggestion(word.text());
    for (const std::string_view w : {"long", "short"}) suggestion.consider(w);
    a.report.error(Code::WidthExpected, c.rest_of_word(),
                   "`long` or `short` is expected after " + in_quotes(d.kind->name), {},
                   suggestion.help());
    // A misspelt width is skipped, so that the names after it are declared.
    if (!suggestion.best().empty()) c = ahead;
    return word.begin != word.end;
  }
  c = ahead;
  d.width = word.text() == "long" ? Width::Long : Width::Short;
  return true;
}

/// Names up to the conversion (for kinds without one, up to the end or `at`).
bool parse_names(Assembly& a, Cursor& c, Declaration& d) {
  for (c.skip(); !c.done(); c.skip()) {
    Cursor ahead = c;
    const bool quoted = c.peek() == '"';
    const Span word = quoted ? ahead.name() : dotted_word(ahead);
    if (word.begin == word.end) {
      return a.report.error(Code::NameExpected, c.rest_of_word(), "a name is expected here");
    }
    if (quoted && !is_digit(*word.begin)) {
      d.names.push_back({word, true});
      c = ahead;
      continue;
    }
    if (word.text() == "at" || word.text() == "pad" || find_reduce(word.text())) break;
    if (const auto conversion = find_conversion(word.text())) {
      if (!d.kind->interface) {
        return a.report.error(Code::ReductionMisplaced, word,
                              in_quotes(d.kind->name) + " has no conversion",
                              "it is not transferred between host and chip");
      }
      d.conversion = *conversion;
      d.conversion_span = word;
      c = ahead;
      break;
    }
    if (word.text().find('.') != std::string_view::npos || is_digit(*word.begin)) {
      return a.report.error(Code::NameExpected, word,
                            in_quotes(word.text()) + " is not a name or conversion");
    }
    d.names.push_back({word, false});
    c = ahead;
  }
  return !d.names.empty() ||
         a.report.error(Code::NameExpected, c.rest_of_word(), "a name is expected here");
}

/// Without a conversion the last "name" may be a misspelt one.
void missing_conversion(Assembly& a, Cursor& c, Declaration& d) {
  const Span last = d.names.back().word;
  Suggestion suggestion(last.text());
  for (const ConversionName& n : conversion_table()) suggestion.consider(n.name);
  if (!suggestion.best().empty()) {
    a.report.error(Code::ConversionExpected, last, "unknown conversion " + in_quotes(last.text()),
                   {}, suggestion.help());
    d.names.pop_back();
    return;
  }
  a.report.error(Code::ConversionExpected, c.rest_of_word(),
                 in_quotes(d.kind->name) + " needs a conversion", {},
                 "for example f64to72 or f64to36");
}

bool parse_pad(Assembly& a, Cursor& c, Declaration& d) {
  c.skip();
  const char* begin = c.p;
  Value value;
  Cursor ahead = c;
  d.copied = ahead.word().text() == "copy";
  if (d.copied)
    c = ahead;
  else if (!parse_primary(a, c, value))
    return false;
  const Span span{begin, c.p};
  if (d.kind->interface != VarKind::Source) {
    return a.report.error(Code::BadPad, span, "only a jvar can have a pad", {},
                          "it is the value in items that complete a group");
  }
  d.pad.reset();
  if (d.copied) return true;
  a.layout.pad_given = true;
  const HostType host = d.conversion.host;
  const bool real = host == HostType::F64 || host == HostType::F32;
  if (real && value.hex_digits != 16) {
    const Rounded r = round_binary(value.as_binary(), host == HostType::F64 ? 52 : 23,
                                   host == HostType::F64 ? 11 : 8);
    d.pad = static_cast<std::uint64_t>(r.bits);
    if (r.error == RoundError::None) return true;
  } else if (!value.real && value.integer >= -(i128{1} << 63) && value.integer < (i128{1} << 64)) {
    d.pad = static_cast<std::uint64_t>(value.integer);
    return true;
  }
  return a.report.error(Code::BadPad, span, "the pad is not a value of the host type",
                        "the conversion is " + std::string(conversion_name(d.conversion)));
}

bool parse_at(Assembly& a, Cursor& c, Declaration& d) {
  c.skip();
  const char* begin = c.p;
  Location location;
  if (c.peek() != '$' && !starts_name(c.peek())) {
    return a.report.error(Code::InvalidLocation, c.rest_of_word(),
                          "a location is expected after `at`");
  }
  if (!parse_location(a, c, location)) return false;
  const Operand& x = location.operand;
  const bool needs_vector =
      d.kind->interface && d.kind->vector && !x.vector && a.program.elements > 1;
  const bool allowed = d.kind->allows(x) && x.width == d.width;
  if (!allowed || location.item != 0 || needs_vector) {
    return a.report.error(
        Code::InvalidLocation, {begin, c.p},
        in_quotes(d.kind->name + std::string(d.width == Width::Long ? " long" : " short")) +
            " cannot have this location",
        allowed ? "this is a scalar; a vector is required" : "this is " + describe(x),
        std::string("use ") + d.kind->locations);
  }
  d.location = x;
  return true;
}

/// `NAME` or `NAME^2`, behind `as`.
bool parse_quantity(Assembly& a, Cursor& c, Span word, Declaration& d) {
  if (!d.kind->interface || !is_input(*d.kind->interface))
    return a.report.error(Code::BadQuantity, word, in_quotes(d.kind->name) + " has no quantity", {},
                          "only an ivar, jvar or param is filled by the host");
  c.skip();
  d.quantity = c.word();
  if (d.quantity.begin == d.quantity.end || is_digit(*d.quantity.begin))
    return a.report.error(Code::BadQuantity, c.rest_of_word(),
                          "the name of a quantity is expected after `as`");
  if (!c.accept('^')) return true;
  const char* begin = c.p;
  d.squared = c.word().text() == "2";
  return d.squared || a.report.error(Code::BadQuantity, {begin, c.p},
                                     "a variable holds a quantity or its square", {},
                                     "write `as NAME` or `as NAME^2`");
}

/// An integer, behind `default`.
bool parse_default(Assembly& a, Cursor& c, Span word, Declaration& d) {
  const bool item = d.kind->interface == VarKind::Target || d.kind->interface == VarKind::Source;
  if (!item || d.conversion.host != HostType::I64)
    return a.report.error(Code::BadQuantity, word, "it cannot have a default value", {},
                          "only an ivar or jvar with the conversion i64int can");
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t short_limit = std::int64_t{1} << (Short::bit_count - 1);
  const bool is_short = d.width == Width::Short;
  d.default_value = parse_integer(a, c, is_short ? -short_limit : Limits::min(),
                                  is_short ? short_limit - 1 : Limits::max(), "the default value",
                                  Code::BadQuantity, parse_primary);
  return d.default_value.has_value();
}

/// `index KEY`, behind `index`.
bool parse_index(Assembly& a, Cursor& c, Span word, Declaration& d) {
  if (d.kind->interface != VarKind::Result) {
    return a.report.error(Code::ReductionMisplaced, word,
                          in_quotes(d.kind->name) + " cannot be the index of a key",
                          "only an fvar can be one");
  }
  c.skip();
  d.reduce = Reduce::Index;
  d.key = c.name();
  return d.key.begin != d.key.end ||
         a.report.error(Code::NameExpected, c.rest_of_word(),
                        "the name of the key is expected after `index`");
}

bool parse_tail(Assembly& a, Cursor& c, Declaration& d) {
  for (c.skip(); !c.done(); c.skip()) {
    Cursor ahead = c;
    const Span word = ahead.word();
    if (word.text() == "at" || word.text() == "pad") {
      c = ahead;
      if (!(word.text() == "at" ? parse_at(a, c, d) : parse_pad(a, c, d))) return false;
    } else if (const auto reduce = find_reduce(word.text()); reduce && !d.reduce) {
      c = ahead;
      if (!d.kind->reduced) {
        return a.report.error(Code::ReductionMisplaced, word,
                              in_quotes(d.kind->name) + " has no reduction",
                              "only results have a reduction");
      }
      d.reduce = reduce;
    } else if (word.text() == "as" && d.quantity.begin == nullptr) {
      c = ahead;
      if (!parse_quantity(a, c, word, d)) return false;
    } else if (word.text() == "default" && !d.default_value) {
      c = ahead;
      if (!parse_default(a, c, word, d)) return false;
    } else if (word.text() == "index" && !d.reduce) {
      c = ahead;
      if (!parse_index(a, c, word, d)) return false;
    } else {
      const Span rest = c.rest_of_word();
      Suggestion suggestion(word.text());
      for (const std::string_view name : reduce_names) suggestion.consider(name);
      for (const std::string_view w : {"at", "pad", "as", "default"}) suggestion.consider(w);
      return a.report.error(Code::TrailingText, rest,
                            in_quotes(rest.text()) + " is not expected here", {},
                            suggestion.help());
    }
  }
  return true;
}

void check_declaration(Assembly& a, Span word, Declaration& d) {
  if (d.kind->reduced && !d.reduce) {
    a.report.error(Code::ReductionMissing, word, in_quotes(d.kind->name) + " needs a reduction",
                   "the reduction over the blocks",
                   "one of fadd fmax fmin iadd imax imin iand ior ixor pass, or index KEY");
  }
  if (d.kind->interface && d.conversion.machine == MachineFormat::FloatLong &&
      d.width == Width::Short) {
    a.report.error(Code::ConversionTooWide, d.conversion_span,
                   "this conversion gives a long, but the variable is short", {},
                   d.conversion.host == HostType::F32 ? "use f32to36, or declare it long"
                                                      : "use f64to36, or declare it long");
  }
}

/// First free range of shorts in local memory, or nothing.
std::optional<std::uint32_t> allocate_local(Assembly& a, std::uint32_t shorts,
                                            std::uint32_t align) {
  Layout& l = a.layout;
  const auto size = static_cast<std::uint32_t>(l.local_taken.size());
  std::uint32_t at = (l.local_next + align - 1) / align * align;
  while (at + shorts <= size) {
    std::uint32_t run = 0;
    while (run < shorts && !l.local_taken[at + run]) ++run;
    if (run == shorts) {
      l.local_next = at + shorts;
      return at;
    }
    at = (at + run + 1 + align - 1) / align * align;
  }
  return std::nullopt;
}

/// Size of a variable in shorts.
std::uint32_t size_of(const Assembly& a, const Operand& x) noexcept {
  return shorts_in(x.width) * (x.vector ? a.program.elements : 1);
}

bool memory_full(Assembly& a, Span name, Space space, std::uint32_t need, std::uint32_t have) {
  const std::string memory(memory_of(space, a.options.geometry).name);
  return a.report.error(
      memory_code(space), name,
      "the " + memory + " is full: no space for " + in_quotes(name.text()),
      "needs " + std::to_string(need) + " shorts, available: " + std::to_string(have));
}

bool check_memory(Assembly& a, Span name, const Operand& x) {
  if (a.unchecked || !has_address(x.space)) return true;
  const std::uint32_t need = x.address + size_of(a, x);
  const std::uint32_t have = memory_of(x.space, a.options.geometry).shorts;
  return need <= have || memory_full(a, name, x.space, need, have);
}

/// Mark the location of a variable as used; warn if it overlaps an automatic one.
void reserve(Assembly& a, const Declaration& d, Span name, const Operand& x) {
  Layout& l = a.layout;
  const std::uint32_t end = x.address + size_of(a, x);
  if (in_broadcast_memory(x.space)) {
    BroadcastPart& part = l.part(x.space);
    part.need = std::max(part.need, end);
    if (x.width == Width::Long && x.space != Space::Bm) part.holds_long = true;
  }
  if (x.space != Space::Local) return;
  if (d.location && d.kind->interface) {
    for (const Assembly::AutomaticAllocation& p : a.automatic) {
      if (p.first >= end || p.last < x.address) continue;
      a.report.warning(
          Code::OverlappingLocation, name,
          in_quotes(name.text()) + " overlaps in local memory with " + in_quotes(p.name->name), {},
          "declare explicit locations first: automatic ones avoid them");
      a.report.note(p.name->declared, "automatic location");
      break;
    }
  }
  const auto last = std::min<std::size_t>(
      end, l.local_taken.size());  // unchecked addresses may exceed the memory
  for (std::size_t i = x.address; i < last; ++i) l.local_taken[i] = true;
}

/// Determine the location of the next variable of a declaration. False after an error.
bool allocate_variable(Assembly& a, Declaration& d, Span name, std::uint32_t index, Operand& x) {
  if (d.location) {
    x = *d.location;
    if (x.space == Space::T && index > 0) {
      return a.report.error(Code::InvalidLocation, name, "T can hold one variable only");
    }
    const std::uint32_t address = x.address + index * size_of(a, x);
    if (address > max_field) return memory_full(a, name, x.space, address, 65536);
    x.address = static_cast<std::uint16_t>(address);
    return check_memory(a, name, x);
  }
  x.space = d.kind->default_space;
  x.width = d.width;
  x.vector = d.kind->vector;
  const std::uint32_t unit = shorts_in(d.width);
  std::uint32_t address = 0;
  if (x.space == Space::Local) {
    const std::uint32_t shorts = size_of(a, x);
    const auto free = allocate_local(a, shorts, unit);
    if (!free) {
      const auto size = static_cast<std::uint32_t>(a.layout.local_taken.size());
      return memory_full(a, name, x.space, a.layout.local_next + shorts, size);
    }
    address = *free;
  } else {
    address = (a.layout.part(x.space).need + unit - 1) / unit * unit;
    if (address > max_field) return memory_full(a, name, x.space, address, 65536);
  }
  x.address = static_cast<std::uint16_t>(address);
  return check_memory(a, name, x);
}

void declare_one(Assembly& a, Declaration& d, const NewName& given, std::uint32_t index) {
  Operand x;
  const Span word = given.word;
  const bool placed = allocate_variable(a, d, word, index, x);
  if (!check_new_name(a, word, given.quoted)) return;
  Name& name = add_name(a, word, NameKind::Location);
  name.location = {x, static_cast<std::uint16_t>(x.vector ? a.program.elements : 0), 0};
  if (!placed) {  // declared anyway, so that its uses raise no further errors
    x.address = 0;
    name.location.operand = x;
    return;
  }
  reserve(a, d, word, x);
  if (x.space == Space::Local && !d.location) {
    a.automatic.push_back({x.address, x.address + size_of(a, x) - 1, &name});
  }
  if (d.kind->interface) {
    if (d.reduce == Reduce::Index)
      a.keys.push_back({static_cast<std::uint32_t>(a.program.variables.size()),
                        std::string(d.key.text()), a.report.span_of(d.key)});
    Variable& v = a.program.variables.emplace_back(
        Variable{name.name, *d.kind->interface, x, d.conversion, d.reduce.value_or(Reduce::Pass),
                 d.pad.value_or(0), d.copied});
    v.quantity = d.quantity.text();
    v.squared = d.squared;
    v.default_value = d.default_value;
  } else {
    a.program.symbols.push_back({name.name, x});
  }
}

}  // namespace

std::span<const VariableKind> variable_kinds() noexcept { return kinds; }

void parse_declaration(Assembly& a, Cursor& c, const VariableKind& kind) {
  Declaration d;
  d.kind = &kind;
  const Span word{c.p - std::string_view(kind.name).size(), c.p};
  if (!parse_width(a, c, d) || !parse_names(a, c, d)) return;
  const bool conversion_missing = d.kind->interface && d.conversion_span.begin == nullptr;
  if (conversion_missing) missing_conversion(a, c, d);
  // Names are declared even after errors, so that their uses raise no further errors.
  const bool tail = conversion_missing || parse_tail(a, c, d);
  if (tail && !conversion_missing) check_declaration(a, word, d);
  if (d.kind->vector) a.layout.elements_used = true;
  std::uint32_t index = 0;
  for (const NewName& name : d.names) declare_one(a, d, name, index++);
}

}  // namespace gdr::assembly
