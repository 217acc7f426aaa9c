// Bodies that read the moving part of the broadcast memory: every engine provides the halves'
// contents of the pass.
#include <cmath>
#include <string>

#include "board/programs.hpp"
#include "emulator/assembler/assembler.hpp"
#include "emulator/engine/api/check.hpp"
#include "kernels/builtin.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::test;

namespace {

struct Setting {
  const char *engine, *isa;
};

/// All engines but the reference, on all instruction sets of the host.
std::vector<Setting> settings() {
  std::vector<Setting> list;
  for (const Isa isa : host_isas()) {
    for (const char* engine : {"vector", "native"}) list.push_back({engine, isa_name(isa).data()});
  }
  return list;
}

struct BodyShape {
  ChipPartition partition;
  unsigned blocks;
  std::size_t items;
  std::uint32_t flags;
};

/// Runs on equal and on different j-items: cached items must not affect later runs.
std::vector<std::uint64_t> results(const Program& program, const Setting& setting,
                                   const BodyShape& shape) {
  Geometry geometry = small_geometry(1, shape.blocks, 4, 32);
  geometry.local_words = 64;
  Rig rig(geometry, setting.engine, 1, setting.isa);
  rig.load(program);
  const std::uint64_t slots =
      program.elements * 4 *
      (shape.partition == ChipPartition::SourcesOverBlocks ? 1 : shape.blocks);
  std::vector<std::uint64_t> all;
  double last = 0;
  for (const double first : {101.0, 101.0, 0.5, 0.5}) {
    std::vector<double> items, targets;
    for (std::size_t i = 0; i < shape.items; ++i) items.push_back(first + static_cast<double>(i));
    for (std::size_t i = 0; i < slots; ++i) targets.push_back(first - static_cast<double>(i % 3));
    if (all.empty() || first != last) rig.write(1, 0, items);
    last = first;
    rig.targets(1, shape.partition, targets);
    rig.run(1, shape.partition, 0, shape.items, shape.flags);
    rig.list.commands.back().output_address = 5000;
    rig.read(1, shape.partition, slots);
    if (program.output_shorts != 0 && (shape.flags & run_return) == 0) {
      Command& items_left = rig.add(CommandKind::ReadMemory);
      items_left.address = 5000;
      items_left.count = shape.items;
    }
    const auto some = rig.execute();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

bool agree(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b, bool exact) {
  if (exact) return a == b;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(real(a[i]) - real(b[i])) > 1e-6 * std::abs(real(b[i]))) return false;
  }
  return a.size() == b.size();
}

void compare(const std::string& text) {
  const Program program = assembled(text);
  for (const std::uint32_t flags : {run_start | run_end, run_start | run_end | run_results_only,
                                    run_start | run_end | run_return}) {
    const bool returns = (flags & run_return) != 0;
    if (returns && program.output_shorts == 0) continue;
    for (const ChipPartition partition :
         {ChipPartition::TargetsOverBlocks, ChipPartition::SourcesOverBlocks}) {
      if (returns && partition == ChipPartition::SourcesOverBlocks) continue;
      for (const unsigned blocks : {1U, 3U}) {
        for (const std::size_t items : {1U, 2U, 13U, 40U, 1200U}) {
          const BodyShape shape{partition, blocks, items, flags};
          CAPTURE(text, partition == ChipPartition::TargetsOverBlocks, blocks, items, flags);
          const auto expected = results(program, {"reference", ""}, shape);
          for (const Setting& s : settings()) {
            CAPTURE(s.engine, s.isa);
            CHECK(agree(results(program, s, shape), expected, s.engine != std::string("native")));
          }
        }
      }
    }
  }
}

std::string kernel(const std::string& declarations, const std::string& body,
                   const std::string& start = "", const std::string& end = "") {
  return ".kernel k\n.unchecked\n.fixed 4\nivar long xi f64to72\njvar long xj f64to72\nfvar long p "
         "f64to72 fadd\n" +
         declarations + ".start\nvlen 4\nupass p 0\n" + start + ".body\nvlen 4\nbget $lr0 xj\n" +
         body + ".end\n" + end;
}

}  // namespace

TEST_CASE("a body that reads beyond the fixed part reads the j-items of its own pass", "[board]") {
  for (const char* at : {"$b8", "$b5", "$b30", "$b40", "$b62"}) {
    compare(kernel("", "bget $r2 " + std::string(at) + "\nfadd p p $r2\n"));
  }
}

TEST_CASE("sections around the body that read beyond the fixed part read the memory's contents",
          "[board]") {
  compare(kernel("", "fadd p p $lr0\n", "bget $lr4 $lb8\n",
                 "bget $lr6 $lb40\nfadd p p $lr6\nfadd p p $lr4\n"));
}

TEST_CASE(
    "an output item that is read before it is written holds the previous contents of its half",
    "[board]") {
  compare(
      kernel("ovar long w f64to72 fadd\n",
             "bget $lr4 w\nfadd $lr6 $lr4 $lr0\nvlen 1\nbput w $lr6 1\nvlen 4\nfadd p p $lr4\n"));
}

TEST_CASE("an output item that is not written holds the previous contents of its half", "[board]") {
  compare(kernel("ovar long w f64to72 fadd\novar long v f64to72 fadd\n",
                 "fsub m0.neg $lr0 200.0\nfadd p p $lr0\nvlen 1\n[m0] bput w $lr0 1\n"));
}

TEST_CASE("words stored to an output item without a variable are ignored", "[board]") {
  compare(kernel(".output 2\nbm long c\n",
                 "fadd p p $lr0\nvlen 1\nbput $lo0 $lr0 1\nbget $lr4 c\nvlen 4\nfadd p p $lr4\n"));
}

TEST_CASE("kernels of the library accept streams", "[board]") {
  for (const BuiltinKernel& kernel : builtin_kernels()) {
    CAPTURE(kernel.name);
    const AssembleResult made = assemble(kernel.source, "kernel");
    REQUIRE(made.ok());
    CHECK(body_accepts_streams(*made.program));
  }
}
