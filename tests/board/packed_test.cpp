// Packed targets give the same bits as blocks of PEs, for every kernel and number of targets.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <thread>

#include "board/programs.hpp"
#include "emulator/engine/api/engine.hpp"
#include "gdr/kernel.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

constexpr std::uint64_t both = run_start | run_end;

/// Ids: from a small set (many equal pairs), the sources' numbers in order, or arbitrary.
enum class Ids { Few, InOrder, Any };

std::uint64_t id_of(Ids ids, bool target, std::size_t i, std::uint64_t random) {
  switch (ids) {
    case Ids::Few:
      return random % 16;
    case Ids::InOrder:
      return target ? 3 * i + 1 : i;
    default:
      return random % 2000;
  }
}

/// n records of the variables of a kind: numbers whose magnitude is valid for all kernels.
std::vector<std::uint64_t> records(const Program& program, VarKind kind, std::size_t n,
                                   unsigned seed, Ids ids = Ids::Few) {
  const LinkLayout layout = link_layout(program);
  const bool target = kind == VarKind::Target;
  const auto& fields = target ? layout.targets : layout.sources;
  const std::size_t words = target ? layout.target_words : layout.source_words;
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> made(n * words);
  for (std::size_t i = 0; i < n; ++i)
    for (const auto& field : fields) {
      const Conversion& conversion = program.variables[field.variable].conversion;
      const double number = static_cast<double>(random() % 4096) / 1024 + 0.25;
      std::uint64_t& word = made[i * words + field.half_word / 2];
      if (conversion.host == HostType::F64)
        word = bits(number);
      else if (conversion.host == HostType::F32)
        word |= std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(number))}
                << field.half_word % 2 * 32;
      else
        word = id_of(ids, target, i, random());
    }
  return made;
}

Geometry two_chips() {
  Geometry geometry;
  geometry.chips_per_board = 2;
  geometry.blocks = 2;
  return geometry;
}

struct Job {
  Program program;
  std::vector<std::uint64_t> targets, sources;
  std::uint64_t target_count = 0, source_count = 0;
};

/// The same job with the engine's padding items appended to its sources.
Job with_pads(Job job) {
  const std::uint64_t group = job.program.group;
  if (group == 1) return job;
  const LinkLayout layout = link_layout(job.program);
  const std::uint64_t all = (job.source_count + group - 1) / group * group + group;
  const std::size_t words = layout.source_words, last = (job.source_count - 1) * words;
  job.sources.resize(all * words);
  for (; job.source_count < all; ++job.source_count)
    for (const auto& field : layout.sources) {
      const Variable& v = job.program.variables[field.variable];
      const std::uint32_t word = field.half_word / 2, shift = field.half_word % 2 * 32;
      const std::uint64_t mask = field.half_words == 1 ? std::uint64_t{0xffffffff} << shift : ~0ULL;
      const std::uint64_t copy = job.sources[last + word] & mask;
      job.sources[job.source_count * words + word] |= v.pad_is_copy ? copy : v.pad << shift;
    }
  return job;
}

Job job_of(const Program& program, std::uint64_t targets, std::uint64_t sources,
           Ids ids = Ids::Few) {
  return {program, records(program, VarKind::Target, targets, 1, ids),
          records(program, VarKind::Source, sources, 2, ids), targets, sources};
}

void load(Rig& rig, const Job& job, double param = 0.5) {
  rig.load(job.program);
  for (std::uint32_t v = 0; v < link_layout(job.program).params.size(); ++v)
    rig.add(CommandKind::WriteParam, 3, {bits(param)}).variable = v;
}

