// The list of the kernel language's diagnostics, in parts of a thousand or two of codes.
#pragma once

#include <span>

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/diagnostics/codes.hpp"

namespace gdr::kc {

constexpr std::uint16_t number(Code code) noexcept { return static_cast<std::uint16_t>(code); }

std::span<const DiagnosticInfo> syntax_diagnostics() noexcept;    ///< 6xxx
std::span<const DiagnosticInfo> meaning_diagnostics() noexcept;   ///< 70xx
std::span<const DiagnosticInfo> unused_diagnostics() noexcept;    ///< 71xx, warnings
std::span<const DiagnosticInfo> capacity_diagnostics() noexcept;  ///< 8xxx

/// All of them, by their codes. The examples are kernels, in a file `example.gdk`.
std::span<const DiagnosticInfo> kernel_diagnostic_table() noexcept;

}  // namespace gdr::kc
