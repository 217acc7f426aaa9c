// Object files: any bytes give a program or an error; a program is written to the same bytes again,
// and its disassembly assembles to the same object.
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "fuzz/check.hpp"
#include "gdr/error.hpp"
#include "object/object_bytes.hpp"

namespace {

using fuzz::check;
using gdr::Program;

void check_object(const std::vector<std::uint8_t>& bytes) {
  Program program;
  try {
    program = gdr::read_object(bytes);
  } catch (const gdr::Error& error) {
    check(error.category() == gdr::ErrorCategory::Program, "a bad object is a bad program");
    return;
  }
  check(gdr::write_object(program) == bytes, "what was read is written to the same bytes");
  const gdr::AssembleResult again = gdr::assemble(gdr::disassemble(program), "disassembly");
  check(again.ok(), "the disassembly assembles");
  check(gdr::write_object(*again.program) == bytes, "the disassembly is the same object");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> input(data, size);
  std::vector<std::uint8_t> bytes(input.begin(), input.end());
  check_object(bytes);
  // A fuzzer does not find checksums: correct it, so that the chunks are reached.
  gdr::test::make_checksum_good(bytes);
  check_object(bytes);
  // The same for the header.
  bytes = gdr::write_object(Program{});
  bytes.resize(24);
  bytes.insert(bytes.end(), input.begin(), input.end());
  gdr::test::make_checksum_good(bytes);
  check_object(bytes);
  return 0;
}
