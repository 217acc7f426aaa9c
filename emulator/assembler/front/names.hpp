// Symbol table of a source: locations, constants and templates share one namespace.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/front/text.hpp"
#include "emulator/assembler/front/value.hpp"
#include "emulator/isa/operand.hpp"

namespace gdr::assembly {

/// A location of a name or operand.
struct Location {
  Operand operand;
  std::uint16_t elements = 0;  ///< declared number of elements for NAME[K]; 0: unlimited
  std::uint16_t item = 0;  ///< K of NAME@K: item of the group, added once the item size is known
};

enum class NameKind : std::uint8_t { None, Location, Constant, Template };

struct Name {
  std::string name;
  NameKind kind = NameKind::None;  ///< None: out of scope
  Location location;
  Value value;
  std::uint32_t template_index = 0;
  SourceSpan declared;
};

/// Hash of a name.
inline std::uint32_t hash_of(std::string_view text) noexcept {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash ^ (hash >> 15);
}

/// Hash table with open addressing and linear probing; references to names stay valid.
class NameTable {
 public:
  NameTable() : slots_(256) {}

  /// Null if the name is not declared or out of scope.
  Name* find(std::string_view text) noexcept {
    Name* name = entry(text, hash_of(text));
    return name != nullptr && name->kind != NameKind::None ? name : nullptr;
  }
  /// The entry of an unused name.
  Name& add(std::string_view text) {
    const std::uint32_t hash = hash_of(text);
    if (Name* old = entry(text, hash)) return *old;
    names_.push_back(Name{std::string(text), NameKind::None, {}, {}, 0, {}});
    if (names_.size() * 2 > slots_.size()) grow();
    insert(hash, static_cast<std::uint32_t>(names_.size()));
    return names_.back();
  }
  const std::deque<Name>& all() const noexcept { return names_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t index = 0;  ///< index in names_ plus one; 0: free
  };
  Name* entry(std::string_view text, std::uint32_t hash) noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask; slots_[i].index != 0; i = (i + 1) & mask) {
      if (slots_[i].hash == hash && names_[slots_[i].index - 1].name == text) {
        return &names_[slots_[i].index - 1];
      }
    }
    return nullptr;
  }
  void insert(std::uint32_t hash, std::uint32_t index) noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    while (slots_[i].index != 0) i = (i + 1) & mask;
    slots_[i] = {hash, index};
  }
  void grow() {
    const std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.size() * 2, Slot{});
    for (const Slot& slot : old) {
      if (slot.index != 0) insert(slot.hash, slot.index);
    }
  }

  std::deque<Name> names_;
  std::vector<Slot> slots_;
};

}  // namespace gdr::assembly
