// Idle clocks: counts computed by hand, and random programs against a simulation of the clock.
#include <map>
#include <random>
#include <tuple>

#include "assembler/support.hpp"
#include "emulator/isa/ports.hpp"

namespace gdr::test {
namespace {

std::string body_shape(const std::string& lines) {
  return shape_of(assembled(".body\nvlen 1\n" + lines), Section::Body);
}

}  // namespace

TEST_CASE("idle clocks separate a write from a dependent read") {
  CHECK(body_shape("fadd $lr0 $lr8 $lr8\nfadd $lr2 $lr0 $lr8\n") == "I3I");
  CHECK(body_shape("fadd $lr0 $lr8 $lr8\nnop\nfadd $lr2 $lr0 $lr8\n") == "I12I");
  CHECK(body_shape("fadd $lr0 $lr8 $lr8\nfadd $lr2 $lr10 $lr8\n") == "II");
  CHECK(body_shape("fadd $lr0 $lr8 $lr8\nfadd $r2 $r1 $r20\n") == "I3I");    // half of a long
  CHECK(body_shape("fadd $r1 $r8 $r8\nfadd $lr2 $lr0 $lr8\n") == "I3I");     // long over a half
  CHECK(body_shape("fadd $r1 $r8 $r8\nfadd $r4 $r0 $r8\n") == "II");         // the other half
  CHECK(body_shape("dmul $lr0 $lr8 $lr8\nfadd $lr2 $lr0 $lr8\n") == "I3I");  // written in clock 1
  CHECK(body_shape("dmul $lr4 $lr8 $lr8 ; fadd $lr0 $lr8 $lr8\nfadd $lr2 $lr0 $lr8\n") == "I2I");
  CHECK(body_shape("fadd m0.neg $lr8 $lr8\n[m0] fadd $lr2 $lr10 $lr8\n") == "I3I");
  CHECK(body_shape("fadd $t $lr8 $lr8\nfadd $r2 $tl $r8\n") == "I3I");
  CHECK(body_shape("fadd $lm0 $lr8 $lr8\nfadd $lr2 $lm[$t] $lr8\n") == "I3I");
  CHECK(body_shape("fadd $lm0 $lr8 $lr8\nfadd $lr2 $lm[$t:1..9] $lr8\n") == "II");
  CHECK(body_shape("fadd $lm[$t] $lr8 $lr8\nfadd $lr2 $lm40 $lr8\n") == "I3I");
  CHECK(body_shape("bput $lb0 $lr8 3\nbget $lr2 $lb0\n") == "I3I");
  CHECK(body_shape("bput $lb0 $lr8 3\nbget $lr2 $lb2\n") == "II");
}

TEST_CASE("element-wise vector operands never wait, others wait for the writing element") {
  CHECK(body_shape("vlen 4\nfadd $lr0v $lr8v $lr8v\nfadd $lr8v $lr0v $lr0v\n") == "II");
  // Element 0 reads what element 3 wrote one clock before.
  CHECK(body_shape("vlen 4\nfadd $lr0v $lr8v $lr8v\nfadd $lr16v $lr6 $lr40\n") == "I3I");
  CHECK(body_shape("vlen 4\nfadd $lr0v $lr8v $lr8v\nfadd $lr16v $lr2v $lr40\n") == "I1I");
  CHECK(body_shape("vlen 2\nfadd $lr0v $lr8v $lr8v\nfadd $lr16v $lr0v $lr40\n") == "I2I");
}

TEST_CASE("dependences over the loop's back edge are met with the shortest body") {
  CHECK(body_shape("fadd $lr0 $lr0 $lr8\n") == "3I");
  CHECK(body_shape("fadd $lr2 $lr0 $lr8\nfadd $lr0 $lr10 $lr8\n") == "3II");
  CHECK(body_shape("fadd $lr2 $lr10 $lr8\nfadd $lr4 $lr0 $lr8\nfadd $lr0 $lr12 $lr8\n") == "I2II");
  // The idle clocks in the middle serve both the inner wait and the back edge.
  CHECK(body_shape("fadd $lr2 $lr10 $lr8\nfadd $lr10 $lr2 $lr8\n") == "3I3I");
  CHECK(body_shape("nop\nnop\nnop\nfadd $lr0 $lr0 $lr8\n") == "111I");
}

TEST_CASE("stream items of successive iterations are distinct locations") {
  const Program moving =
      assembled("jvar long a f64to72\n.body\nvlen 1\nbget $lr0 a\nbput a $lr8 0\n");
  CHECK(shape_of(moving, Section::Body) == "II");
  const Program fixed = assembled("bm long a\n.body\nvlen 1\nbget $lr0 a\nbput a $lr8 0\n");
  CHECK(shape_of(fixed, Section::Body) == "3II");
}

TEST_CASE("dependences between sections are met on all paths") {
  const std::string write = "vlen 1\nfadd $lr0 $lr8 $lr8\n";
  const std::string read = "vlen 1\nfadd $lr2 $lr0 $lr10\n";
  const Program init = assembled(".init\n" + write + ".start\n" + read);
  CHECK(shape_of(init, Section::Start) == "3I");
  // A stall that only the first iteration needs is inserted once, before the loop.
  const Program start = assembled(".start\n" + write + ".body\n" + read);
  CHECK(shape_of(start, Section::Start) == "I3");
  CHECK(shape_of(start, Section::Body) == "I");
  const Program end = assembled(".body\n" + write + ".end\n" + read);
  CHECK(shape_of(end, Section::End) == "3I");
  const Program none = assembled(".start\n" + write + ".end\n" + read);  // also with no iteration
  CHECK(shape_of(none, Section::End) == "3I");
  const Program again = assembled(".start\n" + read + ".end\n" + write);  // the next run
  CHECK(shape_of(again, Section::Start) == "3I");
  const Program through = assembled(".init\n" + write + ".end\n" + read);  // empty sections between
  CHECK(shape_of(through, Section::Start) + shape_of(through, Section::End) == "3I");
}

TEST_CASE("stall errors name reader, writer and clocks") {
  AssembleOptions options;
  options.stall_is_error = true;
  const AssembleResult r =
      assemble(".body\nvlen 1\nfadd $lr2 $lr0 $lr8\nfadd $lr0 $lr10 $lr8\n", "t.gds", options);
  REQUIRE(r.diagnostics.list.size() == 1);
  const Diagnostic& d = r.diagnostics.list.front();
  CHECK(d.range.line == 3);
  CHECK(d.label.find("iteration before") != std::string::npos);
  REQUIRE(d.notes.size() == 1);
  CHECK(d.notes[0].range.line == 4);
  CHECK(assembled(".body\nfadd $lr0v $lr8v $lr8v\nfadd $lr8v $lr0v $lr0v\n", options)
            .clocks(Section::Body) == 8);
}

namespace {

/// The clock as the contract defines it, element by element, along one path through the sections.
class PlainClock {
 public:
  explicit PlainClock(const Program& program) : program_(program) {}

