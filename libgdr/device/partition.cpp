// The cost of both partitions, in chip clocks.
//
// A batch of targets costs
//   loading:   one port clock per link word of its targets: of the chip's targets if i-parallel,
//              of all targets if j-parallel;
//   sections:  Start and End once;
//   the loop:  the larger of compute (body clocks per group of sources of a block) and port (one
//              clock per source word of the chip), as the halves of the broadcast memory are filled
//              while the PEs compute, and the first fill, which nothing overlaps with;
//   results:   two port clocks per result word of the batch; the network reduces over blocks, the
//              board over chips; keys with an index come from every block.
// The words on the host link are the same for both and do not affect the choice.
#include "libgdr/device/partition.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "emulator/host/divide_up.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr {
namespace {

/// Number of work units that balances the load of a large machine.
constexpr std::size_t max_pieces = 256;
/// Smallest number of sources of a slice per block of a board.
constexpr std::size_t sources_a_block = 512;

constexpr std::size_t round_down(std::size_t n, std::size_t unit) { return n / unit * unit; }

/// Items that fit half a broadcast memory: a link word takes about one long word.
std::size_t items_of_half(const KernelCost& kernel, const Geometry& geometry) {
  return std::max<std::size_t>(1, geometry.broadcast_words / 2 / std::max(1U, kernel.source_words));
}

/// Dataflow analysis of section Start: the locations of a PE with the same value in all PEs, i.e.
/// constants and values computed from constants. All others are assumed to differ.
class UniformLocations {
 public:
  /// Whether every PE would write the same value to the broadcast memory.
  bool is_uniform_write(const Instruction& i) const {
    return !i.predicate.used && holds(i.move.pe);
  }

  void apply(const Instruction& i) {
    const bool mul = has_uniform_operands(i.mul), alu = has_uniform_operands(i.alu);
    if (i.move.op == Op::Bget) set(i.move.pe, false);
    if (i.mul.used()) take(i, i.mul, mul);
    if (i.alu.used()) take(i, i.alu, alu);
  }

 private:
  using Place = std::pair<Space, unsigned>;

  bool holds(const Operand& x) const {
    return x.space == Space::Immediate || x.space == Space::None ||
           known_.contains({x.space, x.address});
  }
  bool has_uniform_operands(const Arithmetic& slot) const { return holds(slot.a) && holds(slot.b); }
  void take(const Instruction& i, const Arithmetic& slot, bool constant) {
    const bool uniform = constant && !i.predicate.used;
    if (slot.dst.used()) set(slot.dst, uniform);
    if (slot.t == TTarget::None) return;
    for (const std::uint16_t half : {std::uint16_t{0}, std::uint16_t{1}}) {
      Operand t;
      t.space = Space::T;
      t.address = half;
      set(t, uniform);
    }
  }
  void set(const Operand& x, bool constant) {
    if (constant) {
      known_.insert({x.space, x.address});
      return;
    }
    // All elements of a vector of longs, and a long that starts before.
    const Space space = x.space == Space::LocalByT ? Space::Local : x.space;
    std::erase_if(known_, [&](const Place& place) {
      return place.first == space &&
             (x.space == Space::LocalByT ||
              (place.second + 1 >= x.address && place.second < x.address + 2U * max_elements));
    });
  }

  std::set<Place> known_;
};

/// Whether the program reads the number of its PE or block, or PEs of a block share data written by
/// one of them, other than constants that section Start writes to the broadcast memory.
bool depends_on_position(const Program& program) {
  const auto is_place = [](const Operand& x) {
    return x.space == Space::PeNumber || x.space == Space::BlockNumber;
  };
  for (const auto& section : program.sections)
    for (const Instruction& i : section)
      if (is_place(i.mul.a) || is_place(i.mul.b) || is_place(i.alu.a) || is_place(i.alu.b))
        return true;
  const auto writes = [](const Instruction& i) { return i.move.op == Op::Bput; };
  if (std::ranges::any_of(program.section(Section::Body), writes) ||
      std::ranges::any_of(program.section(Section::End), writes))
    return true;
  UniformLocations uniform;
  for (const Instruction& i : program.section(Section::Start)) {
    if (writes(i) && !uniform.is_uniform_write(i)) return true;
    uniform.apply(i);
  }
  return false;
}

}  // namespace

KernelCost kernel_cost(const Program& program) {
  const LinkLayout layout = link_layout(program);
  KernelCost cost;
  cost.start_clocks = program.clocks(Section::Start);
  cost.body_clocks = program.clocks(Section::Body);
  cost.end_clocks = program.clocks(Section::End);
  cost.elements = program.elements;
  cost.group = program.group;
  cost.target_words = layout.target_words;
  cost.source_words = layout.source_words;
  cost.result_words = layout.result_words;
  cost.unjoined_words = static_cast<std::uint32_t>(unjoined_words_of_target(program, 0));
  for (const Variable& v : program.variables)
    if (v.kind == VarKind::Result && v.reduce == Reduce::Pass) cost.reducible = false;
  cost.position_dependent = layout.output_words > 0 || depends_on_position(program);
  return cost;
}

std::size_t board_slots(const KernelCost& kernel, const Geometry& geometry,
                        ChipPartition partition) noexcept {
  const std::size_t of_block = std::size_t{geometry.pes_per_block} * kernel.elements;
  if (partition == ChipPartition::SourcesOverBlocks) return of_block;
  return of_block * geometry.blocks * geometry.chips_per_board;
}

