// Tables of parameters on the native engine: which programs it compiles, and that results are those
// of the kernel's graph in long doubles, or the bits of the reference engine.
#include <random>
#include <string>
#include <vector>

#include "engine/all_engines.hpp"
#include "engine/random_text.hpp"
#include "support/assembled.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

/// Numbers in steps of 1/8, so that no rounding decides about an index.
std::vector<double> eighths(std::mt19937_64& random, std::size_t count) {
  std::vector<double> list;
  for (std::size_t k = 0; k < count; ++k)
    list.push_back(static_cast<double>(random() % 48) / 8 - 3);
  return list;
}

void set_table(Data& data, const std::string& name, const std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    data[name + "_" + std::to_string(k)] = {values[k]};
}

/// Inputs of all kernels here: ints a of targets and b of sources, numbers x and u, and tables.
const std::string table_head =
    "CONST table t[9], s[3][4]; CONST long table w[6]; CONST table int order[5];\n"
    "VARI int a; VARI x; VARJ int b; VARJ u; VARF f;\n";

Data inputs(std::uint64_t seed, std::size_t targets, std::size_t sources) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-2, 2);
  Data data;
  const auto ints = [&](std::size_t count, unsigned end) {
    std::vector<double> list;
    for (std::size_t k = 0; k < count; ++k) list.push_back(static_cast<double>(random() % end));
    return list;
  };
  const auto numbers = [&](std::size_t count) {
    std::vector<double> list;
    for (std::size_t k = 0; k < count; ++k)
      list.push_back(static_cast<double>(static_cast<float>(number(random))));
    return list;
  };
  data["a"] = ints(targets, 3);
  data["b"] = ints(sources, 4);
  data["x"] = eighths(random, targets);
  data["u"] = eighths(random, sources);
  set_table(data, "t", numbers(9));
  set_table(data, "s", numbers(12));
  set_table(data, "w", numbers(6));
  set_table(data, "order", ints(5, 6));
  return data;
}

/// Statistics of a native job.
Statistics statistics_of(const Kernel& kernel, const Data& data, const std::string& engine) {
  Device device = Device::open("emulator:chips=1,blocks=2,pes=4,threads=1,engine=" + engine);
  Job job = device.job(kernel);
  std::vector<std::int64_t> a, b;
  for (const double value : data.at("a")) a.push_back(static_cast<std::int64_t>(value));
  for (const double value : data.at("b")) b.push_back(static_cast<std::int64_t>(value));
  for (const KernelVariable& v : kernel.variables())
    if (v.role == Role::Param) job.set(v.name, data.at(v.name)[0]);
  job.targets(a.size(), {{"a", a.data()}, {"x", ConstArray(data.at("x"))}});
  job.sources(b.size(), {{"b", b.data()}, {"u", ConstArray(data.at("u"))}});
  std::vector<double> f(a.size());
  job.run({{"f", MutableArray(f)}});
  return device.statistics();
}

struct NamedEngine {
  std::string name;
  double tolerance;
};
std::vector<NamedEngine> table_engines() {
  std::vector<NamedEngine> all;
  for (const Isa isa : host_isas()) {
    const std::string on = ",isa=" + std::string(isa_name(isa));
    all.push_back({"native" + on, 1e-6});
    all.push_back({"native-float" + on, 1e-5});
    all.push_back({"native-mixed" + on, 1e-5});
  }
  return all;
}

