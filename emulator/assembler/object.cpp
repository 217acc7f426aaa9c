#include "emulator/assembler/object.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "emulator/isa/encoding.hpp"
#include "gdr/error.hpp"

// Layout: docs/reference/object-file.md. The format is canonical: a reader accepts only the bytes
// that the writer produces for a program. One list of fields for each structure serves both.

namespace gdr {
namespace {

// The non-letters of the magic detect transfers that convert line ends or drop bit 7.
constexpr std::array<std::uint8_t, 8> magic{0x89, 'G', 'D', 'O', '\r', '\n', 0x1a, '\n'};
constexpr std::uint32_t version = 1;
constexpr std::size_t header_bytes = 24, alignment = 8;
constexpr std::size_t operand_bytes = 9, line_bytes = 8, instruction_bytes = 64;
constexpr std::size_t min_string_bytes = 4, min_symbol_bytes = min_string_bytes + operand_bytes;
constexpr std::size_t min_variable_bytes = min_symbol_bytes + 1 + 3 + 1 + 8;
constexpr std::size_t size_bytes = 4, min_array_bytes = min_string_bytes + 4 + 4 + size_bytes;
/// Size limit of object files (the largest programs have a few megabytes).
constexpr std::size_t max_bytes = std::size_t{1} << 30;

/// Chunks of a file in order. The last nine are present only if they are not empty.
enum Chunk : std::size_t {
  Info,
  Code,
  Lines,
  Files,
  Variables,
  Symbols,
  Arrays,
  HostNames,
  Keys,
  Copies,
  Quantities,
  Defaults,
  CutOff,
  Complexes,
  InLongs,
  chunk_count
};
constexpr std::array<std::string_view, chunk_count> tags{"INFO", "CODE", "LINE", "FILE", "VARS",
                                                         "SYMS", "ARRS", "HOST", "KEYS", "COPY",
                                                         "QUAN", "DFLT", "CUTF", "CPLX", "LONG"};

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

[[noreturn]] void fail_io(const std::string& path, std::string_view doing, int error) {
  throw Error(ErrorCategory::Io,
              fmt::format("{} cannot be {}: {}", path, doing, std::strerror(error)));
}

/// Remainders of all bytes by the polynomial of CRC-32 (IEEE 802.3), whose bits are reversed.
constexpr auto remainders = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte;
    for (int bit = 0; bit < 8; ++bit)
      table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0xedb88320 : 0);
  }
  return table;
}();

/// CRC-32. zlib has it, too, of which nothing else is needed; tests compare the two.
std::uint32_t checksum(std::span<const std::uint8_t> bytes) noexcept {
  std::uint32_t sum = ~0u;
  for (const std::uint8_t byte : bytes) sum = sum >> 8 ^ remainders[(sum ^ byte) & 0xff];
  return ~sum;
}

/// The unsigned integer that represents a number, enumeration or truth value in a file.
template <typename T>
constexpr auto stored(T value) noexcept {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
    return static_cast<std::uint8_t>(value);
  else
    return value;
}

/// Appends fields to a byte vector, little-endian.
class Writer {
 public:
  static constexpr bool reads = false;

  template <typename... T>
  void operator()(const T&... fields) {
    (put(fields), ...);
  }
  /// A count and the elements.
  template <typename T, typename Each>
  void list(const std::vector<T>& elements, std::size_t, Each each) {
    put(static_cast<std::uint32_t>(elements.size()));
    for (const T& element : elements) each(element);
  }
  void put_bytes(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// Zeros up to the next multiple of `size`.
  void align(std::size_t size) { bytes_.resize((bytes_.size() + size - 1) / size * size); }
  std::vector<std::uint8_t> take() noexcept { return std::move(bytes_); }

 private:
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  template <typename T>
  void put(T value) {
    const auto number = stored(value);
    for (unsigned i = 0; i < sizeof number; ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
    }
  }

  std::vector<std::uint8_t> bytes_;
};

/// Reads fields from a range of bytes. Throws gdr::Error beyond its end.
class Reader {
 public:
  static constexpr bool reads = true;

