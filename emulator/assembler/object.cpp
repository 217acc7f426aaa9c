#include "emulator/assembler/object.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "emulator/assembler/bytes.hpp"
#include "emulator/assembler/program_validation.hpp"
#include "emulator/isa/encoding.hpp"
#include "gdr/error.hpp"

// Layout: docs/reference/object-file.md. The format is canonical: a reader accepts only the bytes
// that the writer produces for a program.

namespace gdr {
namespace {

// The non-letters of the magic detect transfers that convert line ends or drop bit 7.
constexpr std::array<std::uint8_t, 8> magic{0x89, 'G', 'D', 'O', '\r', '\n', 0x1a, '\n'};
constexpr std::uint32_t version = 1;
constexpr std::size_t header_bytes = 24, alignment = 8;
constexpr std::size_t operand_bytes = 9, line_bytes = 8, instruction_bytes = 64;
constexpr std::size_t min_string_bytes = 4, min_symbol_bytes = min_string_bytes + operand_bytes;
constexpr std::size_t min_variable_bytes = min_symbol_bytes + 1 + 3 + 1 + 8;

/// Chunks of a file in order.
enum Chunk : std::size_t { Info, Code, Lines, Files, Variables, Symbols, chunk_count };
constexpr std::array<std::string_view, chunk_count> tags{"INFO", "CODE", "LINE",
                                                         "FILE", "VARS", "SYMS"};

constexpr std::uint32_t tag_number(std::string_view tag) {
  std::uint32_t number = 0;
  for (unsigned i = 0; i < 4; ++i)
    number |= std::uint32_t{static_cast<unsigned char>(tag[i])} << (8 * i);
  return number;
}

[[noreturn]] void fail(const std::string& name, std::size_t offset, const std::string& what) {
  throw Error(ErrorCategory::Program,
              fmt::format("{}: byte {}: {}; assemble the source again", name, offset, what));
}

[[noreturn]] void fail_truncated(const std::string& name, std::size_t offset,
                                 std::uint64_t wanted) {
  fail(name, offset, fmt::format("truncated: {} bytes are missing, or a length is wrong", wanted));
}

std::uint32_t checksum(std::span<const std::uint8_t> bytes) noexcept {
  return static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), bytes.data(), bytes.size()));
}

// --- writing ---

void put_operand(ByteWriter& out, const Operand& o) {
  out.put(static_cast<std::uint8_t>(o.space));
  out.put(static_cast<std::uint8_t>(o.width));
  out.put(static_cast<std::uint8_t>(o.vector));
  out.put(o.address);
  out.put(o.range_first);
  out.put(o.range_last);
}

void put_info(ByteWriter& out, const Program& p) {
  out.put_string(p.name);
  for (const std::uint32_t n :
       {p.elements, p.group, p.item_shorts, p.output_shorts, p.fixed_shorts}) {
    out.put(n);
  }
  out.put(std::bit_cast<std::uint64_t>(p.flops));
}

void put_code(ByteWriter& out, const Program& p) {
  for (const auto& section : p.sections) out.put(static_cast<std::uint32_t>(section.size()));
  for (const auto& section : p.sections) {
    for (const Instruction& i : section) {
      for (const std::uint64_t word : encode(i)) out.put(word);
    }
  }
}

/// Sections without source lines are written with unknown ones (file 0, line 0).
void put_lines(ByteWriter& out, const Program& p) {
  for (unsigned s = 0; s < section_count; ++s) {
    for (std::size_t i = 0; i < p.sections[s].size(); ++i) {
      const SourceLine line = p.lines[s].empty() ? SourceLine{} : p.lines[s][i];
      out.put(line.file);
      out.put(line.line);
    }
  }
}

void put_files(ByteWriter& out, const Program& p) {
  out.put(static_cast<std::uint32_t>(p.files.size()));
  for (const std::string& file : p.files) out.put_string(file);
}