/// Checks a kernel's results on all engines, with and without its schedule.
void check_tables(const std::string& text, const Data& data) {
  const kc::Graph graph = graph_of(text);
  const std::size_t targets = data.at("a").size(), sources = data.at("b").size();
  const std::vector<Expected> right = all_expected(graph, data, targets, sources);
  std::vector<NamedEngine> engines = table_engines();
  engines.push_back({"vector", 1e-6});
  for (const bool scheduled : {false, true}) {
    const Kernel kernel =
        scheduled ? Kernel(*compiled(text).program) : Kernel::compile(text, "test.gdk");
    for (const NamedEngine& engine : engines) {
      const Data got = run(kernel, data, targets, sources, engine.name);
      for (std::size_t v = 0; v < graph.variables.size(); ++v) {
        if (graph.variables[v].kind != VarKind::Result) continue;
        for (std::size_t t = 0; t < targets; ++t) {
          const double value = got.at(graph.variables[v].name)[t];
          // Terms may be differences of larger numbers; wrong elements differ by much more.
          const long double size = right[t].size[v] + 10 * static_cast<long double>(sources);
          INFO(text << '\n'
                    << engine.name << (scheduled ? ", scheduled" : "") << ", target " << t << ", "
                    << graph.variables[v].name << ": " << value << " instead of "
                    << static_cast<double>(right[t].value[v]));
          REQUIRE(std::fabs(value - right[t].value[v]) <= engine.tolerance * size);
        }
      }
    }
  }
}

/// The linear interpolation of t in x, limited to its range.
const std::string interpolation =
    "d = u - x; y = min(d*d*0.5, 7.75); k = int(y); r = y - k;\nf += u*(t[k] + r*(t[k + 1] - "
    "t[k]));\n";

/// Writes a kernel with one to three contributions that read tables.
class TableAuthor : RandomText {
 public:
  using RandomText::RandomText;

  std::string write() {
    std::string text = table_head + "d = u - x; r2 = d*d;\n";
    if (below(3) == 0) {
      text += "k = " + index(5) + ";\n";
      has_index_ = true;
    }
    if (below(4) == 0) text += "skip if (" + condition() + ");\n";
    for (unsigned n = 1 + below(3); n > 0; --n) {
      const std::string sum = "f += " + number(2) + ";\n";
      text += below(3) == 0 ? "if (" + condition() + ") { " + sum + "}\n" : sum;
    }
    return text;
  }

 private:
  std::string condition() {
    return one_of("d < 0.25", "a < b", "r2 > 1", "u > x && b > 1", "a == 1");
  }
  /// An int from 0 to `last`, which is at least 5.
  std::string index(int last) {
    const std::string most = std::to_string(last);
    if (has_index_ && below(4) == 0) return "k";
    switch (below(9)) {
      case 0:
        return "a";
      case 1:
        return "a + b";
      case 2:
        return "min(int(r2), " + most + ")";
      case 3:
        return "int(min(r2, " + most + ".5))";
      case 4:
        return "max(min(int(2*d), " + most + "), 0)";
      case 5:
        return "order[" + one_of("a", "b", "min(int(r2), 4)", "4") + "]";
      case 6:
        return "(a + b*3) % " + most;
      case 7:
        return one_of("int(abs(x))", "max(order[a], order[b])");
      default:
        return std::to_string(below(static_cast<unsigned>(last + 1)));
    }
  }
  std::string element() {
    switch (below(4)) {
      case 0:
        return "t[" + index(8) + "]";
      case 1:
        return "s[" + one_of("a", "min(int(r2), 2)", "2") + "][" +
               one_of("b", "3", "int(min(abs(u), 3.5))") + "]";
      case 2:
        return "w[" + index(5) + "]";
      default:
        return "short(order[" + one_of("a", "b") + "])";
    }
  }
  std::string number(int depth) {
    if (depth == 0) return below(3) == 0 ? one_of("u", "d", "0.5", "x") : element();
    const std::string one = element(), other = number(depth - 1);
    return one_of("(" + one + " + " + other + ")", "(" + one + ")*(" + other + ")",
                  "(" + condition() + " ? " + one + " : " + other + ")",
                  "max(" + one + ", " + other + ")", other + " - r2*" + one);
  }

  bool has_index_ = false;  ///< whether k is one
};

