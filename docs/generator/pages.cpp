// Build tool: writes the generated pages of docs/reference, each made from the table that the
// product itself uses, or checks that they are up to date.
//
// usage: gdr_docs_generator FOLDER            write all pages into FOLDER
//        gdr_docs_generator --check FOLDER    exit status 1 if a page differs from its table
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/diagnostics/page.hpp"
#include "emulator/isa/encoding.hpp"
#include "emulator/isa/ports.hpp"
#include "emulator/isa/table.hpp"
#include "gdr/error.hpp"
#include "kernel_functions.hpp"
#include "kernels/compiler/diagnostic_examples.hpp"
#include "libgdr/device/default_engines.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::docs {
namespace {

constexpr std::string_view instruction_introduction = R"(# Instruction set

Generated from the instruction table (`emulator/isa/table.cpp`) and the field table
(`emulator/isa/encoding.cpp`); do not edit.

The operations and their results follow what is published about the original chip. Their names and
encodings are this project's own, because no bit-level description of the original is public.
[assembler.md](assembler.md) describes the assembly language, [arithmetic.md](arithmetic.md) the
number formats and their rounding.

Syntax: DST is at most one location, T and (not for the multiplier) a mask flag, joined by `:`. A
and B are locations, fixed inputs or immediates. Meaning: `round` is one rounding to nearest even
into the format of the destination, to zero below 2^-1022 and to infinity from 2^1024 upwards;
`leading(x, n)` is x truncated to its leading n significant bits. Integer operands are converted to
the width of the result: a short operand widens to the low half, a long operand contributes its low
36 bits.

An instruction takes one clock for each element (`vlen`, 1 to 4), or two if it contains a `dmul`. In
one clock an element can use two reads and one write of the register file, one access of the local
memory, one read and one write of T, and one access of the broadcast memory. The ports listed with
an example are those of one element.

)";

std::string_view unit_name(Unit unit) {
  constexpr std::string_view names[] = {"multiplier", "adder", "integer", "transfer"};
  return names[static_cast<unsigned>(unit)];
}

/// The field that holds an operation's opcode.
std::string_view opcode_field(Unit unit) {
  constexpr std::string_view names[] = {"mul.op", "alu.op", "alu.op", "move.op"};
  return names[static_cast<unsigned>(unit)];
}

std::string syntax(const OpInfo& op) {
  if (op.op == Op::None) return std::string(op.mnemonic);
  if (op.op == Op::Bget) return "bget PE_LOCATION BM_LOCATION";
  if (op.op == Op::Bput) return "bput BM_LOCATION PE_LOCATION PE_NUMBER";
  return fmt::format("{} DST A{}", op.mnemonic, op.operands > 1 ? " B" : "");
}

std::string mask_flags(const OpInfo& op) {
  if (op.unit == Unit::Adder) return "negative (below zero; not -0, not NaN), zero (either sign)";
  if (op.unit == Unit::Integer)
    return std::string("negative (top bit), zero") + (op.has_carry ? ", carry" : "");
  return "none";
}

Instruction assembled_example(const OpInfo& op) {
  const std::string text = fmt::format(".kernel example\n.body\n    {}\n", op.example);
  const AssembleResult result = assemble(text, "example.gds");
  if (!result.ok() || result.program->section(Section::Body).empty())
    throw Error(ErrorCategory::Internal, fmt::format("the example of {} does not assemble:\n{}",
                                                     op.mnemonic, result.diagnostics.render()));
  return result.program->section(Section::Body).front();
}

std::string ports_text(const Instruction& instruction) {
  std::vector<Access> accesses;
  accesses_of_element(instruction, 0, Geometry{}, accesses);
  std::array<unsigned, port_count> uses{};
  for (const Access& access : accesses)
    if (access.what != Access::What::Mask) ++uses[static_cast<unsigned>(port_of(access))];
  std::string text;
  for (unsigned p = 0; p < port_count; ++p)
    if (uses[p] != 0)
      text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", uses[p],
                          port_name(static_cast<Port>(p)));
  return text.empty() ? "none" : text;
}

