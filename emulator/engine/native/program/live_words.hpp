// Words that others than compiled sections read.
#pragma once

#include "emulator/engine/native/translate/liveness.hpp"

namespace gdr::native {

/// Words that the host reads: the declared results, or the whole state if there are none.
LiveOut words_read_by_host(const Program& program, const CellMap& map);

/// Marks everything that a section on the exact engine may read.
void mark_words_read(const Program& program, Section exact, const Geometry& geometry,
                     const CellMap& map, LiveOut& live);

}  // namespace gdr::native
