// Instruction sets of the host that engines and conversions choose from at run time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gdr {

/// Host instruction sets that an engine may use.
enum class Isa : std::uint8_t { Portable, Avx2, Avx512 };

/// Names for options: "portable", "avx2", "avx512".
std::string_view isa_name(Isa isa) noexcept;
std::optional<Isa> find_isa(std::string_view name) noexcept;
/// Instruction sets this host can run, best first; Portable is always the last.
std::vector<Isa> host_isas();

}  // namespace gdr
