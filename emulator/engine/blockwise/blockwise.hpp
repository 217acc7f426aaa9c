// Passes block by block: what the machine does, in an order that suits the host. Targets go in, the
// loop runs, results come out, a task for each block, with what blocks share converted once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "emulator/engine/blockwise/port_work.hpp"
#include "emulator/engine/blockwise/streamed.hpp"
#include "emulator/engine/pass.hpp"
#include "emulator/engine/products/factors.hpp"
#include "emulator/engine/products/fast_factors.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// Which j-items something was made of: it is good for a run on them as long as nobody writes to
/// the memory that they came from.
struct KeptItems {
  std::uint64_t contents = 0;  ///< BoardMemory::contents
  std::uint64_t address = 0, items = 0;
  Share share{};
  friend bool operator==(const KeptItems&, const KeptItems&) = default;
  /// The same places in memory, whatever stands there.
  bool same_places(const KeptItems& other) const noexcept {
    return address == other.address && items == other.items && share == other.share;
  }
};

/// j-items that all blocks of a chip see, converted for the broadcast memory and for the engine.
/// Chips whose memories hold the same share them. They stay for the next run on them.
struct StagedItems {
  std::optional<KeptItems> kept;
  bool converted = false;             ///< `groups` is filled, too
  std::vector<std::uint64_t> shorts;  ///< as in the broadcast memory, one item behind the other
  std::vector<std::byte> groups;
  std::atomic<bool> usable = true;  ///< the engine could take all of them
};

/// Fills that can be seen in the memory's halves afterwards: the last one may not fill its half,
/// and then what the one before it left there stands behind it.
constexpr std::uint64_t fills_seen = 3;

/// j-items that a block worked on alone, converted for the engine, for the next run on them.
struct KeptStream {
  std::optional<KeptItems> kept;
  std::vector<std::byte> groups;
  /// What the last fills brought to the broadcast memory's halves.
  struct LastFill {
    std::uint32_t base = 0;  ///< where, in shorts
    std::vector<std::uint64_t> shorts;
  };
  std::array<LastFill, fills_seen> last_fills;
  std::uint32_t last_group = 0;  ///< where the last group stood, in shorts
  bool in_memory = false;        ///< the broadcast memory holds them still
};

/// What the body is, if it and its variables are nothing but sums of products of doubles or floats.
std::optional<SummedProducts> products_of_numbers(const LoadedProgram& loaded);

/// The default pass runner.
class BlockwiseRunner final : public PassRunner {
 public:
  /// `streamed`: `executable` again, where it takes j-items past the broadcast memory; else null.
  BlockwiseRunner(const LoadedProgram& program, const Geometry& geometry,
                  const Executable& executable, const StreamedExecutable* streamed);
  void run(const Pass& pass) override;
  void forget_chips() noexcept override;

 private:
  static constexpr std::uint64_t fills_at_once = 32;  ///< of a block's own j-items, converted
  /// Of a stream that all blocks share: some milliseconds' work of exact numerics for a block.
  static constexpr std::uint64_t groups_between_looks = 4096;
  static constexpr std::uint64_t items_a_part = 2048;  ///< j-items that one task converts or joins
  static constexpr std::uint64_t items_returned = 8;   ///< that one joins over chips

  /// What one block has to do.
  struct Task {
    std::uint32_t chip, block;
    bool runs;
  };
  /// Some consecutive fills of the run, so that what all blocks share fits a buffer.
  struct Chunk {
    std::uint64_t first_fill = 0, fills = 0;
    bool first = true, last = true;
  };

  /// A pass with at most one run.
  void run_one(const PassRun* run, std::span<const TargetWrite> writes,
               std::span<const ResultRead> reads);
  const PassRun& loop() const noexcept { return *run_; }
  /// Target slots of a chip that count in the run, and how many of its blocks run.
  std::uint64_t targets_of(std::size_t chip) const noexcept;
  std::uint32_t blocks_of(std::size_t chip) const noexcept;
  /// Of a chip that `need_state` was called for.
  ChipState& state(std::size_t chip) const noexcept { return *states_[chip]; }
  void need_state(std::size_t chip);
  void need_states();
  BoardMemory& memory_of(std::size_t chip) const noexcept { return pass_->chips[chip].memory; }

  std::vector<Task> make_tasks() const;
  std::vector<Chunk> make_chunks() const;
  double estimate(std::size_t tasks) const noexcept;
  void add_chunk(const Chunk& chunk, const std::vector<Task>& tasks, std::vector<Phase>& phases);
  void add_staging(const Chunk& chunk, std::vector<Phase>& phases);
  bool changed_groups(std::uint32_t chip, const std::optional<KeptItems>& kept,
                      std::vector<GroupRange>& groups) const;
  void add_joined_reads(std::vector<Phase>& phases);
  void add_joined_read(const ResultRead& read, std::vector<Phase>& phases);
  void keep_staged();

