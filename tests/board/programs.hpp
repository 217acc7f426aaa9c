// Small hand-written kernels and a test rig for boards.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "emulator/board/board.hpp"

namespace gdr::test {

inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
inline double real(std::uint64_t x) { return std::bit_cast<double>(x); }

/// A program from its assembly text, which must be right.
Program assembled(std::string_view text);

/// Each target's xi times each source's mj, summed up: `acc` += xi * mj, and `n` counts the
/// passes of the body as an integer. With `outputs` the block leaves mj * weight in an ovar, where
/// the param `weight` stands in the BM. `group` items are taken one after the other in the body.
struct PairOptions {
  unsigned elements = 4;
  unsigned group = 1;
  bool outputs = false;
  Reduce reduce = Reduce::Fadd;         ///< of acc
  Reduce output_reduce = Reduce::Fmax;  ///< of the ovar
  double pad = 0;
};
Program pair_program(const PairOptions& options = {});

/// The same sums by an independent oracle: sources first..first + count - 1, pads at the end.
Long pair_sum(double x, const std::vector<double>& masses, std::size_t first, std::size_t count,
              std::size_t pads = 0, double pad = 0);

Geometry small_geometry(unsigned chips = 1, unsigned blocks = 3, unsigned pes = 5,
                        unsigned bm_words = 32);

/// A board and the lists that it is given.
class Rig {
 public:
  explicit Rig(const Geometry& geometry, const char* engine = "reference", unsigned threads = 1,
               const char* isa = "");
  void load(const Program& program);
  Command& add(CommandKind kind, std::uint64_t chips = 1);
  Command& add(CommandKind kind, std::uint64_t chips, const std::vector<std::uint64_t>& payload);
  void write(std::uint64_t chips, std::uint64_t address, const std::vector<double>& values);
  void targets(std::uint64_t chips, ChipPartition partition, const std::vector<double>& values,
               std::uint64_t first = 0);
  void run(std::uint64_t chips, ChipPartition partition, std::uint64_t address, std::uint64_t count,
           std::uint32_t flags = run_start | run_end);
  void read(std::uint64_t chips, ChipPartition partition, std::uint64_t count,
            std::uint32_t flags = 0);
  /// Executes the list collected so far, and begins a new one.
  std::vector<std::uint64_t> execute();

  Board board;
  CommandList list;
};

}  // namespace gdr::test
