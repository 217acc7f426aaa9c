// Object files: written programs are read back, and damaged files are rejected.
#include "emulator/assembler/object.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "emulator/assembler/assembler.hpp"
#include "gdr/error.hpp"
#include "object/object_bytes.hpp"
#include "support/catch.hpp"
#include "support/random_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace {

using namespace gdr;
using namespace gdr::test;

Program random_object(std::uint64_t seed) {
  Program program = selftest::program_case(seed, true).program;
  Rng rng(seed);
  add_interface(program, rng);
  return program;
}

/// The message with which bytes are refused, or "accepted".
std::string error_of(const std::vector<std::uint8_t>& bytes) {
  try {
    read_object(bytes, "k.gdo");
  } catch (const Error& error) {
    CHECK(error.category() == ErrorCategory::Program);
    return error.what();
  }
  return "accepted";
}

/// The message with which a program is refused by the writer.
std::string defect(const Program& program) {
  try {
    write_object(program);
  } catch (const Error& error) {
    CHECK(error.category() == ErrorCategory::Program);
    return error.what();
  }
  return "accepted";
}

TEST_CASE("object files preserve programs") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = random_object(seed);
    const auto bytes = write_object(program);
    const Program back = read_object(bytes);
    REQUIRE(back == program);
    REQUIRE(write_object(back) == bytes);
  }
}

TEST_CASE("a program in longs is stored with its program, and has the same variables") {
  Variable x;
  x.name = "x";
  x.kind = VarKind::Source;
  x.location = {Space::BmSource, Width::Long};
  Program p;
  p.item_shorts = 2;
  p.variables = {x};
  Program other = p;
  other.variables[0].name = "y";  // names are the program's own
  p.in_longs = {other};
  REQUIRE(defect(p) == "accepted");
  CHECK(read_object(write_object(p)) == p);
  Program nested = p;
  nested.in_longs[0].in_longs = {other};
  CHECK(contains(defect(nested), "more than one program in longs"));
  Program two = p;
  two.in_longs.push_back(other);
  CHECK(contains(defect(two), "more than one program in longs"));
  Program none = p;
  none.in_longs[0].variables.clear();
  CHECK(contains(defect(none), "the program in longs has other variables"));
  Program wrong = p;
  wrong.in_longs[0].elements = 9;
  CHECK(contains(defect(wrong), "the program in longs: 9 elements"));
}

TEST_CASE("the disassembly of a program with one in longs assembles to the same object") {
  const std::string x = "ivar long x f64to72\n", body = ".body\n  fadd $lr16v $lr16v x\n";
  const AssembleResult made =
      assemble(".kernel k\n" + x + ".longs  # the same\n.kernel k\n" + x + body, "k.gds");
  INFO(made.diagnostics.render());
  REQUIRE(made.ok());
  REQUIRE(made.program->in_longs.size() == 1);
  CHECK(made.program->in_longs[0].lines[static_cast<unsigned>(Section::Body)].front().line == 7);
  const AssembleResult again = assemble(disassemble(*made.program), "k.gds");
  REQUIRE(again.ok());
  CHECK(write_object(*again.program) == write_object(*made.program));
  for (const std::string rest :
       {"", ".longs\n", ".kernel k\nivar long x f64to72\nivar long y f64to72\n"}) {
    const AssembleResult wrong = assemble(".kernel k\n" + x + ".longs\n" + rest, "k.gds");
    CHECK(!wrong.ok());
    CHECK(contains(wrong.diagnostics.render(), "k.gds:3:1"));
  }
  CHECK(!assemble(".kernel k\n" + x + ".longs\n.kernel k\n" + x + "  nonsense\n", "k.gds").ok());
}

TEST_CASE("the empty program can be stored") {
  CHECK(read_object(write_object(Program{})) == Program{});
}

TEST_CASE("a small object file has the documented bytes") {
  Program p;
  p.name = "k";
  p.elements = 2;
  p.flops = 1;
  p.item_shorts = 2;
  p.variables.push_back({"x",
                         VarKind::Source,
                         {Space::BmSource, Width::Long, false, 0},
                         {HostType::F64, MachineFormat::FloatLong, 0},
                         Reduce::Pass,
                         0x0102});
  const auto bytes = write_object(p);
  const std::vector<std::uint8_t> info{
      'I', 'N', 'F', 'O', 0,   0, 0,    0,    33, 0, 0, 0, 0, 0, 0, 0,  // chunk
      1,   0,   0,   0,   'k', 2, 0,    0,    0,  1, 0, 0, 0, 2, 0, 0,
      0,   0,   0,   0,   0,   0, 0,    0,    0,                      // sizes
      0,   0,   0,   0,   0,   0, 0xf0, 0x3f, 0,  0, 0, 0, 0, 0, 0};  // flops, gap
  REQUIRE(bytes.size() == 24 + 6 * 16 + 40 + 16 + 0 + 8 + 32 + 8);
  CHECK(std::equal(info.begin(), info.end(), bytes.begin() + 24));
  const std::vector<std::uint8_t> vars{1, 0, 0, 0, 1, 0, 0, 0, 'x', 1, 9, 1, 0, 0, 0, 0,
                                       0, 0, 0, 0, 0, 0, 0, 2, 1,   0, 0, 0, 0, 0, 0};
  CHECK(std::search(bytes.begin(), bytes.end(), vars.begin(), vars.end()) != bytes.end());
}

