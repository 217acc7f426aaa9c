// Machine descriptions: presets, files, errors.
#include "libgdr/predict/machine.hpp"

#include <string>

#include "emulator/board/constants.hpp"
#include "gdr/error.hpp"
#include "libgdr/dense/host_model.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::predict;

namespace {

/// The message of the error for a text; empty if there is none.
std::string refusal(const std::string& text) {
  try {
    parse_machine(text, "m.json");
  } catch (const Error& error) {
    CHECK(error.category() == ErrorCategory::Input);
    return error.what();
  }
  return {};
}

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

}  // namespace

TEST_CASE("presets have the constants of the emulated board and of the host") {
  const Machine m = preset("board4");
  CHECK(m.board_rates() == BoardRates{});
  CHECK(m.host_rates() == dense::HostRates{});
  Geometry g;
  g.clock_hz = 400e6;
  CHECK(m.geometry() == g);
  CHECK(m.peak_double() == Approx(819.2e9));
  CHECK(preset("cluster64").chips() == 256);
  CHECK(preset("cluster128").chips() == 512);
  const Machine plan = preset("plan4096");
  CHECK(plan.chips() == 4096);
  CHECK(plan.peak_single() == Approx(2.097e15).epsilon(1e-3));
}

TEST_CASE("every value of every preset has a source and lies in its range") {
  for (const Preset& p : presets()) {
    Machine m = preset(p.name);
    for (const KeyInfo& info : key_table()) {
      const Quantity q = m.values[static_cast<std::size_t>(info.key)];
      INFO(p.name << " " << info.name);
      CHECK(q.source.size() > 3);
      CHECK_NOTHROW(m.set(info.key, q));
      CHECK(&find_key(info.name) == &info);
    }
  }
}

TEST_CASE("a machine is unchanged when written and read again") {
  for (const Preset& p : presets()) {
    const Machine m = preset(p.name), back = parse_machine(machine_json(m), "m.json");
    CHECK(back.name == m.name);
    CHECK(back.summary == m.summary);
    for (std::size_t k = 0; k < key_count; ++k) {
      CHECK(back.values[k].value == m.values[k].value);
      CHECK(back.values[k].origin == m.values[k].origin);
      CHECK(back.values[k].source == m.values[k].source);
    }
  }
}

TEST_CASE("a file overrides values of its base machine") {
  const Machine m = parse_machine(R"({
    // a comment
    "name": "mine", "base": "cluster64",
    "link": { "write": { "value": 5e9, "unit": "bytes/s", "origin": "tuned", "source": "a guess" } },
    "network": { "nodes": 8 }
  })",
                                  "m.json");
  CHECK(m.name == "mine");
  CHECK(m[Key::LinkWrite] == 5e9);
  CHECK(m.values[static_cast<std::size_t>(Key::LinkWrite)].origin == Origin::Tuned);
  CHECK(m.nodes() == 8);
  const Quantity& nodes = m.values[static_cast<std::size_t>(Key::NetworkNodes)];
  CHECK(nodes.origin == Origin::Assumed);
  CHECK(nodes.source.find("m.json") != std::string::npos);
  CHECK(m[Key::ChipClock] == preset("cluster64")[Key::ChipClock]);
}

TEST_CASE("errors in a machine file are reported with their place") {
  CHECK(begins(refusal("{\n  \"base\": \"board4\",\n  \"link\" 3\n}"), "m.json:3:"));
  CHECK(begins(refusal(""), "m.json:1:1: invalid JSON"));
  CHECK(begins(refusal("{\"base\": \"board4\""), "m.json:1:"));
  CHECK(begins(refusal("[1]"), "m.json: a machine is an object"));
  CHECK(begins(refusal("{}"), "m.json: base: is missing"));
  CHECK(refusal(R"({"base": "bord4"})").find("did you mean \"board4\"") != std::string::npos);
  CHECK(begins(refusal(R"({"base": 4})"), "m.json: base: a string"));
  CHECK(refusal(R"({"base": "board4", "lnk": {}})").find("did you mean \"link\"") !=
        std::string::npos);
  CHECK(
      refusal(R"({"base": "board4", "link": {"wirte": 1}})").find("did you mean \"link.write\"") !=
      std::string::npos);
  CHECK(begins(refusal(R"({"base": "board4", "link": 3})"), "m.json: link: an object"));
  CHECK(
      begins(refusal(R"({"base": "board4", "link": {"write": "fast"}})"), "m.json: link.write: "));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"write": {"unit": "bytes/s"}}})"),
               "m.json: link.write: has no \"value\""));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"write": {"value": "x"}}})"),
               "m.json: link.write.value: a number"));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"write": {"value": 1, "unit": "GB/s"}}})"),
               "m.json: link.write.unit: \"GB/s\": the unit of this value is \"bytes/s\""));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"write": {"value": 1, "origin": "felt"}}})"),
               "m.json: link.write.origin: unknown origin"));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"write": {"value": 1, "why": ""}}})"),
               "m.json: link.write.why: unknown field"));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"write": -1}})"),
               "m.json: link.write: link.write = -1: a number from 1"));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"write": 1e400}})"), "m.json: "));
  CHECK(begins(refusal(R"({"base": "board4", "chip": {"blocks": 1.5}})"),
               "m.json: chip.blocks: chip.blocks = 1.5: a whole number"));
  CHECK(begins(refusal(R"({"base": "board4", "link": {"read": 1, "read": 2}})"),
               "m.json: read: is given twice"));
  CHECK_THROWS_AS(find_machine("no/such/file.json"), Error);
  CHECK_THROWS_AS(find_machine("bord4"), Error);
}

TEST_CASE("a damaged file gives an error or a valid machine") {
  const std::string whole = machine_json(preset("cluster64"));
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    INFO(cut);
    CHECK_FALSE(refusal(whole.substr(0, cut)).empty());
  }
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ 0x15);
    try {
      const Machine m = parse_machine(text, "m.json");
      CHECK(m[Key::ChipClock] > 0);
    } catch (const Error& error) {
      CHECK(error.category() == ErrorCategory::Input);
    }
  }
}
