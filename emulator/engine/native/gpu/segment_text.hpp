// Segments in the text of a kernel.
#pragma once

#include <vector>

#include "emulator/engine/native/gpu/list_text.hpp"
#include "emulator/engine/native/gpu/text_lines.hpp"
#include "emulator/engine/native/gpu/value_text.hpp"

namespace gdr::native {

/// Writes the values of a segment, then its stores. A block of its own, whose variables end with
/// it.
class SegmentText {
 public:
  SegmentText(const CodeContext& context, const ListText& lists, TextLines& text)
      : c_(context), values_(context), lists_(lists), text_(text) {}

  void write(const Segment& segment);

 private:
  void load_pairs(const Graph& g, const std::vector<bool>& needed);
  void write_value(const Graph& g, std::uint32_t n);
  void write_store(const Graph& g, const Store& store);

  const CodeContext& c_;
  ValueText values_;
  const ListText& lists_;
  TextLines& text_;
};

}  // namespace gdr::native
