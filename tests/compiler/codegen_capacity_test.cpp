// Kernels that exceed the resources of the chip.
#include <pthread.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "compiler/codegen_support.hpp"
#include "support/catch.hpp"
#include "support/processor_time.hpp"

namespace gdr::test {
namespace {

std::string error_of(const std::string& text, const Geometry& geometry = {},
                     const std::function<void(double)>& progress = {}) {
  CompileOptions options;
  options.effort = 0;
  options.geometry = geometry;
  options.progress = progress;
  const CompileResult r = compile_kernel(text, "test.gdk", options);
  CHECK(!r.ok());
  CHECK(r.diagnostics.error_count == 1);
  return r.diagnostics.render();
}

}  // namespace

TEST_CASE("capacity errors point at the responsible text and state the amounts") {
  CHECK(error_of("VARI x; VARJ u;\nVARF f[70];\nfor k = 0 .. 69 { f[k] += k*u*x; }\n") ==
        "test.gdk:2:6: error[GDR8002]: the register file is full\n"
        "    2 | VARF f[70];\n"
        "      |      ^~~~~ the results need 140 shorts, 64 are available\n");
  Geometry small;
  small.instruction_words = 20;
  CHECK(error_of("VARI x; VARJ u; VARF f;\nf += u;\ny = exp(u*x);\nf += y;\n", small)
            .find("test.gdk:3:5: error[GDR8006]: the instruction memory is full\n"
                  "    3 | y = exp(u*x);\n"
                  "      |     ^") == 0);
}

TEST_CASE("compile time grows less than cubically with the number of statements") {
  const auto seconds = [](int statements) {
    const std::string text = "VARI x; VARJ y; VARF f; for k = 0 .. " + std::to_string(statements) +
                             " { f += x*y + k; }\n";
    CompileOptions options;
    options.effort = 0;
    return processor_seconds([&] { CHECK(compile_kernel(text, "test.gdk", options).ok()); });
  };
  // The square would make it 100 times as long, the cube 1000 times.
  const double few = seconds(500), many = seconds(5000);
  INFO(few << " s, " << many << " s");
  CHECK(many < 320 * few);
}

TEST_CASE(
    "kernels with more operations than instructions are rejected without a search, with a source "
    "range") {
  int steps = 0;  // of the search
  const auto error_for = [&](const std::string& statement) {
    return error_of(
        "VARI x; VARJ y;\nVARF f;\nt = x;\nfor k = 0 .. 19999 {\n  " + statement + "\n}\nf += t;\n",
        {}, [&](double) { ++steps; });
  };
  CHECK(error_for("f += x*y + k;") ==
        "test.gdk:5:8: error[GDR8006]: the instruction memory is full\n"
        "    5 |   f += x*y + k;\n"
        "      |        ^~~~~~~ from here on the adder has more operations than the 16384 "
        "available instructions\n");
  CHECK(error_for("t = t*y;").find("from here on the multiplier has more") != std::string::npos);
  CHECK(error_for("f += (x < k ? y : x);").find("from here on the adder has more") !=
        std::string::npos);
  CHECK(steps == 0);
}

TEST_CASE("invariants that exceed the memory are rejected without a search") {
  CHECK(error_of("VARJ u;\nVARI long x[300]; VARF f;\nfor k = 0 .. 299 { f += x[k]*u; }\n") ==
        "test.gdk:2:11: error[GDR8003]: the local memory is full\n"
        "    2 | VARI long x[300]; VARF f;\n"
        "      |           ^~~~~~ targets, parameters and results need 602 shorts; register file "
        "and local memory have 576\n");
}

TEST_CASE("invalid kernel files raise errors that name the file") {
  const std::string root = GDR_SOURCE_DIR;
  CHECK_THROWS_WITH(compile_kernel_file(root + "/kernels"), "'" + root +
                                                                "/kernels' is a directory, not a "
                                                                "kernel file");
  CHECK_THROWS_WITH(compile_kernel_file(root + "/kernels/particle/gravity.gds"),
                    "'" + root + "/kernels/particle/gravity.gds' is assembly: use `gdr asm`");
  CHECK_THROWS_WITH(compile_kernel_file("/nowhere/x.gdk"),
                    "cannot read the kernel file '/nowhere/x.gdk'");
  const std::string empty = "empty_kernel_test.gdk";
  std::ofstream(empty).close();
  CHECK_THROWS_WITH(compile_kernel_file(empty), "the kernel file 'empty_kernel_test.gdk' is empty");
  std::filesystem::remove(empty);
}

TEST_CASE("unused operations take no resources") {
  const CompileResult r =
      compiled("VARI x; VARJ u; VARF f;\ny = x;\nfor k = 1 .. 20000 { y = y*u + k; }\nf += u*x;\n");
  CHECK(r.diagnostics.error_count == 0);
}

TEST_CASE("a chain of thousands of operations compiles with a small stack") {
  std::string text =
      "VARI x; VARJ u; VARF f;\ny = x;\nfor k = 1 .. 4000 { y = y*u + k; }\nf += y;\n";
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 2U << 20) == 0);
  pthread_t thread;
  const auto compile = [](void* given) -> void* {
    CompileOptions options;
    options.effort = 0;
    const bool ok = compile_kernel(*static_cast<std::string*>(given), "test.gdk", options).ok();
    return ok ? given : nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, compile, &text) == 0);
  void* result = nullptr;
  REQUIRE(pthread_join(thread, &result) == 0);
  pthread_attr_destroy(&attributes);
  CHECK(result == &text);
}

}  // namespace gdr::test
