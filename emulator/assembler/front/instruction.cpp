#include "emulator/assembler/front/instruction.hpp"

#include <algorithm>
#include <functional>

#include "emulator/assembler/front/destination.hpp"
#include "emulator/assembler/front/expression.hpp"
#include "emulator/assembler/front/location.hpp"
#include "emulator/assembler/front/operand.hpp"
#include "emulator/assembler/front/statement.hpp"

namespace gdr::assembly {
namespace {

/// An instruction under construction.
struct Draft {
  Instruction instruction;
  InstructionText text;
  std::array<Span, 2> mul, alu;
  Span move;
  std::array<Span, 3> mnemonics;  ///< mnemonics of occupied slots
  std::uint16_t item = 0;
  bool nop = false;
};

bool parse_predicate(Assembly& a, Cursor& c, Draft& draft) {
  const char* begin = c.p++;
  Predicate& p = draft.instruction.predicate;
  p.value = !c.accept('!');
  const bool mask = c.accept('m') && is_digit(*c.p);
  unsigned number = 0;
  for (; mask && is_digit(*c.p); ++c.p)
    number = std::min(number * 10 + static_cast<unsigned>(*c.p - '0'), 1000U);
  if (!mask || !c.accept(']')) {
    a.report.error(Code::BadPredicate, {begin, c.rest_of_word().end},
                   "a predicate is `[mN]` or `[!mN]`");
    return false;
  }
  draft.text.predicate = {begin, c.p};
  if (number >= mask_registers) {
    a.report.error(Code::BadMask, draft.text.predicate,
                   "mask " + std::to_string(number) + " does not exist", {},
                   "masks are m0 to m" + std::to_string(mask_registers - 1));
    return false;
  }
  p.used = true;
  p.mask = static_cast<std::uint8_t>(number);
  return true;
}

bool at_operand_end(const Cursor& c) noexcept { return c.done() || c.peek() == ';'; }

bool missing_operands(Assembly& a, Span word, std::string_view form) {
  a.report.error(Code::OperandCount, word, in_quotes(word.text()) + " needs more operands", {},
                 "write `" + std::string(form) + "`");
  return false;
}

bool surplus_operand(Assembly& a, Cursor& c, Span word, std::string_view form) {
  a.report.error(Code::OperandCount, c.rest_of_word(),
                 in_quotes(word.text()) + " has too many operands", {},
                 "write `" + std::string(form) + "`; operations are separated by `;`");
  return false;
}

std::string arithmetic_form(const OpInfo& op) {
  return std::string(op.mnemonic) + (op.operands == 2 ? " DST A B" : " DST A");
}

bool parse_arithmetic(Assembly& a, Cursor& c, const OpInfo& op, Span word, Draft& draft) {
  const bool multiplier = op.unit == Unit::Multiplier;
  const unsigned slot_number = multiplier ? 0 : 1;
  Arithmetic& slot = multiplier ? draft.instruction.mul : draft.instruction.alu;
  if (slot.used()) {
    Diagnostic& d = a.report.error(Code::SlotTaken, word,
                                   std::string("an instruction holds one operation of the ") +
                                       (multiplier ? "multiplier" : "adder or the integer unit"),
                                   {}, "move this one to another line");
    a.report.note(d, a.report.span_of(draft.mnemonics[slot_number]), "first operation");
    return false;
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
    (multiplier ? draft.mul : draft.alu)[i] = operands[i].span;
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
  x.span.begin = c.p;
  if (c.peek() != '$' && (!starts_name(c.peek()) || is_digit(c.peek()))) {
    a.report.error(Code::WrongOperand, c.rest_of_word(),
                   std::string("a transfer requires a location of the ") +
                       (bm ? "broadcast memory" : "PE") + " here",
                   {}, "write `" + std::string(form) + "`");
    return false;
  }
  if (!parse_location(a, c, x.location)) return false;
  x.span.end = c.p;
  const Space space = x.location.operand.space;
  const bool in_bm = space == Space::Bm || space == Space::BmSource || space == Space::BmOutput;
  const bool in_pe = space == Space::Register || space == Space::Local ||
                     space == Space::LocalByT || space == Space::T;
  if (bm ? in_bm : in_pe) return true;
  a.report.error(Code::WrongOperand, x.span,
                 std::string("a transfer requires a location of the ") +
                     (bm ? "broadcast memory" : "PE") + " here",
                 "this is " + describe(x.location.operand), "write `" + std::string(form) + "`");
  return false;
}

bool parse_transfer(Assembly& a, Cursor& c, const OpInfo& op, Span word, Draft& draft) {
  const bool get = op.op == Op::Bget;
  const std::string_view form =
      get ? "bget PE_LOCATION BM_LOCATION" : "bput BM_LOCATION PE_LOCATION PE_NUMBER";
  Transfer& move = draft.instruction.move;
  if (move.used()) {
    Diagnostic& d = a.report.error(Code::SlotTaken, word, "an instruction holds one transfer", {},
                                   "move this one to another line");
    a.report.note(d, a.report.span_of(draft.mnemonics[2]), "first operation");
    return false;
  }
  move.op = op.op;
  draft.mnemonics[2] = word;
  TransferOperand to, from;
  const std::size_t errors = a.report.errors();
  const bool good_target = parse_transfer_operand(a, c, word, form, !get, to);
  if (!good_target) {
    if (at_operand_end(c)) return false;
    c.skip_operand(to.span.begin);
    c.skip();
    if (at_operand_end(c)) return false;
  }
  if (!parse_transfer_operand(a, c, word, form, get, from)) return false;
  if (a.report.errors() != errors) return false;
  c.skip();
  if (!get) {
    if (at_operand_end(c)) return missing_operands(a, word, form);
    const std::int64_t last =
        a.unchecked ? max_field : std::int64_t{a.options.geometry.pes_per_block} - 1;
    const auto pe = parse_small_integer(a, c, 0, last, "the PE's number", Code::PeNumberRange);
    if (!pe) return false;
    move.pe_number = static_cast<std::uint16_t>(*pe);
    c.skip();
  }
  if (!at_operand_end(c)) return surplus_operand(a, c, word, form);
  const TransferOperand& pe = get ? to : from;
  const TransferOperand& bm = get ? from : to;
  if (pe.location.operand.width != bm.location.operand.width) {
    a.report.error(
        Code::WidthMismatch, from.span, "both sides of a transfer must have the same width",
        "from " + describe(from.location.operand) + " to " + describe(to.location.operand));
    return false;
  }
  if (bm.location.operand.space != Space::Bm && a.section != static_cast<int>(Section::Body)) {
    a.report.error(Code::OutsideBody, bm.span, "an item of the stream can only be used in the body",
                   "there is no current item here", "move the transfer to `.body`");
    return false;
  }
  move.pe = pe.location.operand;
  move.bm = bm.location.operand;
  draft.item = bm.location.item;
  draft.move = from.span;
  draft.text.add(to.span, 2, true, to.location.operand);
  draft.text.add(from.span, 2, false, from.location.operand);
  return true;
}

bool unknown_operation(Assembly& a, Span word) {
  Suggestion suggestion(word.text());
  for (const Keyword& k : keywords()) {
    if (k.kind == KeywordKind::Operation || k.kind == KeywordKind::Nop) suggestion.consider(k.text);
  }
  a.report.error(Code::UnknownInstruction, word, "unknown instruction " + in_quotes(word.text()),
                 {}, suggestion.help());
  return false;
}

/// One operation, up to `;` or the end.
bool parse_operation(Assembly& a, Cursor& c, Draft& draft) {
  const Span word = c.word();
  if (word.begin == word.end) {
    const Span rest = c.rest_of_word();
    if (c.done() || c.peek() == ';') {
      a.report.error(Code::OperandCount, c.done() ? Span{c.p - 1, c.p} : rest,
                     "an operation is expected at `;`");
    } else if (c.peek() == '[') {
      a.report.error(Code::BadPredicate, rest,
                     "an instruction has one predicate, before all operations");
    } else {
      a.report.error(Code::UnexpectedCharacter, rest,
                     in_quotes(rest.text()) + " cannot begin an operation");
    }
    return false;
  }
  const Keyword* keyword = find_keyword(word.text());
  if (keyword == nullptr || keyword->kind > KeywordKind::Nop) return unknown_operation(a, word);
  if (keyword->kind == KeywordKind::Nop) {
    draft.nop = true;
    c.skip();
    if (c.done()) return true;
    if (c.peek() != ';') return surplus_operand(a, c, word, "nop");
    a.report.error(Code::NopJoined, word, "`nop` cannot be combined", {},
                   "remove it: unused slots are idle");
    return false;
  }
  if (keyword->operation->unit == Unit::Transfer)
    return parse_transfer(a, c, *keyword->operation, word, draft);
  return parse_arithmetic(a, c, *keyword->operation, word, draft);
}

bool check_ranges(Assembly& a, const Draft& draft) {
  const OperandSpan* first = nullptr;
  for (unsigned i = 0; i < draft.text.count; ++i) {
    const OperandSpan& x = draft.text.operands[i];
    if (x.operand.space != Space::LocalByT) continue;
    if (first == nullptr) first = &x;
    if (x.operand.range_first != first->operand.range_first ||
        x.operand.range_last != first->operand.range_last) {
      Diagnostic& d = a.report.error(
          Code::BadTRange, x.span, "all accesses through T in an instruction have the same range");
      a.report.note(d, a.report.span_of(first->span), "a different range");
      return false;
    }
  }
  return true;
}

void record_spans(Assembly& a, const Draft& d) {
  InstructionSpans spans;
  const Report& report = a.report;
  spans.whole = report.span_of(d.text.whole);
  if (d.text.predicate.begin != nullptr) spans.predicate = report.span_of(d.text.predicate);
  for (unsigned i = 0; i < 2; ++i) {
    if (d.mul[i].begin != nullptr) spans.mul[i] = report.span_of(d.mul[i]);
    if (d.alu[i].begin != nullptr) spans.alu[i] = report.span_of(d.alu[i]);
  }
  if (d.move.begin != nullptr) spans.move = report.span_of(d.move);
  a.instruction_spans[static_cast<std::size_t>(a.section)].push_back(spans);
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
  if (a.options.stall_is_error) record_spans(a, draft);
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
    a.clocks[static_cast<std::size_t>(a.section)].gap();
  }
}

}  // namespace gdr::assembly
