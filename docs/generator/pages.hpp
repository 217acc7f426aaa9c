// The generated pages of docs/reference, each made from the table that the product itself uses.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gdr::docs {

/// instruction-set.md: a section for each operation, then the encoding. Assembles the example of
/// every row of the instruction table; throws Error (Internal) where one does not assemble.
std::string instruction_set_page();

/// The part of instruction-set.md about the fields of an instruction word and of an operand.
std::string encoding_section();

/// device-options.md: kinds of devices and the options that a device name may hold.
std::string device_options_page();

/// A page that can be generated.
struct Page {
  std::string_view name;  ///< file name in docs/reference, without the ending .md
  std::string (*text)();
};
std::span<const Page> pages() noexcept;

}  // namespace gdr::docs