  void run(Section s) {
    if (s == Section::Body) ++iteration_;
    for (const Instruction& i : program_.section(s)) {
      for (unsigned k = 0; k < i.vlen; ++k) element(i, k);
      now_ += i.clocks();
    }
  }
  /// Shortest time between a write and a read of the same short.
  std::int64_t shortest = 1000;

 private:
  using Key = std::tuple<int, std::uint32_t, std::uint64_t>;

  void element(const Instruction& i, unsigned k) {
    std::vector<Access> accesses;
    accesses_of_element(i, k, geometry_, accesses);
    for (const Access& a : accesses) {
      for (std::uint32_t n = 0; n < a.shorts; ++n) {
        const bool by_element = a.what == Access::What::T || a.what == Access::What::Mask;
        const bool moves = a.what == Access::What::BmSource || a.what == Access::What::BmOutput;
        const Key key{static_cast<int>(a.what), a.address + n,
                      by_element ? k
                      : moves    ? iteration_
                                 : 0};
        const std::int64_t issue = now_ + static_cast<std::int64_t>(k) * i.stride();
        if (a.write) {
          // Later than the remaining reads of this instruction: recorded at its end.
          pending_.push_back({key, issue + (a.slot == 0 && i.stride() == 2 ? 1 : 0)});
        } else if (const auto found = written_.find(key); found != written_.end()) {
          shortest = std::min(shortest, issue - found->second);
        }
      }
    }
    if (k + 1 == i.vlen) {
      for (const auto& [key, time] : pending_) written_[key] = time;
      pending_.clear();
    }
  }

