// What the host fills a kernel's variables with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/isa/program.hpp"

namespace gdr {

/// The part of a Variable that tells the host its values.
struct InputQuantity {
  std::string name;                                ///< "pos", "mass", "id", ...; empty if unknown
  unsigned component = 0;                          ///< number of the component, 0 to 2 of a vector
  bool squared = false;                            ///< whether values are squares of the quantity
  std::optional<std::int64_t> default_value = {};  ///< value of items without an array
};

/// One for each variable of the program, as it declares them. For a program that declares neither a
/// quantity nor a default value they follow from the names; nothing else gives a name a meaning:
///
/// | ivar, jvar | quantity |
/// |---|---|
/// | xi yi zi, xj yj zj | pos |
/// | vxi vyi vzi, vxj vyj vzj | vel |
/// | axi ayi azi, axj ayj azj | acc |
/// | mi, mj | mass |
/// | idi, idj, if integers | id, with the default values -1 and -2 |
/// | sloti, slotj, if integers | index |
///
/// The param eps2 is the square of eps. A name without its last i or j has the same quantity, but
/// no default value.
std::vector<InputQuantity> quantities_of(const Program& program);

}  // namespace gdr