/// On two chips: every target sees all sources, which are in the memories of both.
std::vector<std::uint64_t> by_targets(Rig& rig, const Job& job, std::uint32_t flags) {
  const std::uint64_t words = job.targets.size() / job.target_count;
  rig.add(CommandKind::WriteMemory, 3, job.sources).count = job.sources.size();
  const std::uint64_t half = (job.target_count + 1) / 2;
  for (const std::uint64_t chip : {0, 1}) {
    const std::uint64_t first = chip * half, n = chip == 0 ? half : job.target_count - half;
    if (n == 0) continue;
    const auto at = job.targets.begin() + static_cast<std::ptrdiff_t>(first * words);
    rig.add(CommandKind::WriteTargets, 1U << chip,
            {at, at + static_cast<std::ptrdiff_t>(n * words)})
        .count = n;
  }
  const std::uint64_t chips = job.target_count > 1 ? 3 : 1;
  rig.run(chips, ChipPartition::TargetsOverBlocks, 0, job.source_count, flags);
  rig.read(1, ChipPartition::TargetsOverBlocks, half);
  if (chips == 3) rig.read(2, ChipPartition::TargetsOverBlocks, job.target_count - half);
  return rig.execute();
}

/// The same targets in all blocks, half of the sources in each chip.
std::vector<std::uint64_t> by_sources(Rig& rig, const Job& job, std::uint32_t flags) {
  const std::uint64_t words = job.sources.size() / job.source_count;
  const std::uint64_t half = job.source_count / 2;
  const auto middle = job.sources.begin() + static_cast<std::ptrdiff_t>(half * words);
  rig.add(CommandKind::WriteMemory, 1, {job.sources.begin(), middle}).count = half * words;
  rig.add(CommandKind::WriteMemory, 2, {middle, middle + static_cast<std::ptrdiff_t>(half * words)})
      .count = half * words;
  // The last of an odd number is appended to the first chip's half.
  const auto rest = middle + static_cast<std::ptrdiff_t>(half * words);
  Command& c = rig.add(CommandKind::WriteMemory, 1, {rest, job.sources.end()});
  c.count = static_cast<std::uint64_t>(job.sources.end() - rest);
  c.address = half * words;
  Command& write = rig.add(CommandKind::WriteTargets, 3, job.targets);
  write.partition = ChipPartition::SourcesOverBlocks;
  write.count = job.target_count;
  const bool odd = job.source_count % 2 != 0;
  const std::uint32_t start = flags & ~run_end, end = flags & ~run_start;
  rig.run(3, ChipPartition::SourcesOverBlocks, 0, half, odd ? start : flags);
  if (odd) {
    rig.run(1, ChipPartition::SourcesOverBlocks, half * words, 1, flags & ~std::uint32_t{both});
    rig.run(3, ChipPartition::SourcesOverBlocks, 0, 0, end);
  }
  rig.read(3, ChipPartition::SourcesOverBlocks, job.target_count, read_combine);
  return rig.execute();
}

/// The largest difference of results that are doubles, relative to the largest result; other words
/// must be equal.
double largest_difference(const Program& program, const std::vector<std::uint64_t>& a,
                          const std::vector<std::uint64_t>& b) {
  const LinkLayout layout = link_layout(program);
  double difference = 0, largest = 1e-30;
  for (std::size_t i = 0; i < a.size() / layout.result_words; ++i)
    for (const auto& field : layout.results) {
      const std::size_t word = i * layout.result_words + field.half_word / 2;
      if (program.variables[field.variable].conversion.host != HostType::F64) {
        if (a[word] != b[word]) return 1;
        continue;
      }
      if (a[word] == b[word]) continue;
      difference = std::max(difference, std::abs(real(a[word]) - real(b[word])));
      largest = std::max(largest, std::abs(real(b[word])));
    }
  return difference / largest;
}

std::vector<Program> kernels() {
  std::vector<Program> programs;
  for (const std::string& name : Kernel::builtin_names()) {
    const Program program = Kernel::builtin(name).program();
    const LinkLayout layout = link_layout(program);
    if (layout.outputs.empty() && !layout.sources.empty() && !layout.targets.empty())
      programs.push_back(program);
  }
  return programs;
}

template <typename Work>
void on_all_engines(Work work) {
  for (const char* engine : {"native", "native-mixed", "native-float"})
    for (const Isa isa : host_isas()) work(engine, std::string(isa_name(isa)));
}

}  // namespace

