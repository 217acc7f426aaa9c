// Layout of variables on the link.
#include "board/programs.hpp"
#include "support/catch.hpp"

using namespace gdr;

namespace {

Variable variable(const char* name, VarKind kind, const char* conversion,
                  Width width = Width::Long) {
  Operand location;
  location.width = width;
  return {name, kind, location, *find_conversion(conversion), Reduce::Pass, 0};
}

std::vector<std::uint32_t> offsets(const std::vector<LinkLayout::Field>& fields) {
  std::vector<std::uint32_t> v;
  for (const auto& f : fields) v.push_back(f.half_word);
  return v;
}

using Offsets = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("floats pack two to a word, all other fields begin a word", "[board]") {
  Program p;
  p.variables = {variable("a", VarKind::Target, "f64to72"),
                 variable("s", VarKind::Source, "f32to36"),
                 variable("b", VarKind::Target, "f32to72"),
                 variable("c", VarKind::Target, "f32to36"),
                 variable("t", VarKind::Source, "raw"),
                 variable("d", VarKind::Target, "f32to36"),
                 variable("e", VarKind::Target, "i64int"),
                 variable("f", VarKind::Target, "f32to36"),
                 variable("p", VarKind::Param, "f32to36"),
                 variable("q", VarKind::Param, "raw"),
                 variable("r", VarKind::Result, "raw", Width::Short)};
  const LinkLayout layout = link_layout(p);
  REQUIRE(offsets(layout.targets) == Offsets{0, 2, 3, 4, 6, 8});
  REQUIRE(layout.target_words == 5);
  REQUIRE(layout.targets[4].variable == 6);
  REQUIRE(offsets(layout.sources) == Offsets{0, 2});
  REQUIRE(layout.sources[1].half_words == 4);
  REQUIRE(layout.source_words == 3);
  REQUIRE(offsets(layout.params) == Offsets{0, 0});
  REQUIRE(layout.params[1].half_words == 4);
  REQUIRE(layout.result_words == 1);
  REQUIRE(layout.output_words == 0);
  REQUIRE(layout.outputs.empty());
}

TEST_CASE("slots and output records follow from the geometry", "[board]") {
  const Geometry g = test::small_geometry(1, 3, 5);
  Program p = test::pair_program({.elements = 2, .outputs = true});
  REQUIRE(target_slots(p, g, ChipPartition::TargetsOverBlocks) == 30);
  REQUIRE(target_slots(p, g, ChipPartition::SourcesOverBlocks) == 10);
  REQUIRE(output_records(p, g, ChipPartition::TargetsOverBlocks) == 1);
  p.variables.back().reduce = Reduce::Pass;
  REQUIRE(output_records(p, g, ChipPartition::TargetsOverBlocks) == 3);
  REQUIRE(output_records(p, g, ChipPartition::SourcesOverBlocks) == 1);
}