  const Program& program_;
  Geometry geometry_;
  std::int64_t now_ = 0;
  std::uint64_t iteration_ = 0;
  std::map<Key, std::int64_t> written_;
  std::vector<std::pair<Key, std::int64_t>> pending_;
};

std::string random_line(std::mt19937& random) {
  static const char* const lines[] = {"fadd $lr{A} $lr{B} $lr{C}",
                                      "fmul $r{A} $r{B} $lr{C}",
                                      "dmul $lr{A} $lr{B} $lr{C}",
                                      "fadd $lr{A}v $lr{B}v $lr{C}",
                                      "dmul $lr{A}v $lr{B} $lr{C}v ; fadd $t $lr{B} 1.5",
                                      "iadd $lm{A} $lr{B} $t",
                                      "ipass $t:m1.neg $lr{B}",
                                      "[m1] fadd $r{A}v $r{B} $th",
                                      "fadd $lr{A} $lm[$t] $lr{C}",
                                      "fadd $lm[$t:1..3]:$t $lr{A} 1.0",
                                      "bget $lr{A}v $lb{B}v",
                                      "bput $lb{A} $lr{B} 3",
                                      "bget $lr{A} $ls{B}",
                                      "bput $ls{A} $lr{B} 1",
                                      "nop",
                                      "fmul $t $lm{A} $lr{B}"};
  std::string line = lines[random() % std::size(lines)];
  for (const char* name : {"{A}", "{B}", "{C}"}) {
    const std::size_t at = line.find(name);
    if (at != std::string::npos) line.replace(at, 3, std::to_string(2 * (random() % 4)));
  }
  return "vlen " + std::to_string(1 + random() % 4) + "\n" + line + "\n";
}

}  // namespace

TEST_CASE(
    "random programs have no early read on any path and no redundant idle clock in the body") {
  std::mt19937 random(20240607);
  unsigned assembled = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = ".item 32\n";
    for (const char* section : {".init", ".start", ".body", ".end"}) {
      text += std::string(section) + "\n";
      for (auto n = random() % 5; n > 0; --n) {
        std::string line = random_line(random);
        const bool item = line.find("$ls") != std::string::npos;
        if (!item || std::string(section) == ".body") text += line;
      }
    }
    const AssembleResult result = assemble(text, "t.gds");
    if (!result.ok()) continue;  // a port limit
    ++assembled;
    INFO(text);
    for (const unsigned iterations : {0U, 1U, 3U}) {
      PlainClock clock(*result.program);
      clock.run(Section::Init);
      for (int run = 0; run < 2; ++run) {
        clock.run(Section::Start);
        for (unsigned n = 0; n < iterations; ++n) clock.run(Section::Body);
        clock.run(Section::End);
      }
      REQUIRE(clock.shortest >= 4);
    }
    // The loop alone: with any one idle clock removed, a read is too early.
    Program shorter = *result.program;
    auto& body = shorter.section(Section::Body);
    for (std::size_t i = 0; i < body.size(); ++i) {
      const bool padded = body[i].idle() && text.find("nop") == std::string::npos;
      if (!padded) continue;
      const Instruction kept = body[i];
      if (kept.vlen == 1)
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
      else
        --body[i].vlen;
      PlainClock clock(shorter);
      for (int n = 0; n < 4; ++n) clock.run(Section::Body);
      CHECK(clock.shortest < 4);
      if (kept.vlen == 1)
        body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), kept);
      else
        body[i] = kept;
    }
  }
  CHECK(assembled > 500);
}

}  // namespace gdr::test