/// An assembled program with the parameters p_0 to p_3, which Start copies to $m4 to $m7.
Program program_of(const std::string& body, const std::string& end = "    nop\n",
                   const std::string& more = "") {
  return assembled(
      ".kernel tables\n.elements 4\nivar short n i64int at $r32v\njvar short id i64int at $s0\n"
      "param short p_0 i64int\nparam short p_1 i64int\nparam short p_2 i64int\n"
      "param short p_3 i64int\nfvar short f i64int iadd at $r40v\n" +
      more + ".start\n    ipass $r40v 0\n    bget $m4 p_0\n    bget $m5 p_1\n" +
      "    bget $m6 p_2\n    bget $m7 p_3\n.body\n" + body + ".end\n" + end);
}

/// check_bits_everywhere for the numbers of such a program.
std::string compare_tables(const Program& program) {
  Data data{{"n", {}}, {"id", {}}};
  set_table(data, "p", {11, -7, 1000003, 29});
  for (int k = 0; k < 23; ++k) data["n"].push_back(k % 8 + 4);
  data["other"].assign(23, 0);
  for (int k = 0; k < 31; ++k) data["id"].push_back(k * 5 % 4 + 4);
  return check_bits_everywhere(program, data, 23, 31);
}

const std::string reads =
    "    vlen 4\n    bget $r50 id\n    nop\n    ipass $t $r50\n    nop\n"
    "    iadd $r40v $r40v $m[$t:4..7]\n";

}  // namespace

TEST_CASE("native executes kernels with tables without the exact engine") {
  const Data data = inputs(3, 29, 83);
  for (const std::string law :
       {"f += t[a + b]*u;\n", "if (u < x) { f += s[a][b]; } else { f -= w[b]; }\n",
        "f += order[a]*t[order[b]];\n", "f += t[min(int((u - x)*(u - x)), 8)];\n"})
    for (const bool scheduled : {false, true}) {
      const std::string text = table_head + law;
      const Kernel kernel =
          scheduled ? Kernel(*compiled(text).program) : Kernel::compile(text, "test.gdk");
      for (const NamedEngine& engine : table_engines()) {
        const Statistics statistics = statistics_of(kernel, data, engine.name);
        INFO(text << engine.name << ": " << statistics.fallback_reason);
        CHECK(statistics.fallback_runs == 0);
      }
      check_tables(text, data);
    }
}

TEST_CASE("an interpolated table is read among floats") {
  const Data data = inputs(7, 70, 300);
  check_tables(table_head + interpolation, data);
  const Kernel kernel = Kernel::compile(table_head + interpolation, "test.gdk");
  for (const NamedEngine& engine : table_engines()) {
    const Statistics statistics = statistics_of(kernel, data, engine.name);
    INFO(engine.name);
    CHECK(statistics.fallback_runs == 0);
    CHECK(statistics.fallback_reason == "");
  }
}

TEST_CASE("random kernels with tables agree with long doubles") {
  const std::uint64_t cases = test::test_iterations(25);
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    CAPTURE(seed);
    check_tables(TableAuthor(seed).write(), inputs(seed, 6 + seed % 40, 1 + seed * 7 % 90));
  }
}

TEST_CASE("an index outside of a table reads some element") {
  const std::string text = "CONST table t[5]; VARI x; VARJ u; VARF f;\nf += t[int(x*u)];\n";
  const Kernel kernel = Kernel::compile(text, "test.gdk");
  Data data{{"x", {-1, 5, 7.5, 1e3, -1e7, 3e9, -3e9, 1e15, -1e15, 1e30, -1e30}}, {"u", {1}}};
  set_table(data, "t", {2, 3, 5, 7, 11});
  for (const NamedEngine& engine : table_engines()) {
    const Data got = run(kernel, data, data.at("x").size(), 1, engine.name);
    for (const double f : got.at("f")) {
      INFO(engine.name << ": " << f);
      CHECK((f == 0 || f == 2 || f == 3 || f == 5 || f == 7 || f == 11));
    }
  }
}

