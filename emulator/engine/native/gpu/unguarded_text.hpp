// The choice of the loop without rare conditions, in the text of a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emulator/engine/native/gpu/text_lines.hpp"
#include "emulator/engine/native/gpu/value_text.hpp"

namespace gdr::native {

/// Conditions of UnguardedLoop, of a thread and of windows of groups (SourceWindows).
class UnguardedText {
 public:
  /// `compared`: source words whose ranges are known.
  UnguardedText(const CodeContext& context, std::span<const LeafKey> compared)
      : c_(context), values_(context), compared_(compared) {}

  /// Whether the loop exists, and can be chosen by the ranges of source words.
  bool usable() const;
  /// Declares what does not depend on the iteration: `is_free`, for positive slots and uniform
  /// words, and the words that are compared.
  void begin(TextLines& text) const;
  /// Whether no source of a window has a word equal to the thread's.
  std::string condition(const std::string& window) const;

 private:
  const CodeContext& c_;
  ValueText values_;
  std::span<const LeafKey> compared_;
};

}  // namespace gdr::native
