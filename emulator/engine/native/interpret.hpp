// The portable interpreter of a kernel: the same segments, value by value, in plain loops over
// lanes.
#pragma once

#include "emulator/engine/native/code.hpp"

namespace gdr::native {

/// A kernel prepared for the interpreter: word indices and slots instead of keys.
class InterpretedKernel {
 public:
  /// The word tables are complete: groups of source words are consecutive.
  InterpretedKernel(const KernelCode& code, Target target, const WordTable& source_words,
                    const WordTable& uniform_words);

  /// As a KernelFunction, for one work item.
  void run(std::byte* item, const std::byte* source, const std::byte* uniforms,
           std::uint64_t passes) const;

 private:
  /// One operation and its operands.
  struct Step {
    Node node;
    std::array<std::uint32_t, 3> in{};  ///< numbers of values
    std::array<bool, 3> inverted{};
    std::uint32_t to = 0;
    std::int32_t offset = 0;  ///< leaves: bytes from their base
    bool carried = false;     ///< input out of the set that is read
  };
  struct Stored {
    Store::Area area;
    std::int32_t offset;
    std::uint32_t value;
    bool inverted;
  };
  struct Piece {
    std::vector<Step> steps;
    std::vector<Stored> stores;
    std::size_t values = 0;
  };
  struct Bases {
    std::byte *item, *carried, *next;
    const std::byte *source, *uniforms;
  };

  Piece prepare(const Segment& segment, const KernelCode& code);
  template <typename Lane, typename Word>
  void run_lanes(const Piece& piece, const Bases& bases) const;
  void run_piece(const Piece& piece, const Bases& bases) const;

  Target target_;
  ItemLayout layout_;
  const WordTable& source_words_;
  const WordTable& uniform_words_;
  std::uint32_t word_bytes_, group_bytes_;
  bool loops_;
  Piece once_, first_, loop_, last_;
};

}  // namespace gdr::native