TEST_CASE("elements of a table that change between runs are used by the next one") {
  const std::string text = table_head + "f += t[a]*u + s[a][b];\n";
  const Kernel kernel = Kernel::compile(text, "test.gdk");
  for (const std::string name : {"vector", "native", "native-float"}) {
    Device device = Device::open("emulator:chips=2,blocks=2,pes=4,threads=1,engine=" + name);
    Job job = device.job(kernel);
    const std::vector<std::int64_t> a{0, 1, 2}, b{3};
    const std::vector<double> x{0, 0, 0}, u{0.5};
    job.targets(3, {{"a", a.data()}, {"x", ConstArray(x)}});
    job.sources(1, {{"b", b.data()}, {"u", ConstArray(u)}});
    for (const KernelVariable& v : kernel.variables())
      if (v.role == Role::Param) job.set(v.name, 1.0);
    std::vector<double> f(3);
    for (int round = 0; round < 4; ++round) {
      job.set("t_1", 2.0 * round);
      job.set("s_11", 8.0 - round);
      job.run({{"f", MutableArray(f)}});
      INFO(name << ", round " << round);
      CHECK(f == std::vector<double>{1.5, 1.0 + round, 8.5 - round});
    }
  }
}

TEST_CASE("tables of programs in assembly are compiled") {
  CHECK(compare_tables(program_of(reads)).empty());
  // A part of the range is never set.
  CHECK(compare_tables(program_of(reads + "    nop\n    ipass $t $r32v\n    nop\n"
                                          "    iadd $r40v $r40v $m[$t:4..11]\n"))
            .empty());
  CHECK(compare_tables(program_of(reads,
                                  "    ipass $t $r32v\n    nop\n    nop\n"
                                  "    iadd $r40v $r40v $m[$t:4..11]\n"))
            .empty());
  const std::string reason = "a table is not of parameters that Start copies";
  CHECK(compare_tables(program_of(reads + "    nop\n    ipass $m6 $r50\n")) == reason);
  CHECK(compare_tables(program_of(reads, "    ipass $m6 3\n")) == reason);
  CHECK(compare_tables(program_of(reads, "    nop\n", "ivar short other i64int at $m6v\n")) ==
        reason);
  CHECK(compare_tables(
            program_of("    vlen 4\n    bget $r50 id\n    nop\n    ipass $t $r50\n    nop\n"
                       "    iadd $r40v $r40v $m[$t]\n"))
            .find("through T, at any address") != std::string::npos);
}

TEST_CASE("sections that read a table run block by block like those of the reference engine") {
  const Program program = program_of(reads);
  const Geometry geometry;
  BlockState start = make_chip(geometry).blocks[0];
  const std::uint64_t elements[] = {11, 7, 1000003, 29};
  std::size_t next = 0;
  for (const Variable& v : program.variables)
    if (v.kind == VarKind::Param)
      write_bm(start, v.location.address, Width::Short, elements[next++]);
  REQUIRE(next == std::size(elements));
  BlockRun run;
  run.source_base = program.fixed_shorts;
  run.source_step = program.item_shorts;
  constexpr std::uint32_t sources = 9;
  for (std::uint32_t k = 0; k < sources; ++k)
    write_bm(start, run.source_base + k * run.source_step, Width::Short, 4 + k * 3 % 4);
  const auto run_all = [&](const Executable& executable) {
    BlockState block = start;
    for (const Section section : {Section::Start, Section::Body, Section::End}) {
      BlockRun part = run;
      part.section = section;
      part.iterations = section == Section::Body ? sources : 1;
      executable.run(block, part);
    }
    return LaneMemory(block.registers.begin() + 40 * block.pes,
                      block.registers.begin() + 44 * block.pes);
  };
  const LaneMemory right = run_all(*make_engine("reference")->prepare(program, geometry));
  CHECK(right.front() == 2 * (11 + 7 + 1000003 + 29) + 11);
  for (const Isa isa : host_isas())
    for (const std::string name : {"native", "native-float"}) {
      const auto executable = make_engine(name, isa_name(isa))->prepare(program, geometry);
      INFO(name << ' ' << isa_name(isa));
      CHECK(run_all(*executable) == right);
      const SectionStats body = executable->stats()[static_cast<unsigned>(Section::Body)];
      CHECK(body.runs == 1);
      CHECK(body.fallback_runs == 0);
    }
}

}  // namespace gdr::test