  bool sums_products() const noexcept;
  std::uint64_t fills_before_products() const noexcept;
  std::uint64_t items_before_products() const noexcept;
  void begin_products();
  void take_factors(const Task& task);
  void add_products(std::vector<Phase>& phases);
  void sum_products(std::uint64_t first, std::uint64_t count);
  bool writes_whole_blocks(std::size_t chip) const noexcept;
  const std::uint64_t* records_for(std::size_t chip, std::size_t block) const noexcept;
  void begin_fast_products();
  void take_fast_factors(const Task& task);
  void measure_items(const FastSlab& slab);
  void plan_slabs();
  void take_slab(std::size_t number, FastTask& task) const;
  void add_fast_products(std::vector<Phase>& phases);
  void keep_fast_factors();
  void put_factors(std::size_t chip, ChipState& state);
  void add_slab(std::size_t number, std::uint64_t begin, std::uint64_t end);

  bool shares_sources() const noexcept;
  bool joins_outputs() const noexcept;
  bool returns_outputs() const noexcept { return (loop().flags & run_return) != 0; }
  SourceRecords records_of(const Task& task) const noexcept;
  GroupRange groups_of(const Chunk& chunk, GroupRange slice) const noexcept;
  bool is_unchanged(const Task& task, GroupRange groups, KeptStream& stream) const;
  void stage(const Chunk& chunk, std::uint32_t chip, std::uint64_t part);
  void work(const Chunk& chunk, const Task& task);
  void run_loop(const Chunk& chunk, const Task& task);
  void run_fills(const Chunk& chunk, const Task& task);
  bool takes_streams() const noexcept;
  void run_stream(const Chunk& chunk, const Task& task);
  void run_fills_at_once(const Chunk& chunk, const Task& task, std::uint64_t begin,
                         std::uint64_t end);
  void run_own_stream(const Chunk& chunk, const Task& task);
  KeptItems items_of(std::uint32_t chip) const;
  bool make_stream(const Task& task, GroupRange groups, std::uint64_t last,
                   KeptStream& stream) const;
  bool runs_whole(const Chunk& chunk, const Task& task) const;
  void run_groups(const Chunk& chunk, const Task& task, GroupRange groups, SourceStream stream);
  std::uint64_t* output_row(const Chunk& chunk, const Task& task, std::uint64_t group);
  void leave_outputs(const Chunk& chunk, const Task& task, std::uint64_t end);
  std::uint32_t live_pes(const Task& task) const noexcept;
  void run_section(const Task& task, Section section) const;
  void fill_half(const Chunk& chunk, const Task& task, GroupRange groups, unsigned half,
                 std::vector<std::uint64_t>& scratch);
  void keep_outputs(const Chunk& chunk, const Task& task, GroupRange groups, unsigned half,
                    std::vector<std::uint64_t>& scratch);
  void join_chunk_outputs(const Chunk& chunk, std::size_t chip, GroupRange part);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const Executable& executable_;
  const StreamedExecutable* const streamed_;
  /// What the body is, if it and its variables are nothing but sums of products of doubles or
  /// floats, and the engine has kernels for them.
  std::optional<SummedProducts> products_;

  // Of the pass at work.
  const Pass* pass_ = nullptr;
  const PassRun* run_ = nullptr;  ///< null: there is none
  unsigned threads_ = 1;          ///< that work on it, at most
  std::span<const TargetWrite> writes_;
  std::span<const ResultRead> reads_;
  std::vector<ChipState*> states_;            ///< by chip; null: not asked for yet
  std::vector<std::uint32_t> product_chips_;  ///< that run, where they sum products
  std::vector<StagedItems*> staged_of_;       ///< of each chip that runs: its j-items of a chunk

  // Kept, because memory that was never touched costs more than what is done in it.
  std::deque<StagedItems> staged_;                   ///< by chip
  std::vector<std::vector<KeptStream>> streams_;     ///< [chip][block]: sources spread over blocks
  std::vector<std::vector<std::uint64_t>> outputs_;  ///< of each chip: [block][shorts of a chunk]
  PackedFactors factors_;
  std::vector<double, LineAllocator<double>> sums_;  ///< of the slabs so far: [item][panel][lane]

  /// Factors of a chip for fast products.
  struct HeldFactors {
    std::uint64_t looks = ~std::uint64_t{0};  ///< LoadedChip::looks, of the chip that has them
    bool known = false;       ///< all are there, but for those that this pass writes
    bool by_records = false;  ///< this pass writes whole blocks, or none, past the state
  };
  std::optional<FastFactors> fast_factors_;  ///< for fast numerics
  std::vector<HeldFactors> held_;            ///< by chip
  /// Factors of a slab up to the last one that is more than +0 in any item.
  struct ItemDepth {
    std::optional<KeptItems> kept;
    std::size_t used = 0;
  };
  std::vector<std::vector<ItemDepth>> item_depths_;  ///< [chip][slab]
  struct UsedSlab {
    FastSlab slab;
    std::size_t depth = 0;  ///< factors that add anything
  };
  std::vector<UsedSlab> slabs_;   ///< of this pass, those that add anything
  std::uint64_t slabs_plan_ = 0;  ///< their number, of this pass and runner alone
  std::size_t panels_used_ = 0;   ///< of its factors, up to the last one that holds more than +0
};

}  // namespace gdr