std::string encoding_text(const Instruction& instruction) {
  const EncodedInstruction word = encode(instruction);
  std::string text;
  for (std::size_t k = 0; k < word.size(); ++k)
    if (word[k] != 0) text += fmt::format("{}{}: `{:016x}`", text.empty() ? "" : ", ", k, word[k]);
  return text;
}

std::string section_text(const OpInfo& op) {
  const Instruction example = assembled_example(op);
  std::string text = fmt::format("## {}\n\n{}\n\n    {}\n\n", op.mnemonic, op.summary, syntax(op));
  if (!op.meaning.empty()) text += fmt::format("```\n{}\n```\n\n", op.meaning);
  if (!op.notes.empty()) text += fmt::format("{}\n\n", op.notes);
  text += "| | |\n|---|---|\n";
  if (op.op != Op::None) {
    text += fmt::format("| unit | {} |\n", unit_name(op.unit));
    text += fmt::format("| opcode | {} in `{}` |\n", static_cast<unsigned>(op.op),
                        opcode_field(op.unit));
    text += fmt::format("| mask flags | {} |\n", mask_flags(op));
  }
  text += fmt::format("| clocks | {} an element |\n", op.element_clocks);
  text += fmt::format("| example | `{}` |\n", op.example);
  text += fmt::format("| ports | {} |\n", ports_text(example));
  text += fmt::format("| encoded words | {} |\n\n", encoding_text(example));
  return text;
}

constexpr std::string_view encoding_introduction = R"(
## Encoding

An instruction has 512 bits, stored as eight 64-bit words. **The layout is this project's own**: no
bit-level encoding of the original chip is public. It leaves space, so that a field has the same
meaning in every instruction and larger geometries fit. Bits that belong to no field in use are
zero; a word with any of them set is rejected.

| field | word | bits | meaning |
|---|---|---|---|
)";

constexpr std::string_view encoding_operands = R"(
### Operand fields

An operand is 22 bits; all are zero where there is none.

| bits | meaning |
|---|---|
| 3:0 | space, below |
| 4 | width: 0 short, 1 long |
| 5 | 1: vector, the address advances by the width from element to element |
| 21:6 | address in shorts |

| space | location |
|---|---|
| 0 | no operand |
| 1 | register file |
| 2 | local memory |
| 3 | local memory at the address in T |
| 4 | T of the element: address 0 the long or its upper half, 1 the lower half |
| 5 | the slot's immediate |
| 6 | number of the PE in its block |
| 7 | number of the block |
| 8 | broadcast memory, fixed address |
| 9 | broadcast memory, relative to the group of j-items |
| 10 | broadcast memory, relative to the group of output items |

Each operation above lists its opcode.
)";

/// The part of instruction-set.md about the fields of an instruction word and of an operand.
std::string encoding_section() {
  std::string text(encoding_introduction);
  for (const EncodingField& f : encoding_fields()) {
    const std::string bits = f.bits == 1 ? fmt::format("{}", f.low_bit)
                                         : fmt::format("{}:{}", f.low_bit + f.bits - 1, f.low_bit);
    text += fmt::format("| `{}` | {} | {} | {} |\n", f.name, f.word, bits, f.meaning);
  }
  return text + std::string(encoding_operands);
}

/// instruction-set.md: a section for each operation, then the encoding. Assembles the example of
/// every row of the instruction table; throws Error (Internal) where one does not assemble.
std::string instruction_set_page() {
  std::string text(instruction_introduction);
  text += "| operation | unit | clocks an element | |\n|---|---|---|---|\n";
  for (const OpInfo& op : instruction_table())
    text +=
        fmt::format("| [{}](#{}) | {} | {} | {} |\n", op.mnemonic, op.mnemonic,
                    op.op == Op::None ? "none" : unit_name(op.unit), op.element_clocks, op.summary);
  text += '\n';
  for (const OpInfo& op : instruction_table()) text += section_text(op);
  return text + encoding_section();
}

constexpr std::string_view device_introduction = R"(# Device names and options

Generated from the table that reads device names (`libgdr/device/option_table.cpp`); do not edit.

