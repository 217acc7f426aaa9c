// Small hand-written kernels and a test rig for boards.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "emulator/board/board.hpp"
#include "support/assembled.hpp"

namespace gdr::test {

inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
inline double real(std::uint64_t x) { return std::bit_cast<double>(x); }

/// The sum over sources of xi * mj (`acc`), and the number of passes of the body as an integer
/// (`n`). With `outputs` the block writes mj * weight to an ovar; the param `weight` is in the
/// broadcast memory. The body processes `group` items in sequence.
struct PairOptions {
  unsigned elements = 4;
  unsigned group = 1;
  bool outputs = false;
  Reduce reduce = Reduce::Fadd;         ///< reduction of `acc`
  Reduce output_reduce = Reduce::Fmax;  ///< reduction of the ovar
  double pad = 0;
};
Program pair_program(const PairOptions& options = {});

/// The same sums by an independent oracle: sources first..first + count - 1, pads at the end.
Long pair_sum(double x, const std::vector<double>& masses, std::size_t first, std::size_t count,
              std::size_t pads = 0, double pad = 0);

Geometry small_geometry(unsigned chips = 1, unsigned blocks = 3, unsigned pes = 5,
                        unsigned bm_words = 32);

/// A board and a command list under construction.
class Rig {
 public:
  explicit Rig(const Geometry& geometry, const char* engine = "reference", unsigned threads = 1,
               const char* isa = "");
  Rig(const Geometry& geometry, std::shared_ptr<const Engine> engine);
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
  /// Executes the list and begins a new one.
  std::vector<std::uint64_t> execute();

  Board board;
  CommandList list;
};

}  // namespace gdr::test
