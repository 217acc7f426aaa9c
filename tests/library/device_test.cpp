// Device names: opening and errors.
#include <cmath>
#include <cstdlib>
#include <string>

#include "gdr/error.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

using gdr::test::contains;

namespace {

std::string usage_message(const std::string& name) {
  try {
    gdr::Device::open(name);
  } catch (const gdr::Error& error) {
    CHECK(error.category() == gdr::ErrorCategory::Usage);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a device opens by name, with options in the name") {
  gdr::Device device = gdr::Device::open(
      "emulator:engine=reference,boards=2,chips=3,blocks=4,pes=8,threads=1,clock=400e6");
  CHECK(device.description() == "emulator: 2 boards of 3 chips, reference engine, portable");
  CHECK(device.target_slots(library_test::spring()) == 2 * 3 * 4 * 8 * 4);
  CHECK(device.statistics().engine == "reference");
  CHECK(device.statistics().threads == 1);
  CHECK(gdr::Device::open("emulator:boards=1,chips=1").description().find("1 board of 1 chip,") !=
        std::string::npos);
}

TEST_CASE("options in the name override DeviceOptions") {
  gdr::DeviceOptions options;
  options.boards = 3;
  options.engine = "reference";
  gdr::Device device = gdr::Device::open("emulator:boards=2", options);
  CHECK(device.description() == "emulator: 2 boards of 4 chips, reference engine, portable");
}

TEST_CASE("an empty name selects GDR_DEVICE") {
  setenv("GDR_DEVICE", "emulator:boards=3,chips=1", 1);
  const std::string from_variable = gdr::Device::open().description();
  setenv("GDR_DEVICE", "emulatr", 1);
  CHECK(contains(usage_message(""), "GDR_DEVICE: unknown device \"emulatr\"; did you mean"));
  CHECK_NOTHROW(gdr::Device::open("emulator"));
  unsetenv("GDR_DEVICE");
  CHECK(from_variable.find("3 boards of 1 chip,") != std::string::npos);
  CHECK(gdr::Device::open().description().find("1 board of 4 chips") != std::string::npos);
}

TEST_CASE("calculations run on native where no engine is named, and the machine on vector") {
  unsetenv("GDR_ENGINE");
  const auto engine = [](std::string_view name, const gdr::DeviceOptions& options = {}) {
    return gdr::Device::open(name, options).statistics().engine;
  };
  CHECK(engine("") == "native");
  CHECK(engine("emulator:chips=1") == "native");
  gdr::DeviceOptions machine;
  machine.default_engine = "vector";
  CHECK(engine("emulator", machine) == "vector");
  CHECK(engine("emulator:engine=native", machine) == "native");
  CHECK_NOTHROW(gdr::Machine("emulator:pes=4"));  // it refuses engines without words
  setenv("GDR_ENGINE", "reference", 1);
  CHECK(engine("") == "reference");
  CHECK(engine("emulator", machine) == "reference");
  CHECK(engine("emulator:engine=native-fast") == "native-fast");
  setenv("GDR_ENGINE", "exact", 1);
  CHECK(engine("") == "vector");
  unsetenv("GDR_ENGINE");
}

TEST_CASE("the word exact selects the vector engine, as name, as engine and in options") {
  for (const char* name : {"exact", "emulator:engine=exact", "exact:boards=2", "vector"})
    CHECK(gdr::Device::open(name).statistics().engine == "vector");
  gdr::DeviceOptions options;
  options.engine = "exact";
  CHECK(gdr::Device::open("emulator:chips=1", options).statistics().engine == "vector");
}

TEST_CASE("the name of an engine is a device name, with the emulator's options") {
  const gdr::Device device = gdr::Device::open("native-mixed:boards=2,chips=3");
  CHECK(contains(device.description(), "emulator: 2 boards of 3 chips, native-mixed engine"));
  CHECK(gdr::Device::open("native").statistics().engine == "native");
  CHECK(contains(usage_message("nativ"), "did you mean \"native\"?"));
  CHECK(contains(usage_message("native:board=2"), "did you mean \"boards\"?"));
}

TEST_CASE("errors for wrong device names suggest the nearest one") {
  CHECK(contains(usage_message("emulater"), "did you mean \"emulator\"?"));
  CHECK(contains(usage_message("emulator:board=2"), "did you mean \"boards\"?"));
  CHECK(contains(usage_message("emulator:engine=vektor"), "did you mean \"vector\"?"));
  CHECK(contains(usage_message("emulator:isa=avx3"), "did you mean \"avx2\"?"));
  CHECK(contains(usage_message("emulator:partition=source"), "did you mean \"sources\"?"));
  CHECK(contains(usage_message("emulator:engine"), "has no value"));
  CHECK(contains(usage_message("emulator:boards=0"), "boards=0"));
  CHECK(contains(usage_message("emulator:boards=-1"), "boards=-1"));
  CHECK(contains(usage_message("emulator:boards=2x"), "boards=2x"));
  CHECK(contains(usage_message("emulator:chips=100000"), "chips=100000"));
  CHECK(contains(usage_message("emulator:pes=0"), "pes=0"));
  CHECK(contains(usage_message("emulator:clock=fast"), "clock=fast"));
  CHECK(contains(usage_message("qqqqqqqqqqqqqq"), "(known: emulator, "));
  gdr::DeviceOptions options;
  options.boards = 0;
  CHECK_THROWS_AS(gdr::Device::open("emulator", options), gdr::Error);
  for (const double seconds : {-1.0, 1e300, std::nan("")}) {
    gdr::DeviceOptions waits;
    waits.queue_timeout = seconds;
    CHECK_THROWS_AS(gdr::Device::open("emulator", waits), gdr::Error);
  }
}

TEST_CASE("kernels are created from text and by name") {
  CHECK(library_test::spring().name() == "spring");
  CHECK(library_test::spring().flops_per_interaction() == 4);
  const auto& variables = library_test::spring().variables();
  REQUIRE(variables.size() == 6);
  CHECK(variables[0].name == "xi");
  CHECK(variables[0].role == gdr::Role::Target);
  CHECK(variables[1].role == gdr::Role::Source);
  CHECK(variables[3].role == gdr::Role::Param);
  CHECK(variables[4].reduction == "fadd");
  CHECK(variables[4].conversion == "f64to72");
  CHECK_THROWS_AS(gdr::Kernel::assemble("fsub\n"), gdr::Error);
  CHECK_THROWS_AS(gdr::Kernel::builtin("no such kernel"), gdr::Error);
  CHECK_THROWS_AS(gdr::Kernel::load("/no/such/file.gds"), gdr::Error);
  CHECK_THROWS_AS(gdr::Kernel::load("/no/such/file.gdo"), gdr::Error);
  CHECK_THROWS_AS(gdr::Kernel::from_object("nonsense", 8), gdr::Error);
}

TEST_CASE("a kernel is restored from its object bytes") {
  const auto& object = library_test::spring().object();
  const gdr::Kernel again = gdr::Kernel::from_object(object.data(), object.size());
  CHECK(again.object() == object);
  CHECK_THROWS_AS(gdr::Kernel::from_object(object.data(), object.size() - 1), gdr::Error);
  CHECK_THROWS_AS(gdr::Kernel::from_object(nullptr, 5), gdr::Error);
}
