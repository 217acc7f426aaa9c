// Lists: what the machine appends, entry by entry, beside what the graph says.
#include <cstdlib>
#include <random>

#include "compiler/codegen_support.hpp"
#include "emulator/host/isa.hpp"
#include "gdr/error.hpp"
#include "support/iterations.hpp"

namespace gdr::test {
namespace {

/// Numbers without order: sources lie on both sides of targets, some at the same place.
Data scattered(std::size_t targets, std::size_t sources) {
  Data data{{"u", {}}, {"ids", {}}};
  const auto number = [](std::size_t i, unsigned step) {
    return static_cast<double>((i * step + 7) % 101) / 25 - 2;
  };
  for (std::size_t i = 0; i < targets; ++i) {
    data["x"].push_back(number(i, 37));
    data["h2"].push_back(number(i, 11) + 1.5);  // negative for some: they have no neighbours
    data["id"].push_back(static_cast<double>(i));
  }
  for (std::size_t j = 0; j < sources; ++j) {
    data["u"].push_back(number(j, 37));
    data["ids"].push_back(static_cast<double>(j));
  }
  return data;
}

/// The ints of every target that count, in the order of sources and, for one source, of the text.
std::vector<double> entries(const kc::Graph& graph, std::int32_t list, const Data& data,
                            std::size_t target, std::size_t sources) {
  std::vector<double> all;
  kc::InputValues<long double> inputs(graph.variables.size());
  for (std::size_t s = 0; s < sources; ++s) {
    for (std::size_t v = 0; v < inputs.size(); ++v) {
      const kc::GraphVariable& x = graph.variables[v];
      if (x.kind == VarKind::Result) continue;
      inputs[v].clear();
      for (std::uint32_t k = 0; k < x.table_size; ++k)
        inputs[v].push_back(data.at(x.name + "_" + std::to_string(k))[0]);
      if (x.table_size > 0) continue;
      inputs[v].push_back(data.at(x.name)[x.kind == VarKind::Source   ? s
                                          : x.kind == VarKind::Target ? target
                                                                      : 0]);
    }
    const auto terms = kc::evaluate<long double>(graph, inputs);
    for (std::size_t t = 0; t < terms.size(); ++t)
      if (terms[t].counts && graph.contributions[t].result == list)
        all.push_back(static_cast<double>(terms[t].value));
  }
  return all;
}

/// All engines, the native ones with every instruction set of the host.
std::vector<std::string> engines() {
  std::vector<std::string> all{"reference", "vector"};
  for (const Isa isa : host_isas())
    for (const char* name : {"native,isa=", "native-float,isa="})
      all.push_back(name + std::string(isa_name(isa)));
  return all;
}

void check_lists(const std::string& text, const CompileOptions& options, const Data& data,
                 std::size_t targets, std::size_t sources, const std::string& more = "") {
  const kc::Graph graph = graph_of(text);
  const CompileResult compiled = compile_kernel(text, "test.gdk", options);
  INFO(text << compiled.diagnostics.render());
  REQUIRE(compiled.ok());
  const Kernel kernel(*compiled.program);
  for (const std::string& engine : engines()) {
    const Data got = run(kernel, data, targets, sources, engine + more);
    for (std::size_t v = 0; v < graph.variables.size(); ++v) {
      const kc::GraphVariable& list = graph.variables[v];
      if (list.list_size == 0) continue;
      for (std::size_t t = 0; t < targets; ++t) {
        const auto right = entries(graph, static_cast<std::int32_t>(v), data, t, sources);
        INFO(text << compiled.assembly << engine << ", target " << t << ", " << list.name);
        REQUIRE(got.at(list.name)[t] == static_cast<double>(right.size()));
        for (std::size_t k = 0; k < list.list_size; ++k)
          REQUIRE(got.at(list.name + "_" + std::to_string(k))[t] ==
                  (k < right.size() ? right[k] : -1));
      }
    }
  }
}

/// Every number of targets in a PE, with more and with less overlapping of sources.
void check_all(const std::string& text, const Data& data, std::size_t targets,
               std::size_t sources) {
  for (unsigned elements = 1; elements <= 4; ++elements) {
    CompileOptions options;
    options.elements = elements;
    options.effort = elements % 2;
    check_lists(text, options, data, targets, sources);
  }
}

const std::string head = "VARI x, h2; VARI int id; VARJ u; VARJ int ids;\nd = u - x; r2 = d*d;\n";

}  // namespace

TEST_CASE("a list holds the first appended entries and counts all of them") {
  const std::string text = head +
                           "VARF list nb[6]; VARF f;\nskip if (id == ids);\nf += d;\n"
                           "if (r2 < h2) { nb append= ids; }\n";
  check_all(text, scattered(67, 41), 67, 41);
  check_all(text, scattered(7, 1), 7, 1);
  check_all(text, scattered(1, 0), 1, 0);
}

TEST_CASE("lists continue over batches of sources") {
  const std::string text = head + "VARF list nb[9];\nif (r2 < h2) { nb append= ids; }\n";
  const CompileOptions options;
  check_lists(text, options, scattered(61, 530), 61, 530, ",dram=4096,bm=64");
  check_lists(text, options, scattered(300, 97), 300, 97, ",boards=2,bm=16");
}

TEST_CASE("an unconditional append appends every source") {
  check_all(
      "VARI x; VARJ int ids; VARF list all[3], one[40]; VARF f;\nall append= ids;\n"
      "one append= 2*ids - 7;\nf += x;\n",
      scattered(21, 17), 21, 17);
}

TEST_CASE("a source can be appended several times, and to several lists") {
  const std::string text = head +
                           "VARF list near[4], far[4], both[20];\n"
                           "if (r2 < h2) { near append= ids; both append= id; }\n"
                           "else { far append= ids; both append= -5; }\n"
                           "both append= ids;\nskip if (id == ids);\nboth append= id - ids;\n";
  check_all(text, scattered(23, 19), 23, 19);
}

TEST_CASE("lists can be combined with tables, sums and minima") {
  Data data = scattered(19, 23);
  for (int k = 0; k < 5; ++k) data["t_" + std::to_string(k)] = {0.5 + k};
  for (double& id : data["ids"]) id = static_cast<double>(static_cast<int>(id) % 5);
  check_all("CONST table t[5]; " + head +
                "VARF list nb[6]; VARF f, r; VARF int n;\nskip if (r2 > t[ids]);\n"
                "f += rsqrt(r2 + t[ids])*d; r min= r2 : n = ids;\nnb append= ids;\n",
            data, 19, 23);
}

TEST_CASE("unpipelined kernels support lists") {
  std::string text = head + "VARF list nb[6]; VARF f;\nw = r2;\n";
  for (int k = 0; k < 70; ++k) text += "w = w*0.5 + " + std::to_string(k % 7) + ";\n";
  text +=
      "f += w*d;\nif (r2 < h2) { nb append= ids; }\nif (r2 < 2*h2) { nb append= -ids; }\n"
      "nb append= 3;\n";
  for (const unsigned elements : {1U, 3U, 4U}) {
    CompileOptions options;
    options.elements = elements;
    options.pipeline = false;
    check_lists(text, options, scattered(9, 5), 9, 5);
  }
}

TEST_CASE("a condition used negated in a compound condition is not modified") {
  const std::string text =
      head +
      "VARF list one[1], two[14]; VARF f; VARF short least;\n"
      "skip if (id < ids || !(u < x));\n"
      "if (!(ids != 3)) {\n  if (!(id < ids)) { two append= ids; one append= 7; }\n"
      "  if (h2 < 2) { one append= id - ids; }\n}\ntwo append= -ids;\n"
      "if (!(d > 0.3)) { two append= 2*ids + id; one append= -ids; }\nf += d;\n"
      "least min= r2;\ntwo append= -ids;\n";
  for (unsigned elements = 1; elements <= 4; ++elements) {
    CompileOptions options;
    options.elements = elements;
    options.effort = 1;
    check_lists(text, options, scattered(13, 12), 13, 12);
  }
}

TEST_CASE("appends of the first source are not suppressed by the prologue predicate") {
  check_all(head +
                "VARF list one[3], two[20]; VARF f; VARF short least;\n"
                "one append= id;\none append= ids;\none append= id - ids;\n",
            scattered(9, 11), 9, 11);
}

TEST_CASE("a list counts no source before the first where one of two conditions decides") {
  // The conditions of a root are known so late that the next source has begun.
  const std::string root = head + "VARF list nb[9];\nr = sqrt(r2 + 1);\n";
  for (const std::string condition : {"r < 1.2 || r > h2", "r > 1.2 || r < h2"})
    check_all(root + "if (" + condition + ") { nb append= ids; }\n", scattered(9, 11), 9, 11);
  // One condition is copied, for another one to modify.
  check_all(head +
                "VARF list one[9], two[3]; VARF f; VARF short least;\n"
                "if (id != ids) {\n  if (ids == 3) { two append= 2*ids + id; one append= id; }\n"
                "  else { two append= id - ids; one append= 7; }\n}\n"
                "two append= id - ids;\none append= id - ids;\n"
                "if (r2 >= 0.5 || ids != 3) { one append= id; }\ntwo append= 2*ids + id;\n",
            scattered(9, 15), 9, 15);
}

namespace {

/// Statements that append under random conditions, nested, between sums and minima.
class ListAuthor {
 public:
  explicit ListAuthor(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    std::string text = head + "VARF list one[" + std::to_string(1 + below(9)) + "], two[" +
                       std::to_string(1 + below(30)) + "]; VARF f; VARF short least;\n";
    if (below(3) == 0) text += "skip if (" + condition(1) + ");\n";
    text += block(2) + block(1);
    if (below(2) == 0) text += "f += d;\n";
    if (below(3) == 0) text += "least min= r2;\n";
    return text + statement(0);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::string condition(int depth) {
    if (depth > 0 && below(3) == 0)
      return "(" + condition(depth - 1) + (below(2) == 0 ? " && " : " || ") + condition(depth - 1) +
             ")";
    static const char* const all[] = {"r2 < h2", "u < x",     "id == ids", "id < ids",
                                      "d > 0.3", "r2 >= 0.5", "ids != 3",  "h2 < 2"};
    return (below(4) == 0 ? "!(" : "(") + std::string(all[below(8)]) + ")";
  }

  std::string statement(int depth) {
    static const char* const values[] = {"ids", "id", "-ids", "id - ids", "7", "2*ids + id"};
    if (depth > 0 && below(2) == 0) {
      std::string text = "if (" + condition(1) + ") {\n" + block(depth - 1) + "}";
      if (below(2) == 0) text += " else {\n" + block(depth - 1) + "}";
      return text + "\n";
    }
    return std::string(below(2) == 0 ? "one" : "two") + " append= " + values[below(6)] + ";\n";
  }

  std::string block(int depth) {
    std::string text;
    for (int n = 1 + below(2); n > 0; --n) text += statement(depth);
    return text;
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("random kernels with lists agree with the evaluation of their graph") {
  const std::uint64_t cases = test::test_iterations(12);
  const std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    CompileOptions options;
    options.elements = static_cast<unsigned>(1 + seed % 4);
    options.effort = seed % 3 == 0 ? 1 : 0;
    const std::size_t targets = 9 + seed % 5, sources = 3 + seed % 17;
    CAPTURE(seed);
    check_lists(ListAuthor(seed).write(), options, scattered(targets, sources), targets, sources);
  }
}

TEST_CASE("the error for a list that is too long states the largest capacity") {
  const auto message = [](unsigned capacity) {
    CompileOptions options;
    options.effort = 0;
    const std::string text = "VARI x; VARJ u; VARJ int ids; VARF list nb[" +
                             std::to_string(capacity) + "];\nif (u < x) { nb append= ids; }\n";
    return compile_kernel(text, "test.gdk", options).diagnostics.render();
  };
  const std::string text = message(700);
  CHECK(text.find("test.gdk:1:41: error[GDR8005]: the list `nb` is too long") == 0);
  const std::string words = "it can have at most ";
  REQUIRE(text.find(words) != std::string::npos);
  const auto most = static_cast<unsigned>(std::stoul(text.substr(text.find(words) + words.size())));
  CHECK(most > 480);
  CHECK(message(most).empty());
  CHECK(!message(most + 1).empty());
}

TEST_CASE("a PE takes fewer targets where four lists do not fit") {
  const CompileResult r = compiled(head + "VARF list nb[150];\nif (r2 < h2) { nb append= ids; }\n");
  CHECK(r.program->elements == 2);
}

TEST_CASE("kernels with lists reject the partition of sources") {
  const Kernel kernel(
      *compiled(head + "VARF list nb[5];\nif (r2 < h2) { nb append= ids; }\n").program);
  CHECK_THROWS_AS(run(kernel, scattered(5, 6), 5, 6, "vector,partition=sources"), Error);
}

}  // namespace gdr::test
