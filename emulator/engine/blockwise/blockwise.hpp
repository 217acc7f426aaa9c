// The default pass runner: one task per block writes targets, runs the loop and reads results. Data
// shared by blocks is converted once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/blockwise/transfers.hpp"
#include "emulator/engine/engine.hpp"
#include "emulator/engine/matmul/factors.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"
#include "emulator/engine/pass.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// Key of cached data derived from j-items; valid until the memory they came from changes.
struct ItemsKey {
  std::uint64_t contents = 0;  ///< BoardMemory::contents
  std::uint64_t address = 0, items = 0;
  ChipPartition partition{};
  friend bool operator==(const ItemsKey&, const ItemsKey&) = default;
  /// Equal addresses, independent of the contents.
  bool same_places(const ItemsKey& other) const noexcept {
    return address == other.address && items == other.items && partition == other.partition;
  }
};

/// j-items that all blocks of a chip read, converted for the broadcast memory and for the engine.
/// Chips with equal memories share them. Cached for later runs.
struct CachedItems {
  std::optional<ItemsKey> key;
  bool converted = false;             ///< `groups` is valid
  std::vector<std::uint64_t> shorts;  ///< as in the broadcast memory, consecutive items
  std::vector<std::byte> groups;
  std::uint64_t revision = 0;  ///< of `groups`; this and the next two as SourceStream has them
  std::uint64_t previous = 0;
  std::vector<std::span<const std::byte>> changes;
  std::atomic<bool> usable = true;  ///< the engine could convert all of them
};

/// Fills of the memory's halves that remain visible afterwards: the last one may be short, and then
/// the rest of its half still holds an earlier fill.
constexpr std::uint64_t visible_fills = 3;

/// j-items of a single block, converted for the engine and cached for later runs.
struct CachedStream {
  std::optional<ItemsKey> key;
  std::vector<std::byte> groups;
  std::uint64_t revision = 0;
  /// Contents of the last fills of the broadcast memory's halves.
  struct LastFill {
    std::uint32_t base = 0;  ///< address in shorts
    std::vector<std::uint64_t> shorts;
  };
  std::array<LastFill, visible_fills> last_fills;
  std::uint32_t last_group = 0;  ///< address of the last group, in shorts
  bool in_memory = false;        ///< the broadcast memory still holds them
};

/// The matrix product that the body computes, if all its variables are doubles or all are floats.
std::optional<MatmulPattern> match_number_matmul(const LoadedProgram& loaded);

/// The default pass runner.
class BlockwiseRunner final : public PassRunner {
 public:
  /// `streamed`: the same as `executable` if it accepts streams of j-items; else null.
  BlockwiseRunner(const LoadedProgram& program, const Geometry& geometry,
                  const Executable& executable, const StreamingExecutable* streamed);
  void run(const Pass& pass) override;
  void invalidate_chips() noexcept override;

 private:
  /// Fills of a block's own j-items per conversion.
  static constexpr std::uint64_t fills_at_once = 32;
  /// Interval between cancellation points in a shared stream: some milliseconds of exact numerics.
  static constexpr std::uint64_t groups_between_polls = 4096;
  static constexpr std::uint64_t items_per_task = 2048;  ///< per conversion or reduction task
  static constexpr std::uint64_t items_returned = 8;     ///< per reduction task over chips

  /// The work of one block.
  struct Task {
    std::uint32_t chip, block;
    bool runs;
    std::size_t number;  ///< in make_tasks
  };
  /// The fused run of a task in `batch_`.
  struct BatchedRun {
    bool begun = false;
    BlockRun run;
  };
  /// Consecutive fills of the run, limited by the size of the shared buffer.
  struct Chunk {
    std::uint64_t first_fill = 0, fills = 0;
    bool first = true, last = true;
  };

  /// A pass with at most one run.
  void run_one(const PassRun* run, std::span<const TargetWrite> writes,
               std::span<const ResultRead> reads);
  const PassRun& loop() const noexcept { return *run_; }
  /// Valid target slots of a chip in the run, and the number of its blocks that run.
  std::uint64_t targets_of(std::size_t chip) const noexcept;
  std::uint32_t blocks_of(std::size_t chip) const noexcept;
  /// Valid after `require_state`.
  ChipState& state(std::size_t chip) const noexcept { return *states_[chip]; }
  void require_state(std::size_t chip);
  void require_states();
  BoardMemory& memory_of(std::size_t chip) const noexcept { return pass_->chips[chip].memory; }

  std::vector<Task> make_tasks() const;
  std::vector<Chunk> make_chunks() const;
  double estimate(std::size_t tasks) const noexcept;
  void add_chunk(const Chunk& chunk, const std::vector<Task>& tasks, std::vector<Phase>& phases);
  void add_conversion(const Chunk& chunk, std::vector<Phase>& phases);
  bool changed_groups(std::uint32_t chip, const std::optional<ItemsKey>& key,
                      std::vector<GroupRange>& groups) const;
  void add_joined_read(const ResultRead& read, std::vector<Phase>& phases);
  void set_item_keys();

