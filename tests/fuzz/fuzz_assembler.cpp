// Assembler sources: any bytes give a program or at least one error, messages are printable, and a
// program is unchanged when disassembled and assembled again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emulator/assembler/assembler.hpp"
#include "fuzz/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  gdr::AssembleOptions options;
  options.max_expanded_lines = 20000;
  options.stall_is_error = size % 4 == 3;
  const gdr::AssembleResult result = gdr::assemble(text, "fuzz.gds", options);
  fuzz::check(result.ok() == (result.diagnostics.error_count == 0),
              "a program or an error, not both");
  fuzz::check(result.diagnostics.list.size() <= options.max_errors,
              "no more messages than asked for");
  for (const char c : result.diagnostics.render()) {
    fuzz::check(c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'),
                "messages hold no control characters");
  }
  if (!result.ok()) return 0;
  fuzz::check(!gdr::listing(*result.program, result.diagnostics).empty(), "there is a listing");
  const gdr::AssembleResult again =
      gdr::assemble(gdr::disassemble(*result.program), "again.gds", options);
  fuzz::check(again.ok(), "a disassembly assembles");
  fuzz::check(*again.program == *result.program, "a disassembly gives the same program");
  return 0;
}
