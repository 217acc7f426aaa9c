// Codes of all diagnostics; the tables have one row for each.
#pragma once

#include <cstdint>

namespace gdr {

/// 1xxx text and macros, 2xxx declarations, 3xxx instructions, 4xxx ports and latency, 5xxx limits.
enum class Code : std::uint16_t {
  UnexpectedCharacter = 1001,
  BadNumber = 1002,
  BadString = 1003,
  TrailingText = 1004,
  LineTooLong = 1005,
  UnknownDirective = 1101,
  IncludeUnreadable = 1102,
  IncludeCycle = 1103,
  NestedTooDeeply = 1104,
  BlockNotClosed = 1105,
  EndWithoutBlock = 1106,
  BadRepeat = 1107,
  TooManyLines = 1108,
  BadTemplate = 1109,
  TemplateArguments = 1110,
  TemplateRecursion = 1111,
  BadBraces = 1112,
  ExpressionExpected = 1201,
  NotANumber = 1202,
  IntegerNeeded = 1203,
  ExpressionRange = 1204,
  ExpressionTooDeep = 1205,

  NameTaken = 2001,
  NameReserved = 2002,
  NameExpected = 2003,
  WidthExpected = 2004,
  ConversionExpected = 2005,
  ConversionTooWide = 2006,
  ReductionMissing = 2007,
  ReductionMisplaced = 2008,
  InvalidLocation = 2009,
  BadPad = 2010,
  GroupNeedsPad = 2011,
  DirectiveValue = 2012,
  DirectiveTwice = 2013,
  DirectiveLate = 2014,
  OverlappingLocation = 2015,
  LayoutTooSmall = 2016,
  BadQuantity = 2017,

  UnknownInstruction = 3001,
  UnknownName = 3002,
  NoSection = 3003,
  OperandCount = 3004,
  WrongOperand = 3005,
  BadLocation = 3006,
  OddLong = 3007,
  BadSuffix = 3008,
  BadDestination = 3009,
  WidthMismatch = 3010,
  SlotTaken = 3011,
  HexDigits = 3012,
  ImmediateRange = 3013,
  TwoImmediates = 3014,
  BadMask = 3015,
  BadPredicate = 3016,
  BadTRange = 3017,
  PeNumberRange = 3018,
  VlenRange = 3019,
  OutsideBody = 3020,
  NopJoined = 3021,

  PortLimit = 4001,
  DuplicateWrite = 4002,
  ReadTooEarly = 4003,

  InstructionMemory = 5001,
  RegisterFile = 5002,
  LocalMemory = 5003,
  BroadcastMemory = 5004,
  BeyondGroup = 5005,
};

}  // namespace gdr
