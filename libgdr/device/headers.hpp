// Generated C and C++ headers of kernels (`gdr header`), and text fragments common to both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/kernel.hpp"

namespace gdr {

/// The text of a header for this kernel: structures of its sources, targets and results, and
/// functions that initialise, send, run and get. It contains the kernel's object and requires only
/// <gdr.h> and libgdr. All names start with `prefix`, by default the kernel's name. Throws Error
/// (Usage) for a prefix that is not a C identifier.
std::string c_header(const Kernel& kernel, std::string_view prefix = {});

/// The text of a header for this kernel: in namespace gdr::kernels::NAME the structures Source,
/// Target, Parameters, Result and Output, a class Job and a function compute over them. NAME is
/// `name`, or where that is empty the kernel's. The header opens the kernel of the library called
/// `builtin`; where that is empty it holds the kernel's object. Throws Error (Usage) for a name
/// that cannot be a namespace's.
std::string cpp_header(const Kernel& kernel, std::string_view name = {},
                       std::string_view builtin = {});

/// Whether a text is a keyword of C or C++.
bool is_c_word(std::string_view text);
/// Whether a text consists of letters, digits and _, without a leading digit.
bool is_c_identifier(std::string_view text);
/// Name of the structure member for a variable or array; keywords get a trailing _.
std::string member_name(std::string_view name);

/// A member of a structure: a variable, or an array of them.
struct Member {
  std::string name;
  const KernelVariable* first = nullptr;  ///< the variable, or the first element
  std::vector<std::size_t> sizes = {};    ///< sizes of an array

  /// Number of variables.
  std::size_t count() const noexcept;
  /// The declared name of element k.
  const std::string& variable(std::size_t k) const noexcept { return first[k].name; }
  /// The indices of element k: `[1][2]`; empty for a variable.
  std::string index_text(std::size_t k) const;
  /// `[2][3]`; empty for a variable.
  std::string sizes_text() const;
};
/// The members for the variables of a role, in the order of declaration. The entries of a list are
/// single members, since its name is that of their number.
std::vector<Member> members_of(const Kernel& kernel, Role role);
/// Bytes as the elements of an array, in lines.
std::string bytes_text(std::span<const std::uint8_t> bytes);

}  // namespace gdr
