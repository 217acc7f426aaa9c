// The parts of the list of diagnostics, one for each thousand or two of codes.
#pragma once

#include <span>

#include "emulator/assembler/diagnostic.hpp"
#include "emulator/assembler/diagnostics/codes.hpp"

namespace gdr::assembly {

constexpr std::uint16_t number(Code code) noexcept { return static_cast<std::uint16_t>(code); }

std::span<const DiagnosticInfo> text_diagnostics() noexcept;         ///< 1xxx
std::span<const DiagnosticInfo> declaration_diagnostics() noexcept;  ///< 2xxx
std::span<const DiagnosticInfo> instruction_diagnostics() noexcept;  ///< 3xxx
std::span<const DiagnosticInfo> program_diagnostics() noexcept;      ///< 4xxx and 5xxx

}  // namespace gdr::assembly
