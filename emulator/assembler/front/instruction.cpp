// Instruction lines: an optional predicate and up to three operations, with checks of port limits
// and memory sizes.
#include <algorithm>
#include <functional>

#include "emulator/assembler/front/parser.hpp"

namespace gdr::assembly {
namespace {

/// An instruction under construction.
struct Draft {
  Instruction instruction;
  InstructionText text;
  std::array<Span, 3> mnemonics;  ///< mnemonics of occupied slots
  std::uint16_t item = 0;
  bool nop = false;
};

bool parse_predicate(Assembly& a, Cursor& c, Draft& draft) {
  const char* begin = c.p++;
  Predicate& p = draft.instruction.predicate;
  p.value = !c.accept('!');
  const bool mask = c.accept('m') && is_digit(*c.p);
  const unsigned number = mask ? parse_mask_number(c) : 0;
  if (!mask || !c.accept(']')) {
    return a.report.error(Code::BadPredicate, {begin, c.rest_of_word().end},
                          "a predicate is `[mN]` or `[!mN]`");
  }
  draft.text.predicate = {begin, c.p};
  if (!check_mask(a, draft.text.predicate, number)) return false;
  p.used = true;
  p.mask = static_cast<std::uint8_t>(number);
  return true;
}

bool at_operand_end(const Cursor& c) noexcept { return c.done() || c.peek() == ';'; }

bool missing_operands(Assembly& a, Span word, std::string_view form) {
  return a.report.error(Code::OperandCount, word, in_quotes(word.text()) + " needs more operands",
                        {}, "write `" + std::string(form) + "`");
}

bool surplus_operand(Assembly& a, Cursor& c, Span word, std::string_view form) {
  return a.report.error(Code::OperandCount, c.rest_of_word(),
                        in_quotes(word.text()) + " has too many operands", {},
                        "write `" + std::string(form) + "`; operations are separated by `;`");
}

std::string arithmetic_form(const OpInfo& op) {
  return std::string(op.mnemonic) + (op.operands == 2 ? " DST A B" : " DST A");
}

bool slot_taken(Assembly& a, Span word, const Draft& draft, unsigned slot, const char* what) {
  a.report.error(Code::SlotTaken, word, std::string("an instruction holds one ") + what, {},
                 "move this one to another line");
  return a.report.note(a.report.span_of(draft.mnemonics[slot]), "first operation");
}

bool parse_arithmetic(Assembly& a, Cursor& c, const OpInfo& op, Span word, Draft& draft) {
  const bool multiplier = op.unit == Unit::Multiplier;
  const unsigned slot_number = multiplier ? 0 : 1;
  Arithmetic& slot = multiplier ? draft.instruction.mul : draft.instruction.alu;
  if (slot.used()) {
    return slot_taken(
        a, word, draft, slot_number,
        multiplier ? "operation of the multiplier" : "operation of the adder or the integer unit");
  }
  slot.op = op.op;
  draft.mnemonics[slot_number] = word;
  c.skip();
  if (at_operand_end(c)) return missing_operands(a, word, arithmetic_form(op));
  // An invalid operand does not prevent checks of the following ones.
  const char* begin = c.p;
  bool good = parse_destination(a, c, op, slot, slot_number, draft.text);
  if (!good) c.skip_operand(begin);
  std::array<SourceOperand, 2> operands;
  for (unsigned i = 0; i < op.operands; ++i) {
    c.skip();
    if (at_operand_end(c)) return good && missing_operands(a, word, arithmetic_form(op));
    begin = c.p;
    if (!parse_operand(a, c, operands[i])) {
      good = false;
      c.skip_operand(begin);
    }
  }
  c.skip();
  if (!good) return false;
  if (!at_operand_end(c)) return surplus_operand(a, c, word, arithmetic_form(op));
  if (!set_operands(a, op, operands, slot)) return false;
  draft.text.add(operands[0].span, slot_number, false, slot.a);
  if (op.operands == 2) draft.text.add(operands[1].span, slot_number, false, slot.b);
  return true;
}

struct TransferOperand {
  Span span;
  Location location;
};

bool parse_transfer_operand(Assembly& a, Cursor& c, Span word, std::string_view form, bool bm,
                            TransferOperand& x) {
  c.skip();
  if (at_operand_end(c)) return missing_operands(a, word, form);
  const auto wrong = [&](Span span, std::string label) {
    return a.report.error(Code::WrongOperand, span,
                          std::string("a transfer requires a location of the ") +
                              (bm ? "broadcast memory" : "PE") + " here",
                          std::move(label), "write `" + std::string(form) + "`");
  };
  x.span.begin = c.p;
  if (c.peek() != '$' && (!starts_name(c.peek()) || is_digit(c.peek()))) {
    return wrong(c.rest_of_word(), {});
  }
  if (!parse_location(a, c, x.location)) return false;
  x.span.end = c.p;
  const Space space = x.location.operand.space;
  const bool in_pe = in_pe_memory(space) || space == Space::LocalByT || space == Space::T;
  if (bm ? in_broadcast_memory(space) : in_pe) return true;
  return wrong(x.span, "this is " + describe(x.location.operand));
}

bool parse_transfer(Assembly& a, Cursor& c, const OpInfo& op, Span word, Draft& draft) {
  const bool get = op.op == Op::Bget;
  const std::string_view form =
      get ? "bget PE_LOCATION BM_LOCATION" : "bput BM_LOCATION PE_LOCATION PE_NUMBER";
  Transfer& move = draft.instruction.move;
  if (move.used()) return slot_taken(a, word, draft, 2, "transfer");
  move.op = op.op;
  draft.mnemonics[2] = word;
  TransferOperand to, from;
  const bool good_target = parse_transfer_operand(a, c, word, form, !get, to);
  if (!good_target) {
    if (at_operand_end(c)) return false;
    c.skip_operand(to.span.begin);
    c.skip();
    if (at_operand_end(c)) return false;
  }
  if (!parse_transfer_operand(a, c, word, form, get, from) || !good_target) return false;
  c.skip();
  if (!get) {
    if (at_operand_end(c)) return missing_operands(a, word, form);
    const std::int64_t last =
        a.unchecked ? max_field : std::int64_t{a.options.geometry.pes_per_block} - 1;
    const auto pe =
        parse_integer(a, c, 0, last, "the PE's number", Code::PeNumberRange, parse_primary);
    if (!pe) return false;
    move.pe_number = static_cast<std::uint16_t>(*pe);
    c.skip();
  }
  if (!at_operand_end(c)) return surplus_operand(a, c, word, form);
  const TransferOperand& pe = get ? to : from;
  const TransferOperand& bm = get ? from : to;
  if (pe.location.operand.width != bm.location.operand.width) {
    return a.report.error(
        Code::WidthMismatch, from.span, "both sides of a transfer must have the same width",
        "from " + describe(from.location.operand) + " to " + describe(to.location.operand));
  }
  if (bm.location.operand.space != Space::Bm && a.section != static_cast<int>(Section::Body)) {
    return a.report.error(Code::OutsideBody, bm.span,
                          "an item of the stream can only be used in the body",
                          "there is no current item here", "move the transfer to `.body`");
  }
  move.pe = pe.location.operand;
  move.bm = bm.location.operand;
  draft.item = bm.location.item;
  draft.text.add(to.span, 2, true, to.location.operand);
  draft.text.add(from.span, 2, false, from.location.operand);
  return true;
}

bool unknown_operation(Assembly& a, Span word) {
  Suggestion suggestion(word.text());
  for (const Keyword& k : keywords()) {
    if (k.operation != nullptr) suggestion.consider(k.text);
  }
  return a.report.error(Code::UnknownInstruction, word,
                        "unknown instruction " + in_quotes(word.text()), {}, suggestion.help());
}

/// One operation, up to `;` or the end.
bool parse_operation(Assembly& a, Cursor& c, Draft& draft) {
  const Span word = c.word();
  if (word.begin == word.end) {
    const Span rest = c.rest_of_word();
    if (c.done() || c.peek() == ';') {
      return a.report.error(Code::OperandCount, c.done() ? Span{c.p - 1, c.p} : rest,
                            "an operation is expected at `;`");
    }
    if (c.peek() == '[') {
      return a.report.error(Code::BadPredicate, rest,
                            "an instruction has one predicate, before all operations");
    }
    return a.report.error(Code::UnexpectedCharacter, rest,
                          in_quotes(rest.text()) + " cannot begin an operation");
  }
  const Keyword* keyword = find_keyword(word.text());
  if (keyword == nullptr || keyword->operation == nullptr) return unknown_operation(a, word);
  const OpInfo& op = *keyword->operation;
  if (op.op == Op::None) {
    draft.nop = true;
    c.skip();
    if (c.done()) return true;
    if (c.peek() != ';') return surplus_operand(a, c, word, "nop");
    return a.report.error(Code::NopJoined, word, "`nop` cannot be combined", {},
                          "remove it: unused slots are idle");
  }
  return op.unit == Unit::Transfer ? parse_transfer(a, c, op, word, draft)
                                   : parse_arithmetic(a, c, op, word, draft);
}

bool check_ranges(Assembly& a, const Draft& draft) {
  const OperandSpan* first = nullptr;
  for (unsigned i = 0; i < draft.text.count; ++i) {
    const OperandSpan& x = draft.text.operands[i];
    if (x.operand.space != Space::LocalByT) continue;
    if (first == nullptr) first = &x;
    if (x.operand.range_first != first->operand.range_first ||
        x.operand.range_last != first->operand.range_last) {
      a.report.error(Code::BadTRange, x.span,
                     "all accesses through T in an instruction have the same range");
      return a.report.note(a.report.span_of(first->span), "a different range");
    }
  }
  return true;
}

bool uses_port(const Operand& x, bool write, Port port) noexcept {
  switch (port) {
    case Port::RegisterRead:
    case Port::RegisterWrite:
      return x.space == Space::Register && write == (port == Port::RegisterWrite);
    case Port::LocalAccess:
      return x.space == Space::Local || x.space == Space::LocalByT;
    case Port::TRead:
      return x.space == Space::LocalByT || (x.space == Space::T && !write);
    case Port::TWrite:
      return x.space == Space::T && write;
    case Port::BmAccess:
      break;
  }
  return in_broadcast_memory(x.space);
}

/// Report why the accesses of an element cannot be executed together.
bool report_conflict(Assembly& a, const InstructionText& text, const AccessConflict& conflict,
                     unsigned element) {
  const std::string where = element == 0 ? "" : " (element " + std::to_string(element) + ")";
  if (!conflict.port) {
    return a.report.error(Code::DuplicateWrite, text.whole,
                          "two operations of this instruction write the same location" + where, {},
                          "choose another destination for one of them");
  }
  std::string accesses;
  const OperandSpan* last = nullptr;
  for (unsigned i = 0; i < text.count; ++i) {
    const OperandSpan& x = text.operands[i];
    if (!uses_port(x.operand, x.write, *conflict.port)) continue;
    accesses += accesses.empty() ? "" : ", ";
    accesses += (x.write ? "writes " : "reads ") + in_quotes(x.span.text());
    if (last == nullptr || x.span.begin > last->span.begin) last = &x;
  }
  return a.report.error(
      Code::PortLimit, last != nullptr ? last->span : text.whole,
      std::string(port_name(*conflict.port)) + ": " + std::to_string(conflict.used) + " in " +
          (a.accesses.stride == 2 ? "the two clocks of a dmul element" : "one clock") + ", where " +
          std::to_string(conflict.limit) +
          (conflict.limit == 1 ? " is possible" : " are possible") + where,
      std::move(accesses),
      "move one of the operations to another instruction, or an operand to another memory");
}

/// Check that an operand with all its elements is inside its memory.
bool check_extent(Assembly& a, const OperandSpan& x, unsigned vlen) {
  if (!has_address(x.operand.space)) return true;
  const MemorySize memory = memory_of(x.operand.space, a.options.geometry);
  const unsigned need = x.operand.at(vlen - 1) + shorts_in(x.operand.width);
  if (need <= memory.shorts) return true;
  return a.report.error(
      memory_code(x.operand.space), x.span,
      in_quotes(x.span.text()) + " is outside the " + std::string(memory.name),
      "needs " + std::to_string(need) + " shorts, available: " + std::to_string(memory.shorts),
      x.operand.vector
          ? "a vector needs an address for each of its " + std::to_string(vlen) + " elements"
          : "");
}

/// Record which part of the fixed broadcast memory and of the group a transfer accesses; checked
/// once the layout is known.
void record_extent(Assembly& a, const OperandSpan& x, unsigned vlen, unsigned item) {
  const Space space = x.operand.space;
  if (!in_broadcast_memory(space)) return;
  const unsigned need = x.operand.at(vlen - 1) + shorts_in(x.operand.width);
  BroadcastPart& part = a.layout.part(space);
  if (space == Space::Bm) {
    std::uint32_t& fixed = a.unchecked ? a.layout.fixed_extent : part.need;
    fixed = std::max(fixed, need);
    return;
  }
  if (x.operand.width == Width::Long) part.holds_long = true;
  if (part.extents.size() <= item) part.extents.resize(item + 1U);
  if (need > part.extents[item].need) part.extents[item] = {need, a.report.span_of(x.span)};
}

/// Check port limits, memory sizes and duplicate writes. Leaves the accesses of the instruction in
/// a.accesses. `item` is the K of NAME@K.
bool check_instruction(Assembly& a, const Instruction& instruction, const InstructionText& text,
                       unsigned item) {
  for (unsigned i = 0; i < text.count; ++i) {
    if (!a.unchecked && !check_extent(a, text.operands[i], instruction.vlen)) return false;
    if (text.operands[i].slot == 2) record_extent(a, text.operands[i], instruction.vlen, item);
  }
  if (a.unchecked) return true;
  a.accesses.collect(instruction, a.options.geometry);
  for (unsigned k = 0; k < instruction.vlen; ++k) {
    const auto conflict = find_conflict(a.accesses.lists[k], a.accesses.stride);
    if (conflict) return report_conflict(a, text, *conflict, k);
  }
  return true;
}

void record_spans(Assembly& a, const InstructionText& text) {
  InstructionSpans spans;
  spans.whole = a.report.span_of(text.whole);
  if (text.predicate.begin != nullptr) spans.predicate = a.report.span_of(text.predicate);
  for (unsigned i = 0; i < text.count; ++i) {
    const OperandSpan& x = text.operands[i];
    if (!x.write) spans.sources.push_back({a.report.span_of(x.span), x.slot, x.operand});
  }
  a.instruction_spans[static_cast<std::size_t>(a.section)].push_back(std::move(spans));
}

/// Append a complete instruction to its section.
void emit(Assembly& a, const Draft& draft, std::uint32_t line) {
  ++a.instructions;
  if (!a.unchecked && a.instructions > a.options.geometry.instruction_words)
    return;  // counted only; reported at the end
  const auto s = static_cast<std::size_t>(a.section);
  std::vector<Instruction>& section = a.program.sections[s];
  if (!a.unchecked) {
    a.clocks[s].add(a.accesses, static_cast<Section>(a.section), a.options.geometry,
                    a.options.stall_is_error);
  }
  if (draft.item != 0)
    a.fixups[s].push_back({static_cast<std::uint32_t>(section.size()), draft.item});
  section.push_back(draft.instruction);
  a.program.lines[s].push_back(a.tool_lines ? a.tool_line
                                            : SourceLine{a.report.line->source, line});
  if (a.options.stall_is_error) record_spans(a, draft.text);
}

/// Order of positions in a line; null comes first.
bool before(const char* x, const char* y) noexcept { return std::less<const char*>{}(x, y); }

bool read_draft(Assembly& a, Cursor& c, Draft& draft) {
  draft.instruction.vlen = static_cast<std::uint8_t>(a.vlen);
  if (c.peek() == '[') {
    if (!parse_predicate(a, c, draft)) return false;
    c.skip();
  }
  const char* begin = c.p;
  bool good = parse_operation(a, c, draft);
  if (!good) c.skip_operation();
  while (c.accept(';')) {
    c.skip();
    if (draft.nop) break;
    if (parse_operation(a, c, draft)) continue;
    good = false;
    c.skip_operation();
  }
  if (!good) return false;
  // Up to the last operand: the cursor may be after a comment.
  const char* end = begin;
  for (const Span& mnemonic : draft.mnemonics) end = std::max(end, mnemonic.end, before);
  for (unsigned i = 0; i < draft.text.count; ++i) {
    end = std::max(end, draft.text.operands[i].span.end, before);
  }
  draft.text.whole = {begin, end == begin ? c.p : end};
  return check_ranges(a, draft);
}

}  // namespace

Code memory_code(Space space) noexcept {
  if (space == Space::Register) return Code::RegisterFile;
  return space == Space::Local ? Code::LocalMemory : Code::BroadcastMemory;
}

void parse_instruction(Assembly& a, Cursor& c) {
  if (a.section < 0) {
    a.report.error(Code::NoSection, c.rest_of_word(), "no section is open for this instruction", {},
                   "open one with .init, .start, .body or .end");
    return;
  }
  Draft draft;
  const std::uint32_t line = a.report.line->number;
  if (read_draft(a, c, draft) && check_instruction(a, draft.instruction, draft.text, draft.item)) {
    emit(a, draft, line);
  } else {
    skip_instruction(a);
  }
}

}  // namespace gdr::assembly