  /// `offset` is the position of the bytes in the file.
  Reader(std::span<const std::uint8_t> bytes, const std::string& name, std::size_t offset) noexcept
      : bytes_(bytes), name_(&name), offset_(offset) {}

  template <typename... T>
  void operator()(T&... fields) {
    (get(fields), ...);
  }
  template <typename T, typename Each>
  void list(std::vector<T>& elements, std::size_t min_bytes, Each each) {
    resize(elements, get<std::uint32_t>(), min_bytes);
    for (T& element : elements) each(element);
  }
  /// Fails if `count` elements of at least `min_bytes` cannot all be present, so that an invalid
  /// length does not cause a large allocation.
  template <typename T>
  void resize(std::vector<T>& elements, std::size_t count, std::size_t min_bytes) {
    if (count * min_bytes > bytes_.size()) fail_truncated(*name_, offset_, count * min_bytes);
    elements.resize(count);
  }
  template <typename T>
  T get() {
    T value{};
    get(value);
    return value;
  }
  std::span<const std::uint8_t> get_bytes(std::uint64_t count) {
    if (count > bytes_.size()) fail_truncated(*name_, offset_, count);
    const auto part = bytes_.first(static_cast<std::size_t>(count));
    bytes_ = bytes_.subspan(part.size());
    offset_ += part.size();
    return part;
  }
  /// A reader of the next `count` bytes, which are skipped here.
  Reader part(std::uint64_t count) {
    const std::size_t start = offset_;
    return {get_bytes(count), *name_, start};
  }

  const std::string& name() const noexcept { return *name_; }
  std::size_t offset() const noexcept { return offset_; }
  std::size_t left() const noexcept { return bytes_.size(); }

 private:
  void get(std::string& text) {
    const auto from = get_bytes(get<std::uint32_t>());
    text.assign(from.begin(), from.end());
  }
  template <typename T>
  void get(T& value) {
    decltype(stored(value)) number = 0;
    const std::size_t at = offset_;
    const auto from = get_bytes(sizeof number);
    for (unsigned i = 0; i < sizeof number; ++i) {
      number =
          static_cast<decltype(number)>(number | static_cast<decltype(number)>(from[i]) << (8 * i));
    }
    if constexpr (std::is_same_v<T, double>) {
      value = std::bit_cast<double>(number);
    } else {
      if (std::is_same_v<T, bool> && number > 1) fail(*name_, at, "a truth value is not 0 or 1");
      value = static_cast<T>(number);
    }
  }

