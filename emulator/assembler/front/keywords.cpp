#include "emulator/assembler/front/keywords.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "emulator/assembler/front/names.hpp"
#include "emulator/numeric/convert.hpp"

namespace gdr::assembly {
namespace {

struct NamedDirective {
  std::string_view text;
  Directive directive;
};
constexpr NamedDirective directives[] = {
    {".kernel", Directive::Kernel},
    {".flops", Directive::Flops},
    {".elements", Directive::Elements},
    {".group", Directive::Group},
    {".init", Directive::Init},
    {".start", Directive::Start},
    {".body", Directive::Body},
    {".end", Directive::End},
    {"vlen", Directive::Vlen},
    {"alias", Directive::Alias},
    {"const", Directive::Const},
    {".include", Directive::Include},
    {".repeat", Directive::Repeat},
    {".endrepeat", Directive::EndRepeat},
    {".template", Directive::Template},
    {".endtemplate", Directive::EndTemplate},
    {".item", Directive::Item},
    {".output", Directive::Output},
    {".fixed", Directive::Fixed},
    {".symbol", Directive::Symbol},
    {".file", Directive::File},
    {".line", Directive::Line},
    {".unchecked", Directive::Unchecked},
};
struct NamedDeclaration {
  std::string_view text;
  DeclarationKind kind;
};
constexpr NamedDeclaration declarations[] = {
    {"ivar", DeclarationKind::Ivar}, {"jvar", DeclarationKind::Jvar},
    {"fvar", DeclarationKind::Fvar}, {"param", DeclarationKind::Param},
    {"ovar", DeclarationKind::Ovar}, {"tmp", DeclarationKind::Tmp},
    {"bm", DeclarationKind::Bm},
};

/// Other words with a meaning in declarations.
constexpr std::string_view more_reserved[] = {"at", "pad", "long", "short", "pass"};

/// All keywords, with a hash table.
struct Table {
  static constexpr std::size_t slot_count = 256;
  std::vector<Keyword> all;
  std::array<std::uint8_t, slot_count> slots{};  ///< index plus one; 0: free

  Table() {
    for (const OpInfo& op : instruction_table()) {
      const KeywordKind kind = op.op == Op::None ? KeywordKind::Nop : KeywordKind::Operation;
      all.push_back({op.mnemonic, kind, &op, Directive::Kernel, DeclarationKind::Ivar});
    }
    for (const NamedDirective& d : directives) {
      all.push_back({d.text, KeywordKind::Directive, nullptr, d.directive, DeclarationKind::Ivar});
    }
    for (const NamedDeclaration& d : declarations) {
      all.push_back({d.text, KeywordKind::Declaration, nullptr, Directive::Kernel, d.kind});
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t slot = hash_of(all[i].text) % slot_count;
      while (slots[slot] != 0) slot = (slot + 1) % slot_count;
      slots[slot] = static_cast<std::uint8_t>(i + 1);
    }
  }
};

const Table& table() noexcept {
  static const Table made;
  return made;
}

}  // namespace

const Keyword* find_keyword(std::string_view text) noexcept {
  const Table& t = table();
  for (std::size_t slot = hash_of(text) % Table::slot_count; t.slots[slot] != 0;
       slot = (slot + 1) % Table::slot_count) {
    const Keyword& keyword = t.all[t.slots[slot] - 1U];
    if (keyword.text == text) return &keyword;
  }
  return nullptr;
}

bool is_reserved(std::string_view word) noexcept {
  return find_keyword(word) != nullptr || find_conversion(word).has_value() ||
         std::ranges::find(more_reserved, word) != std::end(more_reserved);
}

std::span<const Keyword> keywords() noexcept { return table().all; }

}  // namespace gdr::assembly
