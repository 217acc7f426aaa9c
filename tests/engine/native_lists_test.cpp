// Lists on the native engine: which programs it compiles, and that results are those of the exact
// engine also where programs address local memory in other ways. Random kernels with lists:
// tests/compiler/codegen_lists_test.cpp.
#include <string>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "engine/all_engines.hpp"
#include "support/assembled.hpp"

namespace gdr::test {
namespace {

/// Statistics of a job of a kernel with the results near and near[] on targets x and sources u.
struct ListOutcome {
  std::vector<std::int64_t> count, ids;
  std::string reason;
  std::uint64_t fallback_runs = 0;
};

ListOutcome lists_of(const Kernel& kernel, std::size_t capacity, const Data& data,
                     const std::string& options) {
  Device device = Device::open("exact:chips=1,blocks=2,pes=4,threads=1," + options);
  Job job = device.job(kernel);
  const std::vector<double>&x = data.at("x"), &u = data.at("u");
  std::vector<std::int64_t> ids;
  for (std::size_t j = 0; j < u.size(); ++j) ids.push_back(static_cast<std::int64_t>(7 * j + 1));
  job.targets(x.size(), {{"x", ConstArray(x)}});
  job.sources(u.size(), {{"u", ConstArray(u)}, {"ids", ConstArray(ids.data())}});
  ListOutcome out;
  out.count.resize(x.size());
  out.ids.resize(x.size() * capacity);
  job.run({{"near", out.count.data()}, {"near[]", out.ids.data()}});
  const Statistics statistics = device.statistics();
  out.reason = statistics.fallback_reason;
  out.fallback_runs = statistics.fallback_runs;
  return out;
}

const std::string list_head = "VARI x; VARJ u; VARJ int ids; VARF list near[5];\nd = u - x;\n";

Data list_numbers(std::size_t targets, std::size_t sources) {
  Data data{{"x", {}}, {"u", {}}};
  for (std::size_t k = 0; k < targets; ++k)
    data["x"].push_back(static_cast<double>(k * 37 % 101) * 0.25);
  for (std::size_t k = 0; k < sources; ++k)
    data["u"].push_back(static_cast<double>(k * 53 % 101) * 0.25 + 0.125);
  return data;
}

/// An assembled program, with declarations of one target, source and result variable.
Program program_of(const std::string& start, const std::string& body, const std::string& end,
                   const std::string& results) {
  return assembled(
      ".kernel lists\n.elements 4\nivar short n i64int at $r32v\njvar short id i64int at $s0\n" +
      results + ".start\n" + start + ".body\n" + body + ".end\n" + end);
}

/// check_bits_everywhere for the numbers of such a program.
std::string compare_lists(const Program& program) {
  Data data{{"n", {}}, {"id", {}}};
  for (int k = 0; k < 23; ++k) data["n"].push_back(k % 9 - 2);
  for (int k = 0; k < 31; ++k) data["id"].push_back(k * 5 % 13 - 4);
  return check_bits_everywhere(program, data, 23, 31);
}

const std::string starts =
    "    vlen 1\n    ipass $r40 0xffffffffc\n    ipass $r41 0xffffffffd\n"
    "    ipass $r42 0xffffffffe\n    ipass $r43 0xfffffffff\n    vlen 4\n"
    "    ipass $m0v 0\n    ipass $m4v 0\n    ipass $m8v 0\n";
const std::string appends =
    "    vlen 4\n    bget $r50 id\n    nop\n    isub $null:m0.neg $r32v $r50\n    nop\n"
    "    [m0] iadd $r40v $r40v 4\n    imin $t $r40v 12\n    nop\n"
    "    [m0] upass $m[$t:0..12] $r50\n";
const std::string results =
    "fvar short count i64int pass at $r40v\nfvar short e0 i64int pass at $m0v\n"
    "fvar short e1 i64int pass at $m4v\nfvar short e2 i64int pass at $m8v\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("native executes kernels with lists without the exact engine") {
  const Data data = list_numbers(29, 83);
  for (const std::string law : {"if (d*d < 4) { near append= ids; }", "near append= ids;",
                                "if (d*d < 4) { near append= ids; near append= ids; }",
                                "if (d*d < 4) { near append= ids; } else { near append= -3; }"})
    for (const bool scheduled : {false, true}) {
      const std::string text = list_head + law;
      const Kernel kernel =
          scheduled ? Kernel(*compiled(text).program) : Kernel::compile(text, "test.gdk");
      const ListOutcome right = lists_of(kernel, 5, data, "engine=vector");
      // In a pipelined program, a pass may store what the previous one has counted.
      for (const Isa isa : host_isas())
        for (const std::string name : {"native", "native-float"}) {
          const ListOutcome got =
              lists_of(kernel, 5, data, "engine=" + name + ",isa=" + std::string(isa_name(isa)));
          INFO(text << '\n' << name << ' ' << isa_name(isa) << ": " << got.reason);
          CHECK(got.count == right.count);
          CHECK(got.ids == right.ids);
          CHECK(got.fallback_runs == 0);
        }
    }
}

TEST_CASE("a run that native-float repeats in doubles starts its lists again") {
  Data data = list_numbers(9, 40);
  data["u"][35] = 1e60;  // found when the first entries are there
  const std::string text =
      "VARI x; VARJ u; VARJ int ids; VARF list near[5]; VARF f;\nd = u - x;\n"
      "f += d*1e-70*d;\nif (d*d < 9) { near append= ids; }\n";
  const Kernel kernel(*compiled(text).program);
  const ListOutcome right = lists_of(kernel, 5, data, "engine=vector");
  for (const Isa isa : host_isas()) {
    const ListOutcome got =
        lists_of(kernel, 5, data, "engine=native-float,isa=" + std::string(isa_name(isa)));
    INFO(isa_name(isa) << ": " << got.reason);
    CHECK(got.count == right.count);
    CHECK(got.ids == right.ids);
  }
}

TEST_CASE("lists of programs in assembly are compiled") {
  CHECK(compare_lists(program_of(starts, appends, "    nop\n", results)).empty());
  // All of its elements append to one list.
  const std::string shared = replaced(starts, "$r41 0xffffffffd", "$r41 0xffffffffc");
  CHECK(compare_lists(program_of(shared, appends, "    nop\n", results)) == "lists overlap");
  // The word behind the list is a result.
  CHECK(compare_lists(program_of(starts + "    ipass $m12v 0\n", appends, "    nop\n",
                                 results + "fvar short e3 i64int pass at $m12v\n")) ==
        "the word behind a list is used");
  CHECK(compare_lists(program_of(starts, appends + "    nop\n    nop\n    iadd $r60v $m4v 1\n",
                                 "    nop\n", results + "fvar short s i64int pass at $r60v\n")) ==
        "a list is read");
  CHECK(compare_lists(program_of(starts, appends + "    nop\n    nop\n    iadd $r60v $r40v 1\n",
                                 "    nop\n", results + "fvar short s i64int pass at $r60v\n"))
            .find("list") != std::string::npos);
  CHECK(compare_lists(program_of(starts, appends + "    nop\n    nop\n    ipass $m8v 1\n",
                                 "    nop\n", results)) == "the entries of a list are changed");
  CHECK(compare_lists(program_of(starts, appends + "    nop\n    iadd $r40v $r40v 4\n", "    nop\n",
                                 results)) == "the counter of a list is changed");
  CHECK(compare_lists(
            program_of(starts, replaced(appends, "[m0] iadd", "iadd"), "    nop\n", results))
            .find("not to a list") != std::string::npos);
  CHECK(compare_lists(program_of(starts, replaced(appends, "imin $t $r40v 12", "imin $t $r40v 8"),
                                 "    nop\n", results))
            .find("not to a list") != std::string::npos);
  CHECK(compare_lists(program_of(replaced(starts, "$r40 0xffffffffc", "$r40 0xffffffff0"), appends,
                                 "    nop\n", results)) == "a list begins before its range");
}

}  // namespace gdr::test
