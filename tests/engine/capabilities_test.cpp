// What engines offer, as data.
#include <string>

#include "emulator/engine/api/engine.hpp"
#include "gdr/statistics.hpp"
#include "support/catch.hpp"

using namespace gdr;

TEST_CASE("an engine has the name and the capabilities of its row in the table") {
  for (const EngineEntry& row : engine_table()) {
    if (row.capabilities.uses_gpu) continue;  // this host may have none
    CAPTURE(std::string(row.name));
    const auto engine = make_engine(row.name);
    CHECK(engine->name() == row.name);
    CHECK(engine->capabilities().numbers == row.capabilities.numbers);
    CHECK(engine->capabilities().multiplies_arrays == !row.capabilities.exact());
    CHECK(engine->capabilities().multiplies_all_bits == !row.capabilities.exact());
  }
}

TEST_CASE("the numbers of an engine follow from its name, also with a device") {
  for (const char* const name : {"reference", "vector", "gpu-exact", "gpu-exact:1", "another"})
    CHECK(numbers_of(name) == EngineNumbers::Machine);
  for (const char* const name : {"native", "gpu", "gpu:1", "gpu:NVIDIA"})
    CHECK(numbers_of(name) == EngineNumbers::Doubles);
  for (const char* const name : {"native-mixed", "native-float", "native-fast", "gpu-float:0"})
    CHECK(numbers_of(name) == EngineNumbers::Floats);
  CHECK(capabilities_of("gpu-exact:1").uses_gpu);
  CHECK_FALSE(capabilities_of("native-mixed").rounds_inputs);
  CHECK(capabilities_of("native-float").rounds_inputs);
}

TEST_CASE("an executable says whether its runs may read streams") {
  CHECK(make_engine("reference")->prepare({}, {})->streaming() == nullptr);
  const auto vector = make_engine("vector")->prepare({}, {});
  CHECK(vector->streaming() == vector.get());
}