  bool is_matmul() const noexcept;
  std::uint64_t fills_before_matmul() const noexcept;
  std::uint64_t items_before_matmul() const noexcept;
  void begin_matmul();
  void gather_factors(const Task& task);
  void add_matmul(std::vector<Phase>& phases);
  void run_matmul(std::uint64_t first, std::uint64_t count);
  void store_matmul(const double* sums, std::uint64_t first, std::uint64_t count,
                    const std::vector<std::uint32_t>& panels);
  bool uses_matmul_device() const;
  DeviceItems device_items() const;
  void run_on_device(DeviceProduct product);
  void add_device_matmul(std::vector<Phase>& phases);
  void store_device_items(std::uint64_t first, std::uint64_t end);
  void store_fast_sums(std::uint64_t first, std::uint64_t end);
  bool writes_whole_blocks(std::size_t chip) const noexcept;
  const std::uint64_t* records_for(std::size_t chip, std::size_t block) const noexcept;
  void begin_fast_matmul();
  void gather_fast_factors(const Task& task);
  void measure_items(const FastSlab& slab);
  void plan_slabs();
  void add_slab_plan(std::vector<Phase>& phases);
  void prepare_slab(std::size_t number, FastTask& task) const;
  void add_fast_matmul(std::vector<Phase>& phases);
  void cache_fast_factors();
  void scatter_factors(std::size_t chip, ChipState& state);
  void add_slab(std::size_t number, std::uint64_t begin, std::uint64_t end);

  bool shares_sources() const noexcept;
  bool joins_outputs() const noexcept;
  /// A number for SourceStream::revision, unique in the process.
  static std::uint64_t next_revision() noexcept;
  bool start_batch(std::size_t tasks);
  void finish_batched(const Chunk& chunk, const Task& task);
  void read_results(const Chunk& chunk, const Task& task);
  bool returns_outputs() const noexcept { return (loop().flags & run_return) != 0; }
  SourceRecords records_of(const Task& task) const noexcept;
  GroupRange groups_of(const Chunk& chunk, GroupRange slice) const noexcept;
  bool is_unchanged(const Task& task, GroupRange groups, CachedStream& stream) const;
  void stage(const Chunk& chunk, std::uint32_t chip, std::uint64_t part);
  void work(const Chunk& chunk, const Task& task);
  void run_loop(const Chunk& chunk, const Task& task);
  void run_fills(const Chunk& chunk, const Task& task);
  bool accepts_streams() const noexcept;
  void run_stream(const Chunk& chunk, const Task& task);
  void run_fills_at_once(const Chunk& chunk, const Task& task, std::uint64_t begin,
                         std::uint64_t end);
  void run_own_stream(const Chunk& chunk, const Task& task);
  ItemsKey items_of(std::uint32_t chip) const;
  bool make_stream(const Task& task, GroupRange groups, std::uint64_t last,
                   CachedStream& stream) const;
  bool runs_fused(const Chunk& chunk, const Task& task) const;
  void run_groups(const Chunk& chunk, const Task& task, GroupRange groups, SourceStream stream);
  std::uint64_t* output_row(const Chunk& chunk, const Task& task, std::uint64_t group);
  void store_last_outputs(const Chunk& chunk, const Task& task, std::uint64_t end);
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
  const StreamingExecutable* const streamed_;
  /// The matrix product that the body computes, if the engine has kernels for it.
  std::optional<MatmulPattern> products_;

  // The current pass.
  const Pass* pass_ = nullptr;
  const PassRun* run_ = nullptr;  ///< null: no run
  unsigned threads_ = 1;          ///< maximum number of threads
  std::span<const TargetWrite> writes_;
  std::span<const ResultRead> reads_;
  std::vector<ChipState*> states_;            ///< by chip; null: not accessed yet
  std::vector<std::uint32_t> product_chips_;  ///< chips that run a matrix product
  std::unique_ptr<FusedBatch> batch_;         ///< of the run's fused runs; null: one by one
  std::vector<BatchedRun> batched_;           ///< by task
  std::vector<CachedItems*> chip_items_;      ///< by chip that runs: its j-items of a chunk

  // Buffers are reused: page faults of fresh memory cost more than the work in it.
  std::deque<CachedItems> item_cache_;               ///< by chip
  std::vector<std::vector<CachedStream>> streams_;   ///< [chip][block]: partitioned sources
  std::vector<std::vector<std::uint64_t>> outputs_;  ///< by chip: [block][shorts of a chunk]
  PackedFactors factors_;
  std::vector<double, LineAllocator<double>> sums_;  ///< of the slabs so far: [item][panel][lane]

  /// Factors of a chip for fast products.
  struct CachedFactors {
    std::uint64_t version = ~std::uint64_t{0};  ///< LoadedChip::version when gathered
    bool known = false;                         ///< complete except for targets of this pass
    bool by_records = false;  ///< gathered from records: this pass writes whole blocks or none
  };
  std::optional<PackedSlabs> packed_slabs_;    ///< for fast numerics
  std::vector<CachedFactors> cached_factors_;  ///< by chip
  /// Number of factors of a slab up to the last one that is not +0 in every item.
  struct ItemDepth {
    std::optional<ItemsKey> key;
    std::size_t used = 0;
  };
  std::vector<std::vector<ItemDepth>> item_depths_;  ///< [chip][slab]
  struct UsedSlab {
    FastSlab slab;
    std::size_t depth = 0;  ///< factors up to the last nonzero one
  };
  std::vector<UsedSlab> slabs_;   ///< slabs of this pass with nonzero factors
  std::uint64_t slabs_plan_ = 0;  ///< identifies the slabs of this pass and runner
  std::size_t panels_used_ = 0;   ///< panels up to the last one that is not all +0

  // Products on a device.
  const MatmulDeviceUser* device_user_ = nullptr;           ///< `streamed_`; null: none
  std::unique_ptr<DeviceProducts> device_products_;         ///< null: none
  std::vector<std::uint32_t> device_panels_;                ///< the panels of `device_sums_`
  std::vector<double, LineAllocator<double>> device_sums_;  ///< [item][panel][lane]
  std::vector<char> device_unfit_;                          ///< by item: the host computes it
};

}  // namespace gdr