A device name is a kind of device, followed by a colon and options:
`emulator:boards=2,engine=native`, or, for kinds that have a place, `board:unix:PATH,boards=2`. The
name is given to `--device`, `gdr::Device::open`, `gdr_device_open` and `gdr.open`. An empty name
stands for the value of the [environment variable](environment.md) `GDR_DEVICE`, or for `emulator` if
that is not set. An unknown kind, option or value is an error that names the nearest known one.

## Kinds of devices

| device | meaning |
|---|---|
)";

constexpr std::string_view device_options_heading = R"(
## Options

| option | values | default | meaning |
|---|---|---|---|
)";

constexpr std::string_view device_notes = R"(
A board of a server or on the bus has a geometry and an engine of its own: `chips` to `clock`,
`engine` and `isa` then only assert what the board must have (a server started with `--any-engine`
lets its clients choose the engine). Defaults of the geometry are those of the original chip at its
design clock. On a device `mpi` the options hold for every rank; geometry, partition and engine must
be the same on all ranks.

Jobs in different queues overlap ([library.md](../guides/library.md#devices)). Other devices than
`emulator` have one queue: `queues=2` is an error there.
)";

constexpr std::string_view default_engines_heading = R"(
## Default engines

From the table `libgdr/device/default_engines.cpp`. Where neither a name, an option nor `GDR_ENGINE`
names the engine of an emulated board, the use decides:

| used by | engine | reason |
|---|---|---|
)";

constexpr std::string_view default_engines_notes = R"(
`exact` is another name of `vector`: the words and bits that GDR specifies for the machine
([arithmetic.md](arithmetic.md)), the same on every host. `native` computes the same sums with the
SIMD instructions of this CPU. Clocks and predicted times are those of the machine with both, and
`statistics` and `description()` name the engine that runs. The choice is one word everywhere:
`gdr.open("exact")`, `gdr::Device::open("exact")`, `--exact`, `GDR_ENGINE=exact`,
`gdr.gravity(pos, mass, device="exact")`.
)";

/// Each of the blank-separated words in backquotes.
std::string quoted_words(std::string_view words) {
  std::string text;
  while (!words.empty()) {
    const std::size_t blank = words.find(' ');
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", words.substr(0, blank));
    words = blank == std::string_view::npos ? "" : words.substr(blank + 1);
  }
  return text;
}

/// device-options.md: kinds of devices and the options that a device name may hold.
std::string device_options_page() {
  std::string text(device_introduction);
  for (const DeviceKind& kind : device_kinds())
    text += fmt::format("| {} | {} |\n", quoted_words(kind.written), kind.meaning);
  text += device_options_heading;
  for (const DeviceOption& option : device_options())
    text += fmt::format("| `{}` | {} | {} | {} |\n", option.name, option.values, option.fallback,
                        option.meaning);
  text += device_notes;
  text += default_engines_heading;
  for (const DefaultEngine& row : default_engines())
    text += fmt::format("| {} | `{}` | {} |\n", row.users, row.engine, row.reason);
  return text + std::string(default_engines_notes);
}

struct Page {
  std::string_view name;  ///< file name in docs/reference, without the ending .md
  std::string (*text)();
};
constexpr Page pages[] = {
    {"instruction-set", instruction_set_page},
    {"device-options", device_options_page},
    {"assembler-diagnostics", diagnostics_page},
    {"kernel-diagnostics", kc::kernel_diagnostics_page},
    {"kernel-functions", kernel_functions_page},
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int run(bool check, const std::string& folder) {
  int status = 0;
  for (const Page& page : pages) {
    const std::string path = folder + "/" + std::string(page.name) + ".md";
    const std::string text = page.text();
    if (contents(path) == text) continue;
    if (check) {
      std::fprintf(stderr, "%s differs from the table it is generated from; run `make docs`\n",
                   path.c_str());
      status = 1;
      continue;
    }
    std::ofstream file(path);
    if (!(file << text).flush()) {
      std::fprintf(stderr, "%s cannot be written\n", path.c_str());
      status = 1;
    }
  }
  return status;
}

}  // namespace
}  // namespace gdr::docs

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::fprintf(stderr, "usage: gdr_docs_generator [--check] FOLDER\n");
    return 2;
  }
  try {
    return gdr::docs::run(check, argv[argc - 1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gdr_docs_generator: %s\n", error.what());
    return 1;
  }
}
