// Machines as JSON files: what they say, and what is wrong with one.
#pragma once

#include <string>
#include <string_view>

#include "libgdr/predict/machine.hpp"

namespace gdr::predict {

/// The machine that a text describes. It names a `base`, one of the presets, and what differs from
/// it, by groups as in the names of the keys:
///
///     { "name": "faster link", "base": "board4",
///       "link": { "write": { "value": 5e9, "unit": "bytes/s", "origin": "assumed",
///                            "source": "eight lanes of PCI Express 2" } } }
///
/// A number alone is a value without a source; it counts as assumed. `// ...` is a comment. Throws
/// Error (Input): `FILE:LINE:COLUMN` for what is no JSON or stands there twice, `FILE: key.path`
/// for everything else.
Machine parse_machine(std::string_view text, const std::string& file);

/// A preset by name, or the machine in a file: a name with a dot or a slash is one.
Machine find_machine(const std::string& name);

/// All values with units, origins and sources, as parse_machine reads them.
std::string machine_json(const Machine& machine);

}  // namespace gdr::predict