void put_variables(ByteWriter& out, const Program& p) {
  out.put(static_cast<std::uint32_t>(p.variables.size()));
  for (const Variable& v : p.variables) {
    out.put_string(v.name);
    out.put(static_cast<std::uint8_t>(v.kind));
    put_operand(out, v.location);
    out.put(static_cast<std::uint8_t>(v.conversion.host));
    out.put(static_cast<std::uint8_t>(v.conversion.machine));
    out.put(v.conversion.point);
    out.put(static_cast<std::uint8_t>(v.reduce));
    out.put(v.pad);
  }
}

void put_symbols(ByteWriter& out, const Program& p) {
  out.put(static_cast<std::uint32_t>(p.symbols.size()));
  for (const Symbol& s : p.symbols) {
    out.put_string(s.name);
    put_operand(out, s.location);
  }
}

using PutChunk = void (*)(ByteWriter&, const Program&);
constexpr std::array<PutChunk, chunk_count> writers{put_info,  put_code,      put_lines,
                                                    put_files, put_variables, put_symbols};

// --- reading ---

Operand get_operand(ByteReader& in, const std::string& name) {
  const std::size_t at = in.offset();
  Operand o;
  o.space = static_cast<Space>(in.get<std::uint8_t>());
  o.width = static_cast<Width>(in.get<std::uint8_t>());
  const auto vector = in.get<std::uint8_t>();
  o.vector = vector != 0;
  o.address = in.get<std::uint16_t>();
  o.range_first = in.get<std::uint16_t>();
  o.range_last = in.get<std::uint16_t>();
  if (vector > 1) fail(name, at, "invalid vector flag of a location");
  if (auto wrong = validate_location(o); !wrong.empty()) fail(name, at, wrong);
  return o;
}

void get_info(ByteReader& in, const std::string&, Program& p) {
  p.name = in.get_string();
  for (std::uint32_t* n :
       {&p.elements, &p.group, &p.item_shorts, &p.output_shorts, &p.fixed_shorts}) {
    *n = in.get<std::uint32_t>();
  }
  p.flops = std::bit_cast<double>(in.get<std::uint64_t>());
}

void get_code(ByteReader& in, const std::string& name, Program& p) {
  std::array<std::uint32_t, section_count> counts{};
  for (auto& count : counts) count = in.get<std::uint32_t>();
  std::string why;
  for (unsigned s = 0; s < section_count; ++s) {
    const std::uint64_t wanted = std::uint64_t{counts[s]} * instruction_bytes;
    if (wanted > in.left()) fail_truncated(name, in.offset(), wanted);
    p.sections[s].reserve(counts[s]);
    for (std::uint32_t i = 0; i < counts[s]; ++i) {
      const std::size_t at = in.offset();
      EncodedInstruction word{};
      for (auto& w : word) w = in.get<std::uint64_t>();
      const auto instruction = decode(word, why);
      if (!instruction) fail(name, at, "invalid instruction: " + why);
      p.sections[s].push_back(*instruction);
    }
  }
}

void get_lines(ByteReader& in, const std::string& name, Program& p) {
  for (unsigned s = 0; s < section_count; ++s) {
    const std::uint64_t wanted = p.sections[s].size() * line_bytes;
    if (wanted > in.left()) fail_truncated(name, in.offset(), wanted);
    p.lines[s].resize(p.sections[s].size());
    for (SourceLine& line : p.lines[s]) {
      line.file = in.get<std::uint32_t>();
      line.line = in.get<std::uint32_t>();
    }
  }
}

void get_files(ByteReader& in, const std::string&, Program& p) {
  p.files.resize(in.get_count(min_string_bytes));
  for (std::string& file : p.files) file = in.get_string();
}

void get_variables(ByteReader& in, const std::string& name, Program& p) {
  p.variables.resize(in.get_count(min_variable_bytes));
  for (Variable& v : p.variables) {
    v.name = in.get_string();
    v.kind = static_cast<VarKind>(in.get<std::uint8_t>());
    v.location = get_operand(in, name);
    v.conversion.host = static_cast<HostType>(in.get<std::uint8_t>());
    v.conversion.machine = static_cast<MachineFormat>(in.get<std::uint8_t>());
    v.conversion.point = in.get<std::uint8_t>();
    v.reduce = static_cast<Reduce>(in.get<std::uint8_t>());
    v.pad = in.get<std::uint64_t>();
  }
}

