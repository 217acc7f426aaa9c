// Conversion of records of j-items to the lanes that the loop's code reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/words/group_conversion.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// Word by word where each is a simple function of one word of a record, else through machine
/// words.
class SourceConversion {
 public:
  /// The arguments outlive this object.
  SourceConversion(const CompiledSection& body, const LoadedProgram& loaded);

  /// Converts the records of whole groups. False if lanes cannot represent a word (an integer
  /// beyond the range of floats).
  bool convert(const std::uint64_t* from, std::uint64_t groups, std::byte* to) const {
    return simple_ ? convert_simply(from, groups, to) : convert_any(from, groups, to);
  }

 private:
  bool convert_simply(const std::uint64_t* from, std::uint64_t groups, std::byte* to) const;
  bool convert_any(const std::uint64_t* from, std::uint64_t groups, std::byte* to) const;

  const CompiledSection& body_;
  const LoadedProgram& loaded_;
  /// Null if some word has no WordConversion.
  std::unique_ptr<GroupConversion> simple_;
};

}  // namespace gdr::native