TEST_CASE("packed targets give the same bits as blocks, for every kernel", "[board]") {
  const Geometry geometry = two_chips();
  unsigned packed = 0, all = 0;
  on_all_engines([&](const char* engine, const std::string& isa) {
    for (const Program& program : kernels())
      for (const auto& [targets, sources] :
           {std::pair<std::uint64_t, std::uint64_t>{1, 1}, {3, 2}, {16, 5}, {35, 64}, {130, 33}}) {
        const std::uint64_t most =
            2 * target_slots(program, geometry, ChipPartition::TargetsOverBlocks);
        const Job job = job_of(program, std::min(targets, most), sources);
        INFO(program.name << " on " << engine << ", " << isa << ": " << job.target_count
                          << " targets, " << sources << " sources");
        Rig blocks(geometry, engine, 1, isa.c_str()), vectors(geometry, engine, 2, isa.c_str());
        load(blocks, job);
        load(vectors, job);
        vectors.execute();
        const ChipState before = vectors.board.chip(0);
        const auto got = by_targets(vectors, job, both | run_results_only);
        // Packed targets do not change the state of the chip.
        const bool is_packed = vectors.board.chip(0) == before;
        packed += is_packed;
        ++all;
        const auto expected = by_targets(blocks, is_packed ? with_pads(job) : job, both);
        // Idle PEs of a block may cause a run of floats to be repeated in doubles; packed targets
        // have no idle PEs.
        if (std::string(engine) == "native")
          CHECK(got == expected);
        else
          CHECK(largest_difference(program, got, expected) < 1e-4);
      }
  });
  CAPTURE(all);
  CHECK(packed > all * 3 / 4);
}

TEST_CASE("special numbers of targets reach packed targets as they reach blocks", "[board]") {
  // Rounded, stored, copied from section to section: fields of all kinds, and a result that is one.
  const Program program = assembled(
      ".kernel k\nivar long xi f64to72\nivar short si f64to36\nivar short ni i64int\n"
      "ivar long wi f64to36\njvar long xj f64to72\nfvar long sum f64to72 fadd at $lr8v\n"
      "fvar short half f64to36 fadd at $r40v\nfvar short number i64int imax at $r44v\n"
      ".start\n  vlen 4\n  upass $lr8v 0\n  upass $lr48v 0\n"
      ".body\n  vlen 1\n  bget $lr32 xj\n  vlen 4\n  fadd $lr8v $lr8v xi\n"
      "  fadd $lr48v $lr48v $lr32\n"
      ".end\n  vlen 4\n  upass $r40v si\n  fadd $r40v $r40v wi\n  upass $r44v ni\n"
      "  imax $r44v $r44v 5\n  fadd $lr8v $lr8v $lr48v\n");
  const Geometry geometry = two_chips();
  Job job = job_of(program, 9 * 4, 7);
  const double tiny = 1e-310, huge = 1e308, infinity = std::numeric_limits<double>::infinity();
  const double numbers[] = {0.0, -0.0, tiny, -tiny, huge, -huge, infinity, -infinity, std::nan("")};
  const std::int64_t integers[] = {0, -1, 1, std::int64_t{1} << 35, -(std::int64_t{1} << 35) - 1};
  const LinkLayout layout = link_layout(program);
  for (std::size_t i = 0; i < job.target_count; ++i)
    for (std::size_t f = 0; f < layout.targets.size(); ++f) {
      std::uint64_t& word = job.targets[i * layout.target_words + layout.targets[f].half_word / 2];
      const Variable& v = program.variables[layout.targets[f].variable];
      if (v.conversion.host == HostType::F64)
        word = bits(numbers[(i / (f + 1)) % std::size(numbers)]);
      else
        word = static_cast<std::uint64_t>(integers[i % std::size(integers)]);
    }
  on_all_engines([&](const char* engine, const std::string& isa) {
    if (std::string(engine) != "native") return;
    Rig blocks(geometry, engine, 1, isa.c_str()), vectors(geometry, engine, 1, isa.c_str());
    load(blocks, job);
    load(vectors, job);
    CHECK(by_targets(vectors, job, both | run_results_only) == by_targets(blocks, job, both));
  });
}

