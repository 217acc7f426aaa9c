#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "emulator/port/loaded_program.hpp"
#include "gdr/error.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/device/partition.hpp"
#include "libgdr/driver/board_link.hpp"
#include "libgdr/predict/jobs.hpp"

namespace gdr::predict {
namespace {

/// Throws Error (Usage) if the clocks exceed 64 bits, or the sources are sent in too many pieces,
/// which are timed one by one.
void require_countable(const KernelShape& kernel, const Geometry& geometry, ChipPartition share,
                       const ParticleJob& job, std::size_t batches) {
  constexpr double max_counts = 4e18, max_pieces = 1e7;
  const KernelCost& k = kernel.cost;
  const double iterations = static_cast<double>(batches) * static_cast<double>(job.sources);
  const double each = static_cast<double>(k.body_clocks) + 8.0 * 64 * (1 + k.source_words);
  const double words = static_cast<double>(job.sources) * (1 + k.source_words);
  const double held = static_cast<double>(geometry.dram_bytes) / 8 *
                      (share == ChipPartition::SourcesOverBlocks ? geometry.chips_per_board : 1);
  const double piece = static_cast<double>(std::min<std::uint64_t>(write_words, 1U << 21));
  if (iterations * each > max_counts || words / std::min(held, piece) > max_pieces)
    throw Error(ErrorCategory::Usage,
                fmt::format("{} targets and {} sources are more than can be counted for this "
                            "machine",
                            job.targets, job.sources));
}

/// Adds `times` runs with these counts.
void add(BoardTime& time, const WorkCounts& counts, std::size_t times) {
  time.clocks += {times * counts.compute_clocks, times * counts.port_in_clocks,
                  times * counts.port_out_clocks, times * counts.chip_clocks};
  time.bytes_to_board += times * counts.link_write_bytes;
  time.bytes_from_board += times * counts.link_read_bytes;
  time.seconds += static_cast<double>(times) * counts.predicted_seconds;
}

/// All slices of a job for `targets` targets on one board. All batches but the first one have equal
/// command lists, of which one is executed.
BoardTime time_on_board(const DeviceCore& device, const BoardRates& rates,
                        const KernelShape& kernel, JobData& job, ChipPartition share,
                        std::size_t targets, bool resident) {
  BoardSlot slot{model_board(device.geometry, kernel.timing, rates)};
  slot.contents.loaded(job.kernel, device.geometry.chips_per_board);
  const std::size_t batch = board_slots(kernel.cost, device.geometry, share);
  const std::size_t full = targets / batch, rest = targets % batch;
  BoardTime time;
  const auto run_all = [&] {
    for (std::size_t s = 0; s < job.slices.size(); ++s) {
      const JobPart part{share, s, {0, targets}, nullptr, job.slices.size() > 1};
      const auto run = [&](std::size_t first, std::size_t n, std::size_t times) {
        if (n == 0 || times == 0) return;
        slot.board->reset_counts();
        run_on_board(device, slot, job, part, {first, n}, {});
        add(time, slot.board->counts(), times);
      };
      run(0, batch, std::min<std::size_t>(full, 1));
      run(batch, batch, full - std::min<std::size_t>(full, 1));
      run(full * batch, rest, 1);
    }
  };
  run_all();
  if (resident) {
    // What a run finds in the memories is what the previous one left there.
    time = {};
    run_all();
  }
  time.batches = full + (rest > 0 ? 1 : 0);
  time.link_write = static_cast<double>(time.bytes_to_board) / rates.link_write;
  time.link_read = static_cast<double>(time.bytes_from_board) / rates.link_read;
  return time;
}

}  // namespace

KernelShape kernel_shape(const Kernel& kernel, const Geometry& geometry) {
  const Program& program = kernel.program();
  return {kernel, program.name, kernel_cost(program), program_timing(program, geometry),
          program.flops};
}

KernelShape with_clocks(const KernelShape& interface, std::string name, double clocks,
                        double flops) {
  const double body_clocks = clocks * interface.cost.elements;
  if (!(body_clocks >= 1) || body_clocks > 1e9 || body_clocks != std::floor(body_clocks))
    throw Error(
        ErrorCategory::Usage,
        fmt::format("{:g} clocks per interaction: an iteration of the loop computes {} targets in "
                    "whole clocks, so this has to be a multiple of {:g}",
                    clocks, interface.cost.elements, 1.0 / interface.cost.elements));
  KernelShape shape = interface;
  shape.name = std::move(name);
  shape.flops = flops;
  ProgramTiming& timing = shape.timing;
  if (timing.groups_per_half != unlimited_groups) timing.groups_per_half *= timing.group;
  timing.group = shape.cost.group = 1;
  timing.start_clocks = timing.end_clocks = shape.cost.start_clocks = shape.cost.end_clocks = 0;
  timing.body_clocks = shape.cost.body_clocks = static_cast<std::uint64_t>(body_clocks);
  return shape;
}

BoardTime particle_time(const KernelShape& kernel, const Geometry& geometry,
                        const BoardRates& rates, unsigned boards, const ParticleJob& job) {
  const JobPartition cut =
      partition_job(kernel.cost, geometry, job.partition, job.targets, job.sources);
  if (job.targets == 0) return {};
  const std::size_t slots = board_slots(kernel.cost, geometry, cut.partition);
  const std::size_t batches = (job.targets + slots - 1) / slots;
  require_countable(kernel, geometry, cut.partition, job, batches);
  if (sources_at_once(kernel.cost, geometry, cut.partition, 0) == 0)
    throw Error(ErrorCategory::Device,
                fmt::format("the memory of a chip ({} bytes) does not hold one source of kernel "
                            "\"{}\"; give the machine more board.memory",
                            geometry.dram_bytes, kernel.name));
  JobData data = job_data(kernel.kernel);
  data.cost = kernel.cost;
  data.target_count = job.targets;
  data.fetch_outputs = data.outputs_group.words > 0;
  if (data.fetch_outputs) data.output_items = OutputReduction(kernel.kernel.program());
  LinkWords no_words;
  data.sources.replace(job.sources, data.sources_group.words, no_words);
  slice_ranges(cut, kernel.cost.group, job.sources, data.slices);
  DeviceCore device;
  device.geometry = geometry;
  device.partition = job.partition;
  std::map<std::size_t, std::size_t> boards_with;  // boards by their number of targets
  for (const IndexRange& part : divide_batches({0, batches}, std::max(1U, boards)))
    ++boards_with[std::min(part.count * slots, job.targets - part.first * slots)];
  BoardTime all;
  for (const auto& [targets, count] : boards_with) {
    const BoardTime one =
        time_on_board(device, rates, kernel, data, cut.partition, targets, job.resident);
    // The last entry of the map is the board with the most targets, which is the slowest.
    all.clocks = one.clocks;
    all.seconds = std::max(all.seconds, one.seconds);
    all.bytes_to_board += count * one.bytes_to_board;
    all.bytes_from_board += count * one.bytes_from_board;
    all.link_write = one.link_write;
    all.link_read = one.link_read;
    all.batches = one.batches;
  }
  all.partition = cut.partition;
  return all;
}

}  // namespace gdr::predict