  std::span<const std::uint8_t> bytes_;
  const std::string* name_;
  std::size_t offset_;
};

template <typename Io, typename Location>
void visit_operand(Io& io, Location& o) {
  std::size_t at = 0;
  if constexpr (Io::reads) at = io.offset();
  io(o.space, o.width, o.vector, o.address, o.range_first, o.range_last);
  if constexpr (Io::reads) {
    if (auto wrong = validate_location(o); !wrong.empty()) fail(io.name(), at, wrong);
  }
}

void visit_code(Writer& out, const Program& p) {
  for (const auto& section : p.sections) out(static_cast<std::uint32_t>(section.size()));
  for (const auto& section : p.sections) {
    for (const Instruction& i : section) {
      for (const std::uint64_t word : encode(i)) out(word);
    }
  }
}

void visit_code(Reader& in, Program& p) {
  std::array<std::uint32_t, section_count> counts{};
  for (auto& count : counts) in(count);
  std::string why;
  for (unsigned s = 0; s < section_count; ++s) {
    in.resize(p.sections[s], counts[s], instruction_bytes);
    for (Instruction& instruction : p.sections[s]) {
      const std::size_t at = in.offset();
      EncodedInstruction word{};
      for (auto& w : word) in(w);
      const auto decoded = decode(word, why);
      if (!decoded) fail(in.name(), at, "invalid instruction: " + why);
      instruction = *decoded;
    }
  }
}

Program read_chunks(std::span<const std::uint8_t> bytes, const std::string& name,
                    std::size_t chunk_limit);

/// The program in longs is an object of its own, without this chunk.
void visit_in_longs(Writer& out, const Program& p) {
  out.put_bytes(write_object(p.in_longs.front()));
}
void visit_in_longs(Reader& in, Program& p) {
  const std::string& name = in.name();
  p.in_longs.push_back(read_chunks(in.get_bytes(in.left()), name, InLongs));
}

/// Whether a value is given, and the value.
void visit_default(Writer& out, const std::optional<std::int64_t>& value) {
  out(value.has_value(), static_cast<std::uint64_t>(value.value_or(0)));
}
void visit_default(Reader& in, std::optional<std::int64_t>& value) {
  const std::size_t at = in.offset();
  bool given = false;
  std::uint64_t bits = 0;
  in(given, bits);
  if (given) value = static_cast<std::int64_t>(bits);
  if (!given && bits != 0) fail(in.name(), at, "a default value that is not given");
}

/// The fields of a chunk. A program that is written has a source line for every instruction.
template <typename Io, typename AnyProgram>
void visit_chunk(Io& io, std::size_t chunk, AnyProgram& p) {
  switch (chunk) {
    case Info:
      return io(p.name, p.elements, p.group, p.item_shorts, p.output_shorts, p.fixed_shorts,
                p.flops);
    case Code:
      return visit_code(io, p);
    case Lines:
      for (unsigned s = 0; s < section_count; ++s) {
        if constexpr (Io::reads) io.resize(p.lines[s], p.sections[s].size(), line_bytes);
        for (auto& line : p.lines[s]) io(line.file, line.line);
      }
      return;
    case Files:
      return io.list(p.files, min_string_bytes, [&io](auto& file) { io(file); });
    case Variables:
      return io.list(p.variables, min_variable_bytes, [&io](auto& v) {
        io(v.name, v.kind);
        visit_operand(io, v.location);
        io(v.conversion.host, v.conversion.machine, v.conversion.point, v.reduce, v.pad);
      });
    case Symbols:
      return io.list(p.symbols, min_symbol_bytes, [&io](auto& s) {
        io(s.name);
        visit_operand(io, s.location);
      });
    case Arrays:
      return io.list(p.arrays, min_array_bytes, [&io](auto& a) {
        io(a.name, a.first);
        io.list(a.sizes, size_bytes, [&io](auto& size) { io(size); });
      });
    case InLongs:
      return visit_in_longs(io, p);
    case Keys:
      for (auto& v : p.variables)
        if (v.reduce == Reduce::Index) io(v.key);
      return;
    case Copies:
      for (auto& v : p.variables)
        if (v.kind == VarKind::Source) io(v.pad_is_copy);
      return;
    case Quantities:
      for (auto& v : p.variables)
        if (is_input(v.kind)) io(v.quantity, v.squared);
      return;
    case Defaults:
      for (auto& v : p.variables)
        if (takes_default(v)) visit_default(io, v.default_value);
      return;
    case CutOff:
      if constexpr (Io::reads) p.cutoff.emplace();
      io(p.cutoff->radius2);
      for (auto* const coordinates : {&p.cutoff->target, &p.cutoff->source})
        for (auto& variable : *coordinates) io(variable);
      return;
    case Complexes:
      for (auto& a : p.arrays) io(a.complex);
      return;
    default:
      return io.list(p.host_names, 2 * min_string_bytes, [&io](auto& n) { io(n.name, n.host); });
  }
}

/// Whether a chunk is omitted.
bool is_absent(std::size_t chunk, const Program& p) noexcept {
  return (chunk == Arrays && p.arrays.empty()) || (chunk == HostNames && p.host_names.empty()) ||
         (chunk == Keys &&
          std::ranges::find(p.variables, Reduce::Index, &Variable::reduce) == p.variables.end()) ||
         (chunk == Copies && std::ranges::none_of(p.variables, &Variable::pad_is_copy)) ||
         (chunk == Quantities &&
          std::ranges::all_of(p.variables, [](const Variable& v) { return v.quantity.empty(); })) ||
         (chunk == Defaults &&
          std::ranges::none_of(p.variables,
                               [](const Variable& v) { return v.default_value.has_value(); })) ||
         (chunk == CutOff && !p.cutoff) ||
         (chunk == Complexes && std::ranges::none_of(p.arrays, &VariableArray::complex)) ||
         (chunk == InLongs && p.in_longs.empty());
}

/// The tag at the position of a copy of a reader.
std::uint32_t next_tag(Reader in) { return in.get<std::uint32_t>(); }

/// Magic, version, checksum: checked in this order to give specific messages.
void check_header(std::span<const std::uint8_t> bytes, const std::string& name) {
  const auto compared = std::min(bytes.size(), magic.size());
  if (bytes.empty() ||
      !std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(compared),
                  bytes.begin())) {
    throw Error(ErrorCategory::Program, name + ": not an object file; create one with 'gdr asm'");
  }
  if (bytes.size() < header_bytes) fail_truncated(name, bytes.size(), header_bytes - bytes.size());
  Reader in(bytes.subspan(magic.size()), name, magic.size());
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

/// The program of an object that may have the first `chunk_limit` kinds of chunks.
Program read_chunks(std::span<const std::uint8_t> bytes, const std::string& name,
                    std::size_t chunk_limit) {
  check_header(bytes, name);
  Reader in(bytes.subspan(header_bytes), name, header_bytes);
  Program program;
  for (std::size_t c = 0; c < chunk_limit; ++c) {
    if (c >= Arrays && (in.left() == 0 || next_tag(in) != tag_number(tags[c]))) continue;
    const std::size_t at = in.offset();
    const bool expected = in.get<std::uint32_t>() == tag_number(tags[c]);
    const bool reserved = in.get<std::uint32_t>() != 0;
    if (!expected || reserved) fail(name, at, fmt::format("chunk {} is expected here", tags[c]));
    Reader body = in.part(in.get<std::uint64_t>());
    visit_chunk(body, c, program);
    if (body.left() != 0) {
      fail(name, body.offset(), fmt::format("chunk {} has trailing bytes", tags[c]));
    }
    if (is_absent(c, program)) fail(name, at, fmt::format("chunk {} is empty", tags[c]));
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

}  // namespace

std::vector<std::uint8_t> write_object(const Program& given) {
  if (auto wrong = validate_program(given); !wrong.empty()) {
    throw Error(ErrorCategory::Program, "this program cannot be stored: " + wrong);
  }
  Program program = given;
  for (unsigned s = 0; s < section_count; ++s) program.lines[s].resize(program.sections[s].size());
  Writer chunks;
  for (std::size_t c = 0; c < chunk_count; ++c) {
    if (is_absent(c, program)) continue;
    Writer writer;
    visit_chunk(writer, c, std::as_const(program));
    const auto body = writer.take();
    chunks(tag_number(tags[c]), std::uint32_t{0}, std::uint64_t{body.size()});
    chunks.put_bytes(body);
    chunks.align(alignment);
  }
  const auto body = chunks.take();
  Writer out;
  out.put_bytes(magic);
  out(version, checksum(body), std::uint64_t{header_bytes + body.size()});
  out.put_bytes(body);
  return out.take();
}

Program read_object(std::span<const std::uint8_t> bytes, const std::string& name) {
  return read_chunks(bytes, name, chunk_count);
}

Program read_object_file(const std::string& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail_io(path, "opened", errno);
  std::vector<std::uint8_t> bytes;
  std::array<std::uint8_t, 65536> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    bytes.insert(bytes.end(), buffer.data(), buffer.data() + got);
    if (bytes.size() > max_bytes) fail_io(path, "read", EFBIG);
  }
  if (std::ferror(file.get()) != 0) fail_io(path, "read", errno);
  return read_object(bytes, path);
}

void write_object_file(const std::string& path, const Program& program) {
  const auto bytes = write_object(program);
  static std::atomic<unsigned> counter{0};
  std::string temporary;
  std::FILE* file = nullptr;
  do {  // a new file with default permissions, unlike that of mkstemp
    temporary = fmt::format("{}.{}-{}.tmp", path, ::getpid(), counter++);
    file = std::fopen(temporary.c_str(), "wbxe");
  } while (file == nullptr && errno == EEXIST);
  if (file == nullptr) fail_io(path, "written", errno);
  // Data must reach the disk before the rename.
  int error = 0;
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
                       std::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
  if (!written) error = errno;
  if (std::fclose(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  fail_io(path, "written", error);
}

}  // namespace gdr
