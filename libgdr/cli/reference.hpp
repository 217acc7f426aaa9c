// Generated pages of docs/: the instruction reference and the encoding, from the tables that the
// assembler and the engines use.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gdr::cli {

/// docs/isa.md: a section for every operation. Assembles every example of the instruction table;
/// throws Error (Internal) where one does not assemble.
std::string isa_page();

/// docs/encoding.md: the fields of an instruction word.
std::string encoding_page();

/// A page that can be generated.
struct ReferencePage {
  std::string_view name;  ///< its file is docs/NAME.md
  std::string (*text)();
};
std::span<const ReferencePage> reference_pages() noexcept;

}  // namespace gdr::cli
