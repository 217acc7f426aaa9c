#include "libgdr/cli/selftest_report.hpp"

#include <nlohmann/json.hpp>

#include "emulator/assembler/assembler.hpp"
#include "libgdr/cli/output.hpp"

namespace gdr::cli {
namespace {

std::string command_of(const selftest::Failure& failure) {
  return fmt::format("gdr selftest --only {} --seed {} --cases 1 --isa {}", failure.category,
                     failure.seed, isa_name(failure.isa));
}

Json divergence_json(const selftest::Divergence& d) {
  return {{"section", selftest::section_name(d.section)},
          {"iteration", d.iteration},
          {"instruction", d.instruction},
          {"text", d.text},
          {"alone", d.alone},
          {"pe", d.pe},
          {"element", d.element < 0 ? Json() : Json(d.element)},
          {"memory", d.memory},
          {"address", d.address},
          {"place", d.place},
          {"reference", selftest::word_text(d.expected, d.width)},
          {"engine", selftest::word_text(d.got, d.width)},
          {"operands", d.operands}};
}

Json failure_json(const selftest::Failure& f) {
  return {{"category", f.category},
          {"seed", f.seed},
          {"engine", f.engine},
          {"isa", isa_name(f.isa)},
          {"case", f.what},
          {"first", divergence_json(f.first)},
          {"shrunk", divergence_json(f.in_shrunk)},
          {"program", disassemble(f.shrunk.program)},
          {"repeat", command_of(f)}};
}

}  // namespace

std::string selftest_json(const SelftestReport& report) {
  Json json{{"seed", report.seed}, {"engines", Json::array()}, {"counts", Json::array()}};
  for (const auto& engine : report.engines) {
    json["engines"].push_back({{"engine", engine->name()}, {"isa", isa_name(engine->isa())}});
  }
  for (const selftest::Count& c : report.outcome.counts) {
    json["counts"].push_back(
        {{"category", c.category}, {"programs", c.cases}, {"operations", c.operations}});
  }
  const auto& failure = report.outcome.failure;
  json["same"] = !failure.has_value();
  if (failure) json["failure"] = failure_json(*failure);
  return json_text(json);
}

std::string selftest_text(const SelftestReport& report) {
  std::string text;
  for (const auto& engine : report.engines) {
    text +=
        fmt::format("{}{}/{}", text.empty() ? "" : ", ", engine->name(), isa_name(engine->isa()));
  }
  text += fmt::format(" against reference, seed {}\n", report.seed);
  for (const selftest::Count& c : report.outcome.counts) {
    text += fmt::format("  {:<12}{:>10} programs {:>16} operations the same\n", c.category, c.cases,
                        c.operations);
  }
  if (const auto& failure = report.outcome.failure) {
    text += fmt::format("\n{}\nrepeat with: {}\n", selftest::failure_text(*failure),
                        command_of(*failure));
  }
  return text;
}

}  // namespace gdr::cli
