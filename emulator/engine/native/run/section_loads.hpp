// Words of the state, of sources and of tables to the lanes of a section.
#pragma once

#include "emulator/engine/native/run/section_frame.hpp"

namespace gdr::native {

/// Invariant words and tables, and the sources unless they are a stream of the code's lanes. False
/// if floats cannot represent one.
bool load_words(SectionFrame& f);
/// Words of the state, or constants of the section before. False if floats cannot represent one.
bool load_state(SectionFrame& f);
/// Clears lanes behind the active ones: their stale values must not raise flags.
void clear_padding(const SectionFrame& f);

/// Words of groups of items, `step` shorts apart, to lanes one group behind the other. False if
/// lanes cannot represent one.
bool convert_groups(const std::vector<LeafKey>& words, Precision precision,
                    const std::uint64_t* shorts, std::size_t groups, std::uint32_t step,
                    std::byte* to) noexcept;

}  // namespace gdr::native