TEST_CASE("truncated object files are rejected") {
  const auto bytes = write_object(random_object(7));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto text =
        error_of({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
    const bool named = contains(text, "truncated") || contains(text, "not an object file");
    if (!named) FAIL("length " << length << ": " << text);
  }
  auto longer = bytes;
  longer.push_back(0);
  CHECK(contains(error_of(longer), "trailing bytes"));
}

TEST_CASE("single-bit errors of an object file are detected") {
  const auto bytes = write_object(random_object(3));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ (1U << (bit % 8)));
    if (error_of(damaged) == "accepted") FAIL("bit " << bit);
  }
}

TEST_CASE("errors in the header of an object file are reported") {
  auto bytes = write_object(random_object(1));
  CHECK(contains(error_of({}), "not an object file"));
  CHECK(contains(error_of({'h', 'e', 'l', 'l', 'o'}), "not an object file"));
  bytes[8] = 9;
  CHECK(contains(error_of(bytes), "k.gdo: byte 8: object version 9"));
  bytes[8] = 1;
  bytes[30] ^= 1;
  CHECK(contains(error_of(bytes), "checksum"));
}

TEST_CASE("modified objects with valid checksum are rejected or canonical") {
  // Modifications of each chunk, which the reader must detect without the checksum.
  const auto bytes = write_object(random_object(11));
  Rng rng(5);
  unsigned refused = 0;
  for (unsigned n = 0; n < 20000; ++n) {
    auto damaged = bytes;
    for (unsigned k = rng.between(1, 3); k > 0; --k) {
      const std::size_t at = 24 + rng.below(damaged.size() - 24);
      damaged[at] = static_cast<std::uint8_t>(rng.chance(50) ? rng.bits() : damaged[at] + 1U);
    }
    make_checksum_good(damaged);
    try {
      const Program program = read_object(damaged);
      REQUIRE(write_object(program) == damaged);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("invalid lengths do not cause large allocations") {
  Program p;
  p.name = "k";
  auto bytes = write_object(p);
  // The counts of CODE, FILE, VARS and SYMS, and the length of the kernel's name, as 2^32 - 1.
  for (const char* tag : {"INFO", "CODE", "FILE", "VARS", "SYMS"}) {
    auto damaged = bytes;
    const std::string text = tag;
    auto at = std::search(damaged.begin(), damaged.end(), text.begin(), text.end());
    REQUIRE(at != damaged.end());
    std::fill(at + 16, at + 20, std::uint8_t{0xff});
    make_checksum_good(damaged);
    CHECK(contains(error_of(damaged), "truncated"));
    // And the length of the chunk itself.
    damaged = bytes;
    at = std::search(damaged.begin(), damaged.end(), text.begin(), text.end());
    std::fill(at + 8, at + 16, std::uint8_t{0xff});
    make_checksum_good(damaged);
    CHECK(contains(error_of(damaged), "truncated"));
  }
}

TEST_CASE("invalid arrays and host names cannot be stored") {
  const auto with = [](auto change) {
    Program p;
    for (const char* name : {"x_0", "x_1", "x_2"})
      p.variables.push_back({name,
                             VarKind::Target,
                             {Space::Local, Width::Long, true, 0},
                             {HostType::F64, MachineFormat::FloatLong, 0},
                             Reduce::Pass,
                             0});
    p.arrays.push_back({"x", 0, {3}});
    p.host_names.push_back({"x", "position"});
    REQUIRE(defect(p) == "accepted");
    change(p);
    return defect(p);
  };
  CHECK(contains(with([](Program& p) { p.arrays[0].name = "y"; }), "not the next variable"));
  CHECK(contains(with([](Program& p) { p.arrays[0].name = "0"; }), "name of an array"));
  CHECK(contains(with([](Program& p) { p.arrays[0].first = 1; }), "not declared"));
  CHECK(contains(with([](Program& p) { p.arrays[0].sizes = {3, 1}; }), "not the next variable"));
  CHECK(contains(with([](Program& p) { p.arrays[0].sizes = {}; }), "0 indices"));
  CHECK(contains(with([](Program& p) { p.arrays[0].sizes = {0}; }), "invalid size"));
  CHECK(contains(with([](Program& p) { p.arrays[0].sizes = {70000}; }), "invalid size"));
  CHECK(contains(with([](Program& p) { p.arrays.push_back({"x", 0, {2}}); }), "duplicate array"));
  CHECK(contains(with([](Program& p) { p.variables[1].conversion.host = HostType::F32; }),
                 "not of one kind"));
  CHECK(contains(with([](Program& p) { p.host_names[0].name = "y"; }), "unknown"));
  CHECK(contains(with([](Program& p) { p.host_names.push_back({"x", "y"}); }), "two host names"));
  CHECK(contains(with([](Program& p) { p.host_names[0].host = ""; }), "is empty"));
}

TEST_CASE("a cut-off of other variables cannot be stored") {
  Program p;
  const auto add = [&](const char* name, VarKind kind, Space space) {
    p.variables.push_back({name,
                           kind,
                           {space, Width::Long, kind == VarKind::Target, 0},
                           {HostType::F64, MachineFormat::FloatLong, 0},
                           Reduce::Pass,
                           0});
  };
  for (const char* name : {"r2", "xi", "yi", "zi"}) add(name, VarKind::Target, Space::Local);
  for (const char* name : {"xj", "yj", "zj"}) add(name, VarKind::Source, Space::BmSource);
  p.item_shorts = 2;
  p.cutoff = Cutoff{0, {1, 2, 3}, {4, 5, 6}};
  REQUIRE(defect(p) == "accepted");
  CHECK(read_object(write_object(p)).cutoff == p.cutoff);
  p.cutoff->source[2] = 3;
  CHECK(contains(defect(p), "the cut-off needs"));
  p.cutoff->source[2] = 7;
  CHECK(contains(defect(p), "the cut-off needs"));
}

TEST_CASE("invalid quantities and default values cannot be stored") {
  const auto with = [](auto change) {
    Program p;
    p.variables.push_back({"n",
                           VarKind::Target,
                           {Space::Local, Width::Short, true, 0},
                           {HostType::I64, MachineFormat::Integer, 0},
                           Reduce::Pass,
                           0});
    Variable& v = p.variables[0];
    v.quantity = "id";
    v.default_value = -1;
    REQUIRE(defect(p) == "accepted");
    change(v);
    return defect(p);
  };
  CHECK(contains(with([](Variable& v) { v.quantity = "i d"; }), "name of its quantity"));
  CHECK(contains(with([](Variable& v) { v.quantity.clear(), v.squared = true; }), "no quantity"));
  CHECK(contains(with([](Variable& v) { v.default_value = std::int64_t{1} << 35; }), "36 bits"));
  CHECK(contains(with([](Variable& v) { v.kind = VarKind::Result, v.default_value.reset(); }),
                 "have a quantity"));
  CHECK(contains(with([](Variable& v) {
                   v.conversion = {HostType::F64, MachineFormat::FloatShort, 0};
                 }),
                 "have a default value"));
}

TEST_CASE("invalid programs cannot be stored") {
  const auto with = [](auto change) {
    Program p;
    p.name = "k";
    p.item_shorts = p.output_shorts = p.fixed_shorts = 8;
    p.variables.push_back({"x",
                           VarKind::Target,
                           {Space::Local, Width::Long, true, 0},
                           {HostType::F64, MachineFormat::FloatLong, 0},
                           Reduce::Pass,
                           0});
    p.symbols.push_back({"s", {Space::T, Width::Short, false, 1}});
    p.section(Section::Body).push_back({});
    p.lines[2].push_back({});
    REQUIRE(defect(p) == "accepted");
    change(p);
    return defect(p);
  };
  CHECK(contains(with([](Program& p) { p.elements = 0; }), "0 elements"));
  CHECK(contains(with([](Program& p) { p.elements = 5; }), "5 elements"));
  CHECK(contains(with([](Program& p) { p.group = 0; }), "group of 0"));
  CHECK(contains(with([](Program& p) { p.group = 70000; }), "group of 70000"));
  CHECK(contains(with([](Program& p) { p.group = 4096, p.item_shorts = 18; }),
                 "larger than the largest"));
  CHECK(contains(with([](Program& p) { p.item_shorts = 65538; }), "65538 shorts"));
  CHECK(contains(with([](Program& p) { p.flops = -1; }), "flop count"));
  CHECK(contains(with([](Program& p) { p.flops = -0.0; }), "flop count"));
  CHECK(contains(with([](Program& p) { p.flops = 1e308; }), "flop count"));
  CHECK(contains(with([](Program& p) { p.flops = std::nan(""); }), "flop count"));
  CHECK(contains(with([](Program& p) { p.name = std::string("a\0b", 3); }), "name of the kernel"));
  CHECK(contains(with([](Program& p) { p.variables[0].name = "1x"; }), "is invalid"));
  CHECK(contains(with([](Program& p) { p.variables[0].name = ""; }), "is invalid"));
  CHECK(contains(with([](Program& p) { p.variables[0].name = "s"; }), "duplicate name 's'"));
  for (const char* word :
       {"fadd", "nop", "ivar", "vlen", "alias", "f64to72", "at", "pad", "pass"}) {
    CHECK(with([&](Program& p) { p.variables[0].name = word; }) == "accepted");
    CHECK(with([&](Program& p) { p.symbols[0].name = word; }) == "accepted");
  }
  CHECK(contains(with([](Program& p) { p.files.emplace_back(); }), "file table"));
  CHECK(contains(with([](Program& p) { p.lines[2][0] = {0, 5}; }), "names file 0 of 0"));
  CHECK(contains(with([](Program& p) { p.lines[2].push_back({}); }), "source lines"));
  CHECK(contains(with([](Program& p) { p.sections[2][0].vlen = 5; }), "vector length"));
  CHECK(contains(with([](Program& p) { p.symbols[0].location.address = 2; }), "invalid half of T"));
  CHECK(contains(with([](Program& p) { p.symbols[0].location.space = Space::None; }),
                 "not a location"));
  CHECK(contains(with([](Program& p) { p.symbols[0].location.range_last = 2; }), "range"));
  const auto variable = [&](auto change) {
    return with([&](Program& p) { change(p.variables[0]); });
  };
  CHECK(contains(variable([](Variable& v) { v.location.space = Space::Bm; }),
                 "registers or local memory"));
  CHECK(contains(variable([](Variable& v) { v.location.vector = false; }), "must be a vector"));
  CHECK(contains(variable([](Variable& v) { v.location.address = 3; }), "odd address"));
  CHECK(contains(variable([](Variable& v) { v.reduce = Reduce::Fadd; }), "reduction"));
  CHECK(contains(variable([](Variable& v) { v.pad = 1; }), "pad"));
  CHECK(contains(variable([](Variable& v) { v.conversion.host = HostType::Raw; }), "conversion"));
  CHECK(contains(variable([](Variable& v) { v.conversion.point = 1; }), "binary point"));
  CHECK(contains(variable([](Variable& v) { v.location.width = Width::Short; }), "gives a long"));
  CHECK(contains(variable([](Variable& v) { v.kind = VarKind::Param; }), "must be a scalar"));
  CHECK(contains(with([](Program& p) {
                   Instruction bget;
                   bget.move.op = Op::Bget;
                   bget.move.pe = {Space::Register, Width::Long, true, 0};
                   bget.move.bm = {Space::BmSource, Width::Long, false, 0};
                   p.section(Section::Start).push_back(bget);
                 }),
                 "outside the loop body"));
  const auto source = [&](std::uint16_t address, std::uint32_t item) {
    return with([&](Program& p) {
      p.item_shorts = item;
      p.variables[0].kind = VarKind::Source;
      p.variables[0].location = {Space::BmSource, Width::Long, false, address};
    });
  };
  CHECK(source(6, 8) == "accepted");
  CHECK(contains(source(8, 8), "beyond the j-item"));
  CHECK(contains(source(0, 3), "odd number of shorts"));
}

TEST_CASE("object files on disk are replaced atomically") {
  const TemporaryFolder own;
  const std::filesystem::path folder = own.path();
  const std::string path = (folder / "k.gdo").string();
  const Program first = random_object(1);
  const Program second = random_object(2);
  write_object_file(path, first);
  CHECK(read_object_file(path) == first);
  write_object_file(path, second);
  CHECK(read_object_file(path) == second);

  Program bad = second;
  bad.elements = 9;
  CHECK_THROWS_AS(write_object_file(path, bad), Error);
  CHECK(read_object_file(path) == second);
  CHECK_THROWS_AS(write_object_file((folder / "none" / "k.gdo").string(), first), Error);
  // The path is a folder: the rename fails, and the temporary file is removed.
  std::filesystem::create_directory(folder / "taken.gdo");
  CHECK_THROWS_AS(write_object_file((folder / "taken.gdo").string(), first), Error);
  const auto entries = std::distance(std::filesystem::directory_iterator(folder), {});
  CHECK(entries == 2);

  try {
    read_object_file((folder / "missing.gdo").string());
    FAIL("a missing file was read");
  } catch (const Error& error) {
    CHECK(error.category() == ErrorCategory::Io);
    CHECK(contains(error.what(), "missing.gdo"));
  }
  CHECK_THROWS_AS(read_object_file(folder.string()), Error);
}

}  // namespace