std::size_t targets_of_chip(const KernelCost& kernel, const Geometry& geometry,
                            std::size_t n) noexcept {
  const std::size_t of_block = std::size_t{geometry.pes_per_block} * kernel.elements;
  return divide_up(divide_up(n, of_block), geometry.chips_per_board) * of_block;
}

std::size_t source_capacity(ChipPartition partition, unsigned chips, std::uint64_t memory_words,
                            std::size_t words) {
  const std::size_t of_chip = memory_words / std::max<std::size_t>(1, words);
  return partition == ChipPartition::SourcesOverBlocks ? of_chip * chips : of_chip;
}

std::size_t sources_at_once(const KernelCost& kernel, const Geometry& g, ChipPartition partition,
                            std::size_t output_words) {
  const unsigned chips = g.chips_per_board;
  const bool split = partition == ChipPartition::SourcesOverBlocks;
  const std::size_t capacity = source_capacity(
      partition, chips, g.dram_bytes / sizeof(std::uint64_t), kernel.source_words + output_words);
  if (capacity == 0) return 0;
  // A range is a multiple of the group in every block, to avoid padding, and of the number of
  // memories that it fills.
  const std::size_t unit = std::size_t{kernel.group} * (split ? g.blocks : 1);
  return std::max(unit, round_down(capacity, unit * (split ? chips : 1)));
}

double predicted_clocks(const KernelCost& kernel, const Geometry& geometry, ChipPartition partition,
                        std::size_t targets, std::size_t sources) noexcept {
  const bool split = partition == ChipPartition::SourcesOverBlocks;
  const std::size_t chips = geometry.chips_per_board;
  const std::size_t batches = divide_up(targets, board_slots(kernel, geometry, partition));
  const std::size_t of_chip = split ? divide_up(sources, chips) : sources;
  const std::size_t of_block = split ? divide_up(of_chip, geometry.blocks) : sources;
  const std::size_t fill =
      std::min(of_chip, items_of_half(kernel, geometry) * (split ? geometry.blocks : 1));
  const double compute = static_cast<double>(divide_up(of_block, kernel.group)) *
                         static_cast<double>(kernel.body_clocks);
  const double port = static_cast<double>(of_chip) * kernel.source_words;
  const double batch = static_cast<double>(kernel.start_clocks + kernel.end_clocks) +
                       std::max(compute, port) + static_cast<double>(fill) * kernel.source_words;
  const std::size_t loaded =
      split ? targets : std::min(targets, targets_of_chip(kernel, geometry, targets));
  const double returned =
      kernel.result_words + (split ? 1.0 * kernel.unjoined_words * (geometry.blocks - 1) : 0.0);
  const double moved = static_cast<double>(loaded) * (kernel.target_words + 2.0 * returned);
  return static_cast<double>(batches) * batch + moved;
}

ChipPartition choose_partition(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                               std::size_t targets, std::size_t sources) {
  if (wanted == Partition::TargetsOverBlocks) return ChipPartition::TargetsOverBlocks;
  if (wanted == Partition::SourcesOverBlocks) {
    if (!kernel.reducible)
      throw Error(ErrorCategory::Usage,
                  "sources cannot be split over the blocks: the network cannot join a result of "
                  "this kernel, such as a list, a product, log-sum-exp or ranked values (declared "
                  "\"pass\" in assembly); use partition=targets");
    return ChipPartition::SourcesOverBlocks;
  }
  if (!kernel.reducible) return ChipPartition::TargetsOverBlocks;
  const double by_targets =
      predicted_clocks(kernel, geometry, ChipPartition::TargetsOverBlocks, targets, sources);
  const double by_sources =
      predicted_clocks(kernel, geometry, ChipPartition::SourcesOverBlocks, targets, sources);
  return by_sources < by_targets ? ChipPartition::SourcesOverBlocks
                                 : ChipPartition::TargetsOverBlocks;
}

JobPartition partition_job(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                           std::size_t targets, std::size_t sources) {
  JobPartition partition;
  partition.partition = choose_partition(kernel, geometry, wanted, targets, sources);
  // Programs that depend on the position of targets keep the batches of one board.
  partition.unit = kernel.position_dependent
                       ? board_slots(kernel, geometry, partition.partition)
                       : std::size_t{geometry.pes_per_block} * kernel.elements;
  // With partition=targets every PE computes complete sums.
  if (!may_slice(kernel) || wanted == Partition::TargetsOverBlocks || targets == 0)
    return partition;
  const std::size_t units = (targets + partition.unit - 1) / partition.unit;
  const std::size_t shortest =
      sources_a_block * geometry.blocks * geometry.chips_per_board * kernel.group;
  partition.slices =
      std::bit_floor(std::max<std::size_t>(1, std::min(max_pieces / units, sources / shortest)));
  return partition;
}

IndexRange slice_range(const JobPartition& partition, std::size_t group, std::size_t n,
                       std::size_t k) {
  const std::size_t groups = (n + group - 1) / group;
  const std::size_t each = groups / partition.slices, rest = groups % partition.slices;
  const auto begin = [&](std::size_t s) {
    return std::min(n, (s * each + std::min(s, rest)) * group);
  };
  return {begin(k), begin(k + 1) - begin(k)};
}

void slice_ranges(const JobPartition& partition, std::size_t group, std::size_t n,
                  std::vector<IndexRange>& slices) {
  slices.clear();
  for (std::size_t k = 0; k < partition.slices; ++k)
    slices.push_back(slice_range(partition, group, n, k));
}

}  // namespace gdr