TEST_CASE("targets whose Start stores a constant to the broadcast memory are packed", "[board]") {
  // Start computes and stores a word, which the loop reads: a constant, or one of PE 1's target.
  const auto program = [](const char* stored) {
    return assembled(
        std::string(".kernel k\nivar long xi f64to72\njvar long xj f64to72\nbm long word\n"
                    "fvar long sum f64to72 fadd at $lr8v\n.start\n  vlen 4\n  upass $lr8v 0\n"
                    "  fadd $lr16v xi xi\n  upass $lr24v 0.75\n  vlen 1\n  bput word ") +
        stored +
        " 1\n.body\n  vlen 1\n  bget $lr32 xj\n  bget $lr34 word\n  vlen 4\n"
        "  fmul $lr40v $lr16v $lr34\n  fadd $lr40v $lr40v $lr32\n  fadd $lr8v $lr8v $lr40v\n");
  };
  const Geometry geometry = two_chips();
  for (const auto& [stored, packed] : {std::pair{"$lr24", true}, {"$lr16", false}})
    for (const std::uint64_t targets : {1, 3, 35}) {
      const Job job = job_of(program(stored), targets, 33);
      INFO(stored << ", " << targets << " targets");
      Rig blocks(geometry, "native"), vectors(geometry, "native", 2);
      load(blocks, job);
      load(vectors, job);
      vectors.execute();
      const ChipState before = vectors.board.chip(0);
      CHECK(by_targets(vectors, job, both | run_results_only) == by_targets(blocks, job, both));
      CHECK((vectors.board.chip(0) == before) == packed);
    }
}

TEST_CASE("unguarded loops give the same bits as guarded ones", "[board]") {
  Geometry geometry = two_chips();
  geometry.blocks = 4;
  on_all_engines([&](const char* engine, const std::string& isa) {
    for (const char* const name :
         {"gravity", "gravity_jerk", "gravity_potential", "gravity_jerk_long", "gravity_nearest"})
      for (const Ids ids : {Ids::Few, Ids::InOrder, Ids::Any})
        for (const double eps2 : {0.5, 0.0}) {
          // Coordinates are from 4096 values: with 1000 sources some pairs coincide.
          const Job job = job_of(Kernel::builtin(name).program(), 45, 1000, ids);
          INFO(name << " on " << engine << ", " << isa << ", ids " << static_cast<int>(ids)
                    << ", eps2 " << eps2);
          Rig blocks(geometry, engine, 1, isa.c_str()), vectors(geometry, engine, 2, isa.c_str());
          load(blocks, job, eps2);
          load(vectors, job, eps2);
          // Only the sources of packed targets have ranges of ids by window.
          const auto got = by_targets(vectors, job, both | run_results_only);
          const auto expected = by_targets(blocks, with_pads(job), both);
          if (std::string(engine) == "native")
            CHECK(got == expected);
          else
            CHECK(largest_difference(job.program, got, expected) < 1e-4);
        }
  });
}

TEST_CASE("sums over all sources in one run equal those of one block", "[board]") {
  const Geometry geometry = two_chips();
  on_all_engines([&](const char* engine, const std::string& isa) {
    for (const char* const name : {"gravity", "gravity_jerk", "gravity_jerk_long",
                                   "gravity_nearest", "lennard_jones", "sph_density"})
      for (const std::uint64_t sources : {2, 5, 64, 301}) {
        const Job job = job_of(Kernel::builtin(name).program(), 21, sources);
        INFO(name << " on " << engine << ", " << isa << ": " << sources << " sources");
        Rig rig(geometry, engine, 1, isa.c_str());
        load(rig, job);
        const auto expected = by_targets(rig, job, both | run_results_only);
        rig.execute();
        constexpr std::uint32_t flags = both | run_results_only | run_reassociate;
        CHECK(by_sources(rig, job, flags) == expected);
      }
  });
}

