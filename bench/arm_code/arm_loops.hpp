// Loops as AArch64's assembly: of the engines, and of the native loops by a cross compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::bench {

/// An iteration of a loop, without the branch at its end.
struct ArmLoop {
  std::vector<std::string> instructions;
  double interactions = 1;
  std::size_t spills = 0;  ///< loads and stores of spilled registers

  bool empty() const noexcept { return instructions.empty(); }
};

/// LLVM's llvm-mc and llvm-mca of version 16 or later, and GCC for AArch64.
class ArmTools {
 public:
  /// Searches for them in PATH.
  ArmTools();
  /// What is missing; empty: nothing.
  const std::string& missing() const noexcept { return missing_; }

  /// Instructions as text.
  std::vector<std::string> disassembled(std::span<const std::uint32_t> words) const;
  /// The time of an iteration, among many, on a processor (LLVM's -mcpu).
  double cycles(const ArmLoop& loop, std::string_view processor) const;
  /// The assembly of a C++ file, for includes relative to a folder.
  std::string compiled(const std::string& file, const std::string& include_folder) const;

 private:
  std::string assembler_, analyser_, compiler_, missing_;
};

/// The innermost loop with the most multiplications of every function of a pair_loop with these
/// parts of its name, as GCC writes it. The interactions are those of its vectors of targets.
std::vector<ArmLoop> native_arm_loops(const std::string& assembly, std::string_view vector_type,
                                      std::string_view law);

}  // namespace gdr::bench
