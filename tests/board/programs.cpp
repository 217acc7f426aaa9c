#include "board/programs.hpp"

#include <cstring>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "support/catch.hpp"
#include "support/network_oracle.hpp"

namespace gdr::test {
namespace {

Operand at(Space space, unsigned address, Width width = Width::Long, bool vector = false) {
  Operand x;
  x.space = space;
  x.width = width;
  x.vector = vector;
  x.address = static_cast<std::uint16_t>(address);
  return x;
}

const Operand acc = at(Space::Register, 16, Width::Long, true);
const Operand counter = at(Space::Register, 32, Width::Long, true);
const Operand xi = at(Space::Local, 4, Width::Long, true);
const Operand mass = at(Space::Register, 0);
const Operand weight = at(Space::Register, 2);
const Operand product = at(Space::Register, 4);

Instruction alu(unsigned vlen, Op op, const Operand& dst, const Operand& a, const Operand& b = {}) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(vlen);
  i.alu.op = op;
  i.alu.dst = dst;
  i.alu.a = a;
  i.alu.b = b;
  return i;
}
Instruction with_one(Instruction i) {
  i.alu.immediate = Long{1};
  return i;
}
Instruction mul(unsigned vlen, const Operand& dst, const Operand& a, const Operand& b) {
  Instruction i;
  i.vlen = static_cast<std::uint8_t>(vlen);
  i.mul.op = Op::Fmul;
  i.mul.dst = dst;
  i.mul.a = a;
  i.mul.b = b;
  return i;
}
Instruction move(Op op, const Operand& pe, const Operand& bm, unsigned pe_number = 0) {
  Instruction i;
  i.vlen = 1;
  i.move.op = op;
  i.move.pe = pe;
  i.move.bm = bm;
  i.move.pe_number = static_cast<std::uint16_t>(pe_number);
  return i;
}

Variable variable(const char* name, VarKind kind, const Operand& location, const char* conversion,
                  Reduce reduce = Reduce::Pass, std::uint64_t pad = 0) {
  return {name, kind, location, *find_conversion(conversion), reduce, pad};
}

}  // namespace

Program pair_program(const PairOptions& o) {
  const Operand immediate = at(Space::Immediate, 0);
  const Operand by_element = at(Space::T, 0);
  Program p;
  p.name = "pairs";
  p.elements = o.elements;
  p.group = o.group;
  p.item_shorts = 2;
  p.output_shorts = o.outputs ? 2 : 0;
  p.fixed_shorts = 2;
  p.flops = 2;
  p.variables = {
      variable("xi", VarKind::Target, xi, "f64to72"),
      variable("mj", VarKind::Source, at(Space::BmSource, 0), "f64to72", Reduce::Pass, bits(o.pad)),
      variable("acc", VarKind::Result, acc, "f64to72", o.reduce),
      variable("n", VarKind::Result, counter, "i64int", Reduce::Iadd),
      variable("weight", VarKind::Param, at(Space::Bm, 0), "f64to72")};
  if (o.outputs) {
    p.variables.push_back(
        variable("w", VarKind::Output, at(Space::BmOutput, 0), "f64to72", o.output_reduce));
  }
  auto& start = p.section(Section::Start);
  start = {alu(o.elements, Op::Ipass, acc, immediate),
           alu(o.elements, Op::Ipass, counter, immediate),
           move(Op::Bget, weight, at(Space::Bm, 0))};
  auto& body = p.section(Section::Body);
  for (unsigned k = 0; k < o.group; ++k) {
    body.push_back(move(Op::Bget, mass, at(Space::BmSource, 2 * k)));
    body.push_back(mul(o.elements, by_element, xi, mass));
    body.push_back(alu(o.elements, Op::Fadd, acc, acc, by_element));
    if (!o.outputs) continue;
    body.push_back(mul(1, product, mass, weight));
    // The output is the product plus PE 2's first target, so that it differs between blocks.
    body.push_back(alu(1, Op::Fadd, product, product, at(Space::Local, 4)));
    body.push_back(move(Op::Bput, product, at(Space::BmOutput, 2 * k), 2));
  }
  body.push_back(with_one(alu(o.elements, Op::Iadd, counter, counter, immediate)));
  return p;
}

Long pair_sum(double x, const std::vector<double>& masses, std::size_t first, std::size_t count,
              std::size_t pads, double pad) {
  Long sum{0};
  for (std::size_t j = 0; j < count + pads; ++j) {
    const double m = j < count ? masses[first + j] : pad;
    sum = oracle::add(sum, oracle::multiply(oracle::long_of(x), oracle::long_of(m)));
  }
  return sum;
}

Geometry small_geometry(unsigned chips, unsigned blocks, unsigned pes, unsigned bm_words) {
  Geometry g;
  g.chips_per_board = chips;
  g.blocks = blocks;
  g.pes_per_block = pes;
  g.broadcast_words = bm_words;
  g.local_words = 16;
  g.dram_bytes = 1 << 20;
  return g;
}

Rig::Rig(const Geometry& geometry, const char* engine, unsigned threads, const char* isa)
    : board(geometry, make_engine(engine, isa), threads) {}
Rig::Rig(const Geometry& geometry, std::shared_ptr<const Engine> engine)
    : board(geometry, std::move(engine), 1) {}

Command& Rig::add(CommandKind kind, std::uint64_t chips) {
  Command c;
  c.kind = kind;
  c.chips = chips;
  list.commands.push_back(c);
  return list.commands.back();
}

Command& Rig::add(CommandKind kind, std::uint64_t chips,
                  const std::vector<std::uint64_t>& payload) {
  Command& c = add(kind, chips);
  c.payload = list.payload.size();
  c.payload_words = payload.size();
  list.payload.insert(list.payload.end(), payload.begin(), payload.end());
  return c;
}

void Rig::load(const Program& program) {
  const std::vector<std::uint8_t> object = write_object(program);
  std::vector<std::uint64_t> words((object.size() + 7) / 8);
  std::memcpy(words.data(), object.data(), object.size());
  add(CommandKind::LoadProgram, 0, words).count = object.size();
}

namespace {
std::vector<std::uint64_t> to_words(const std::vector<double>& values) {
  std::vector<std::uint64_t> words;
  for (const double v : values) words.push_back(bits(v));
  return words;
}
}  // namespace

void Rig::write(std::uint64_t chips, std::uint64_t address, const std::vector<double>& values) {
  Command& c = add(CommandKind::WriteMemory, chips, to_words(values));
  c.address = address;
  c.count = values.size();
}

void Rig::targets(std::uint64_t chips, ChipPartition partition, const std::vector<double>& values,
                  std::uint64_t first) {
  Command& c = add(CommandKind::WriteTargets, chips, to_words(values));
  c.partition = partition;
  c.first = first;
  c.count = values.size();
}

void Rig::run(std::uint64_t chips, ChipPartition partition, std::uint64_t address,
              std::uint64_t count, std::uint32_t flags) {
  Command& c = add(CommandKind::Run, chips);
  c.partition = partition;
  c.address = address;
  c.count = count;
  c.flags = flags;
}

void Rig::read(std::uint64_t chips, ChipPartition partition, std::uint64_t count,
               std::uint32_t flags) {
  Command& c = add(CommandKind::ReadTargets, chips);
  c.partition = partition;
  c.count = count;
  c.flags = flags;
}

std::vector<std::uint64_t> Rig::execute() {
  std::vector<std::uint64_t> results;
  const CommandList now = std::move(list);
  list = {};
  board.execute(now, results);
  return results;
}

}  // namespace gdr::test
