#include "emulator/engine/native/code.hpp"

#include <algorithm>

namespace gdr::native {

std::uint32_t WordTable::number(LeafKey key) const {
  key.delay = 0;
  return static_cast<std::uint32_t>(std::find(words.begin(), words.end(), key) - words.begin());
}

void WordTable::add(LeafKey key) {
  key.delay = 0;
  if (number(key) == words.size()) words.push_back(key);
}

}  // namespace gdr::native
