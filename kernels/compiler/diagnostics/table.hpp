// The diagnostics of the kernel language: codes, table and reference page.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emulator/assembler/diagnostic.hpp"

namespace gdr::kc {

/// 6xxx: text and syntax, 7xxx: semantics (71xx: warnings), 8xxx: resources of the machine.
enum class Code : std::uint16_t {
  UnexpectedCharacter = 6001,
  BadNumber = 6002,
  BadString = 6003,
  CommentNotClosed = 6004,
  SymbolExpected = 6005,
  StatementExpected = 6006,
  NameExpected = 6007,
  ExpressionExpected = 6008,
  BlockNotClosed = 6009,
  NestedTooDeeply = 6010,
  IncludeUnreadable = 6011,
  IncludeCycle = 6012,
  Misplaced = 6013,

  NameTaken = 7001,
  UnknownName = 7002,
  NotAssigned = 7003,
  PartlyAssigned = 7004,
  ResultRead = 7005,
  ResultAssigned = 7006,
  CannotAssign = 7007,
  NotAResult = 7008,
  ReductionMixed = 7009,
  BadPayload = 7010,
  UnknownFunction = 7011,
  ArgumentCount = 7012,
  Recursion = 7013,
  ReturnMissing = 7014,
  NameReserved = 7015,
  WrongType = 7016,
  IntegerNeeded = 7017,
  ConstantNeeded = 7018,
  NoValue = 7019,
  IndexRange = 7020,
  IndexCount = 7021,
  BadSize = 7022,
  TypeNotPossible = 7023,
  BadStep = 7024,
  BadOrder = 7025,
  TooLarge = 7026,
  SettingTwice = 7027,
  SettingLate = 7028,
  NoResult = 7029,
  NotAList = 7030,
  ListAppended = 7031,
  ShapesDiffer = 7032,
  NoComponent = 7033,
  BeyondImages = 7034,
  NotAVariable = 7035,
  UnfitResult = 7036,

  UnusedInput = 7101,
  UnusedValue = 7102,
  EmptyResult = 7103,
  TooSmall = 7104,

  NoRegisters = 8002,
  NoLocalMemory = 8003,
  NoMasks = 8004,
  ListTooLong = 8005,
  TooManyInstructions = 8006,
  ItemTooLarge = 8007,
};

constexpr std::uint16_t number(Code code) noexcept { return static_cast<std::uint16_t>(code); }

/// All diagnostics, by their codes. The examples are kernels, in a file `example.gdk`.
std::span<const DiagnosticInfo> kernel_diagnostic_table() noexcept;

}  // namespace gdr::kc
