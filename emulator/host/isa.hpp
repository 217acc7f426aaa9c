// Instruction sets of the host that engines and conversions choose from at run time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gdr {

/// Host instruction sets that an engine may use.
enum class Isa : std::uint8_t { Portable, Avx2, Avx512, Neon };
/// All of them; Portable is the first.
inline constexpr std::array all_isas{Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Neon};

/// Names for options: "portable", "avx2", "avx512", "neon".
std::string_view isa_name(Isa isa) noexcept;
std::optional<Isa> find_isa(std::string_view name) noexcept;
/// Instruction sets this host can run, the default first.
std::vector<Isa> host_isas();
/// Whether square roots of AVX-512, and with AVX2 their reciprocals, too, should be those of the
/// instructions: on AMD's processors, where they run beside products and sums, and take less time
/// than steps after an estimate (measured on Zen 5). Intel's take some 30 clocks a vector of
/// AVX-512 and 17 of AVX2 (Skylake-X, tables of Agner Fog). The environment variable
/// GDR_SQUARE_ROOT, "instruction" or "steps", decides instead.
bool prefers_square_root_instruction();

}  // namespace gdr
