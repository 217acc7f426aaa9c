// Lists in the text of a kernel: their declarations and appends.
#pragma once

#include <cstddef>
#include <string>

#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

/// A kernel's lists as OpenCL C. A thread has a counter of each of its lists in a register, and its
/// entries in a buffer in which the words of adjacent threads are adjacent: [list][address -
/// first][thread]. Counters, addresses and entries are those of jit::ListRows; what it holds
/// besides rows, the stride and the range, is read from the work item. All functions return nothing
/// for kernels without lists.
class ListText {
 public:
  explicit ListText(const CodeContext& context)
      : c_(context), lists_(context.kernel.layout.lists) {}

  /// The function that appends.
  std::string function() const;
  /// Arguments of the kernel: counters, entries, and the rows of a list.
  std::string arguments() const;
  /// Loads and stores the counters.
  std::string begin() const;
  std::string end() const;
  /// Appends a word, a value of the kernel's `bits`, where a mask holds.
  std::string append(std::uint32_t list, const std::string& mask, const std::string& word) const;

 private:
  const CodeContext& c_;
  const std::uint32_t lists_;
};

}  // namespace gdr::native