TEST_CASE("few targets with many sources: slices are joined independently of the threads",
          "[board]") {
  const Geometry geometry = two_chips();
  on_all_engines([&](const char* engine, const std::string& isa) {
    for (const char* const name : {"gravity", "gravity_jerk_long", "gravity_nearest"}) {
      const Job job = job_of(Kernel::builtin(name).program(), 9, 36001);
      INFO(name << " on " << engine << ", " << isa);
      constexpr std::uint32_t flags = both | run_results_only;
      std::vector<std::vector<std::uint64_t>> sliced;
      for (const unsigned threads : {1U, 3U}) {
        Rig rig(geometry, engine, threads, isa.c_str());
        load(rig, job);
        const auto whole = by_targets(rig, job, flags);
        rig.execute();
        sliced.push_back(by_sources(rig, job, flags | run_reassociate));
        const bool floats = std::string(engine) != "native";
        CHECK(largest_difference(job.program, sliced.back(), whole) < (floats ? 1e-4 : 1e-9));
      }
      CHECK(sliced[0] == sliced[1]);
    }
  });
}

TEST_CASE("lanes that divide the sources of few targets give the sums of all, for every kernel",
          "[board]") {
  const Geometry geometry = two_chips();
  constexpr std::uint32_t flags = both | run_results_only;
  unsigned divided = 0, all = 0;
  const auto is_list = [](const Variable& v) {
    return v.kind == VarKind::Result && v.reduce == Reduce::Pass;
  };
  on_all_engines([&](const char* engine, const std::string& isa) {
    for (const Program& program : kernels()) {
      if (std::ranges::any_of(program.variables, is_list)) continue;
      for (const auto& [targets, items] :
           {std::pair<std::uint64_t, std::uint64_t>{1, 1700}, {2, 4097}, {3, 6151}}) {
        // So many groups of sources.
        const Job job = job_of(program, targets, items * program.group + items % 2, Ids::InOrder);
        INFO(program.name << " on " << engine << ", " << isa << ": " << targets << " targets, "
                          << job.source_count << " sources");
        std::vector<std::vector<std::uint64_t>> joined;
        for (const unsigned threads : {1U, 3U}) {
          Rig rig(geometry, engine, threads, isa.c_str());
          load(rig, job);
          joined.push_back(by_sources(rig, job, flags | run_reassociate));
          rig.execute();
          CHECK(by_sources(rig, job, flags | run_reassociate) == joined[0]);
        }
        CHECK(joined[0] == joined[1]);
        Rig rig(geometry, engine, 1, isa.c_str());
        load(rig, job);
        const auto whole = by_targets(rig, job, flags);
        const bool floats = std::string(engine) != "native";
        CHECK(largest_difference(program, joined[0], whole) < (floats ? 1e-4 : 1e-9));
        divided += joined[0] != whole;
        ++all;
      }
    }
  });
  CAPTURE(divided, all);
  CHECK(divided > all / 2);
}

namespace {

/// Sends all sources to all chips and runs on the first.
std::vector<std::uint64_t> on_one_chip(Rig& rig, const Job& job, ChipPartition partition,
                                       std::uint32_t flags) {
  rig.add(CommandKind::WriteMemory, 3, job.sources).count = job.sources.size();
  Command& write = rig.add(CommandKind::WriteTargets, 1, job.targets);
  write.partition = partition;
  write.count = job.target_count;
  rig.run(1, partition, 0, job.source_count, flags);
  rig.read(1, partition, job.target_count);
  return rig.execute();
}

}  // namespace

