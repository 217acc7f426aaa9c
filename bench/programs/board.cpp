// The cost of the board beside the arithmetic: port conversions, a force call on few sources, and
// the rate on many.
#include "emulator/board/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

#include "bench/timing.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "emulator/port/port.hpp"
#include "kernels/builtin.hpp"

namespace {

using namespace gdr;

/// Least seconds of `repeats` calls.
template <typename Work>
double best_of(int repeats, Work&& work) {
  double best = 1e30;
  for (int r = 0; r < repeats; ++r) {
    best = std::min(best, bench::seconds_of(work));
  }
  return best;
}

std::vector<std::uint64_t> random_words(std::size_t n) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0.1, 1);
  std::vector<std::uint64_t> words(n);
  for (auto& w : words) w = std::bit_cast<std::uint64_t>(uniform(random));
  return words;
}

void bench_port() {
  constexpr std::size_t n = 4096;
  const auto words = random_words(n);
  std::vector<std::uint64_t> shorts(2 * n), back(n);
  fmt::print("port conversions, one thread\n");
  for (const char* name : {"f64to72", "f64to36", "f32to72", "i64int", "f64fix.40"}) {
    PortField field;
    field.conversion = *find_conversion(name);
    constexpr int rounds = 50;
    const double in = best_of(20, [&] {
      for (int r = 0; r < rounds; ++r)
        port_load(field, {words.data(), 1}, n, {shorts.data(), 1, n});
    });
    const double out = best_of(20, [&] {
      for (int r = 0; r < rounds; ++r)
        port_store(field, {shorts.data(), 1, n}, n, {back.data(), 1});
    });
    fmt::print("  {:10} in {:6.2f} ns, out {:6.2f} ns a value\n", name, in / rounds / n * 1e9,
               out / rounds / n * 1e9);
  }
}

Command command(CommandKind kind, std::uint64_t count, std::uint64_t payload = 0) {
  Command c;
  c.kind = kind;
  c.chips = 1;
  c.count = count;
  c.payload = payload;
  return c;
}

void load(Board& board, const Program& program) {
  const auto object = write_object(program);
  CommandList list;
  list.payload.resize((object.size() + 7) / 8);
  std::memcpy(list.payload.data(), object.data(), object.size());
  list.commands = {command(CommandKind::LoadProgram, object.size())};
  std::vector<std::uint64_t> results;
  board.execute(list, results);
}

/// Seconds of a force call: j-items to memory, targets in, the run, results out.
double force_call(Board& board, std::uint64_t targets, std::uint64_t sources, ChipPartition share) {
  const LinkLayout layout = link_layout(*board.program());
  CommandList list;
  const std::uint64_t source_words = sources * layout.source_words;
  list.payload = random_words(source_words + targets * layout.target_words);
  Command write = command(CommandKind::WriteTargets, targets, source_words);
  Command run = command(CommandKind::Run, sources);
  Command read = command(CommandKind::ReadTargets, targets);
  write.partition = run.partition = read.partition = share;
  run.flags = run_start | run_end;
  list.commands = {command(CommandKind::WriteMemory, source_words), write, run, read};
  std::vector<std::uint64_t> results;
  return best_of(sources < 10 ? 500 : 3, [&] {
    results.clear();
    board.execute(list, results);
  });
}

void bench_engine(const char* engine, const Program& program) {
  Board board(Geometry{}, make_engine(engine));
  load(board, program);
  fmt::print("{} engine ({}), {}\n", engine, isa_name(board.engine().isa()), program.name);
  for (const auto share : {ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks}) {
    const bool spread = share == ChipPartition::TargetsOverBlocks;
    const std::uint64_t targets = target_slots(program, board.geometry(), share);
    const double fixed = force_call(board, targets, 1, share);
    const std::uint64_t many = engine[0] == 'r' ? 64 : 4096;
    const double full = force_call(board, targets, many, share);
    fmt::print(
        "  {} over blocks, {:4} targets: {:8.1f} us for one source, {:7.2f} M pairs/s for {}\n",
        spread ? "targets" : "sources", targets, fixed * 1e6,
        static_cast<double>(targets * many) / full * 1e-6, many);
  }
}

}  // namespace

int main() {
  bench_port();
  for (const BuiltinKernel& kernel : builtin_kernels()) {
    const auto result = assemble(kernel.source, std::string(kernel.name));
    if (!result.ok()) continue;
    bench_engine("vector", *result.program);
    bench_engine("reference", *result.program);
  }
}