void get_symbols(ByteReader& in, const std::string& name, Program& p) {
  p.symbols.resize(in.get_count(min_symbol_bytes));
  for (Symbol& s : p.symbols) {
    s.name = in.get_string();
    s.location = get_operand(in, name);
  }
}

using GetChunk = void (*)(ByteReader&, const std::string&, Program&);
constexpr std::array<GetChunk, chunk_count> readers{get_info,  get_code,      get_lines,
                                                    get_files, get_variables, get_symbols};

/// Magic, version, checksum: checked in this order to give specific messages.
void check_header(std::span<const std::uint8_t> bytes, const std::string& name) {
  const auto same = std::min(bytes.size(), magic.size());
  if (bytes.empty() || !std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(same),
                                   bytes.begin())) {
    throw Error(ErrorCategory::Program, name + ": not an object file; create one with 'gdr asm'");
  }
  if (bytes.size() < header_bytes) fail_truncated(name, bytes.size(), header_bytes - bytes.size());
  ByteReader in(bytes.subspan(magic.size()), name, magic.size(), fail_truncated);
  const auto found = in.get<std::uint32_t>();
  const auto sum = in.get<std::uint32_t>();
  const auto length = in.get<std::uint64_t>();
  if (found != version) {
    fail(name, magic.size(),
         fmt::format("object version {}; this library supports version {}", found, version));
  }
  if (length > bytes.size()) fail_truncated(name, bytes.size(), length - bytes.size());
  if (length < bytes.size()) fail(name, static_cast<std::size_t>(length), "trailing bytes");
  if (checksum(bytes.subspan(header_bytes)) != sum) {
    fail(name, magic.size() + sizeof version, "checksum error: the file is damaged");
  }
}

}  // namespace

std::vector<std::uint8_t> write_object(const Program& program) {
  if (auto wrong = validate_program(program); !wrong.empty()) {
    throw Error(ErrorCategory::Program, "this program cannot be stored: " + wrong);
  }
  ByteWriter chunks;
  for (std::size_t c = 0; c < chunk_count; ++c) {
    ByteWriter body;
    writers[c](body, program);
    chunks.put(tag_number(tags[c]));
    chunks.put(std::uint32_t{0});
    chunks.put(static_cast<std::uint64_t>(body.size()));
    chunks.put_bytes(body.take());
    chunks.align(alignment);
  }
  const auto body = chunks.take();
  ByteWriter out;
  out.put_bytes(magic);
  out.put(version);
  out.put(checksum(body));
  out.put(static_cast<std::uint64_t>(header_bytes + body.size()));
  out.put_bytes(body);
  return out.take();
}

Program read_object(std::span<const std::uint8_t> bytes, const std::string& name) {
  check_header(bytes, name);
  ByteReader in(bytes.subspan(header_bytes), name, header_bytes, fail_truncated);
  Program program;
  for (std::size_t c = 0; c < chunk_count; ++c) {
    const std::size_t at = in.offset();
    const bool expected = in.get<std::uint32_t>() == tag_number(tags[c]);
    const bool reserved = in.get<std::uint32_t>() != 0;
    if (!expected || reserved) fail(name, at, fmt::format("chunk {} is expected here", tags[c]));
    ByteReader body = in.part(in.get<std::uint64_t>());
    readers[c](body, name, program);
    if (body.left() != 0) {
      fail(name, body.offset(), fmt::format("chunk {} has trailing bytes", tags[c]));
    }
    for (const auto pad : in.get_bytes((alignment - in.offset() % alignment) % alignment)) {
      if (pad != 0) fail(name, in.offset(), "padding between chunks is not zero");
    }
  }
  if (in.left() != 0) fail(name, in.offset(), "trailing bytes after the last chunk");
  if (auto wrong = validate_program(program); !wrong.empty()) {
    throw Error(ErrorCategory::Program,
                fmt::format("{}: {}; assemble the source again", name, wrong));
  }
  return program;
}

}  // namespace gdr