TEST_CASE("a changed source takes effect, and only written words change results", "[board]") {
  const Geometry geometry = two_chips();
  const Program program = Kernel::builtin("gravity_jerk").program();
  const std::string engine = GENERATE("native", "vector");
  const ChipPartition partition =
      GENERATE(ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks);
  // With 5000 sources the native engine also inserts padding groups between them.
  const std::uint64_t sources = GENERATE(500U, 5000U);
  CAPTURE(engine, partition == ChipPartition::TargetsOverBlocks, sources);
  const bool packed = engine == "native" && partition == ChipPartition::TargetsOverBlocks;
  Job job = job_of(program, 20, sources);
  const std::uint64_t words = job.sources.size() / job.source_count;
  Rig rig(geometry, engine.c_str());
  load(rig, job);
  on_one_chip(rig, job, partition, both | run_results_only);
  std::mt19937 random(3);
  for (unsigned change = 0; change < 60; ++change) {
    const bool few = random() % 2 == 0;
    const std::uint64_t first = random() % sources, left = sources - first;
    const std::uint64_t n = 1 + random() % (few ? std::min<std::uint64_t>(3, left) : left);
    const auto fresh = records(program, VarKind::Source, n, change + 10);
    const auto at = job.sources.begin() + static_cast<std::ptrdiff_t>(first * words);
    std::copy(fresh.begin(), fresh.end(), at);
    Command& c = rig.add(CommandKind::WriteMemory, 3, fresh);
    c.address = first * words;
    c.count = n * words;
    if (change % 3 != 0) continue;  // runs follow one or several changes
    Command& write = rig.add(CommandKind::WriteTargets, 1, job.targets);
    write.partition = partition;
    write.count = job.target_count;
    rig.run(1, partition, 0, sources, both | run_results_only);
    rig.read(1, partition, job.target_count);
    const auto got = rig.execute();
    Rig other(geometry, engine.c_str());
    load(other, job);
    const std::uint32_t flags = packed ? both : both | run_results_only;
    REQUIRE(got == on_one_chip(other, packed ? with_pads(job) : job, partition, flags));
  }
}

TEST_CASE("a changed source takes effect in lanes that divide the sources", "[board]") {
  constexpr std::uint32_t flags = both | run_results_only | run_reassociate;
  const Geometry geometry = two_chips();
  const Program program = Kernel::builtin(GENERATE("gravity_jerk", "lennard_jones")).program();
  const std::uint64_t sources = GENERATE(5000U, 70001U);
  CAPTURE(program.name, sources);
  Job job = job_of(program, 2, sources, Ids::InOrder);
  const std::uint64_t words = job.sources.size() / job.source_count;
  constexpr ChipPartition partition = ChipPartition::SourcesOverBlocks;
  Rig rig(geometry, "native");
  load(rig, job);
  on_one_chip(rig, job, partition, flags);
  std::mt19937 random(3);
  for (unsigned change = 0; change < 12; ++change) {
    const std::uint64_t most = change % 4 == 0 ? sources : 3;
    const std::uint64_t n = 1 + random() % most;
    // Often the last one, of which pads are copies.
    const std::uint64_t first = change % 3 == 0 ? sources - n : random() % (sources - n + 1);
    const auto fresh = records(program, VarKind::Source, n, change + 10);
    std::copy(fresh.begin(), fresh.end(),
              job.sources.begin() + static_cast<std::ptrdiff_t>(first * words));
    Command& c = rig.add(CommandKind::WriteMemory, 3, fresh);
    c.address = first * words;
    c.count = n * words;
    // Now and then many targets, with which the lanes have the same sources, come between.
    const std::uint64_t targets = change % 5 == 4 ? 16 : 2;
    const Job now{program, records(program, VarKind::Target, targets, change), job.sources, targets,
                  sources};
    Command& write = rig.add(CommandKind::WriteTargets, 1, now.targets);
    write.partition = partition;
    write.count = targets;
    rig.run(1, partition, 0, sources, flags);
    rig.read(1, partition, targets);
    const auto got = rig.execute();
    Rig other(geometry, "native");
    load(other, job);
    REQUIRE(got == on_one_chip(other, now, partition, flags));
  }
}

TEST_CASE("sums of floats do not depend on what elements without a target held before", "[board]") {
  const Geometry geometry = two_chips();
  // Elements that are not computed alike: those of the only PE that have no target take part.
  const Job job = job_of(Kernel::builtin("gravity_softened_long").program(), 2, 301);
  Job far = job_of(job.program, 64, 5);
  for (std::uint64_t& word : far.targets)
    if (word > 16) word = bits(1e30 * real(word));
  constexpr std::uint32_t flags = both | run_results_only;
  on_all_engines([&](const char* engine, const std::string& isa) {
    INFO(engine << ", " << isa);
    const auto sums = [&](const Job& given) {
      Rig rig(geometry, engine, 1, isa.c_str());
      load(rig, given, 0);
      return by_targets(rig, given, flags);
    };
    std::vector<std::uint64_t> first;
    std::thread([&] { first = sums(job); }).join();  // blocks are those of a thread
    sums(far);
    CHECK(sums(job) == first);
  });
}

TEST_CASE("parameters that change between packed calls take effect", "[board]") {
  const Geometry geometry = two_chips();
  const Job job = job_of(Kernel::builtin("gravity").program(), 9, 40);
  const auto forces = [](Rig& rig, const Job& given, double eps2, std::uint32_t flags) {
    rig.add(CommandKind::WriteParam, 1, {bits(eps2)});
    rig.add(CommandKind::WriteMemory, 1, given.sources).count = given.sources.size();
    rig.add(CommandKind::WriteTargets, 1, given.targets).count = given.target_count;
    rig.run(1, ChipPartition::TargetsOverBlocks, 0, given.source_count, flags);
    rig.read(1, ChipPartition::TargetsOverBlocks, 9);
    return rig.execute();
  };
  Rig packed(geometry, "native"), blocks(geometry, "native");
  packed.load(job.program);
  blocks.load(job.program);
  for (const double eps2 : {0.5, 0.25, 0.25, 2.0, 0.5})
    REQUIRE(forces(packed, job, eps2, both | run_results_only) ==
            forces(blocks, with_pads(job), eps2, both));
}

TEST_CASE("a program that is loaded again does not keep its parameters", "[board]") {
  const std::string engine = GENERATE("native", "vector");
  CAPTURE(engine);
  const Job job = job_of(Kernel::builtin("gravity").program(), 9, 40, Ids::InOrder);
  const auto forces = [&](Rig& rig) {
    rig.add(CommandKind::WriteMemory, 1, job.sources).count = job.sources.size();
    rig.add(CommandKind::WriteTargets, 1, job.targets).count = job.target_count;
    rig.run(1, ChipPartition::TargetsOverBlocks, 0, job.source_count, both | run_results_only);
    rig.read(1, ChipPartition::TargetsOverBlocks, 9);
    return rig.execute();
  };
  Rig fresh(two_chips(), engine.c_str()), again(two_chips(), engine.c_str());
  fresh.load(job.program);
  const auto without = forces(fresh);
  again.load(job.program);
  again.add(CommandKind::WriteParam, 1, {bits(0.5)});
  CHECK(forces(again) != without);
  again.load(job.program);
  CHECK(forces(again) == without);
}

TEST_CASE("targets of an earlier list take part in a run that names their number", "[board]") {
  const Job job = job_of(Kernel::builtin("gravity").program(), 20, 40, Ids::InOrder);
  const std::size_t words = job.targets.size() / job.target_count;
  const auto results = [&](const char* engine) {
    Rig rig(two_chips(), engine);
    load(rig, job);
    rig.add(CommandKind::WriteMemory, 3, job.sources).count = job.sources.size();
    rig.add(CommandKind::WriteTargets, 3, job.targets).count = 20;
    rig.run(3, ChipPartition::TargetsOverBlocks, 0, job.source_count, both);
    rig.execute();
    // Chip 1 gets ten targets, and keeps the others.
    rig.add(CommandKind::WriteTargets, 1, job.targets).count = 20;
    const auto last = job.targets.end() - static_cast<std::ptrdiff_t>(10 * words);
    rig.add(CommandKind::WriteTargets, 2, {last, job.targets.end()}).count = 10;
    rig.run(3, ChipPartition::TargetsOverBlocks, 0, job.source_count, both | run_results_only);
    rig.list.commands.back().targets = 20;
    for (const std::uint64_t chip : {1, 2}) rig.read(chip, ChipPartition::TargetsOverBlocks, 20);
    return rig.execute();
  };
  CHECK(results("vector") == results("reference"));
}
