// `.unchecked`: a program as written, without idle clocks and without the limits of a geometry.
#include "assembler/support.hpp"
#include "emulator/assembler/object.hpp"

namespace gdr::test {
namespace {

using Codes = std::vector<unsigned>;

/// The diagnostics of `text`; with `.unchecked` there are none, and an object is written.
Codes only_checked(const std::string& text) {
  INFO(text);
  const Program p = assembled(".kernel k\n.unchecked\n" + text);
  CHECK(read_object(write_object(p)) == p);
  return codes_of(".kernel k\n" + text);
}

TEST_CASE(".unchecked disables idle clocks") {
  const std::string body = ".body\nfadd $lr0 $lr2 $lr4\nvlen 1\nfadd $lr2 $lr0 $lr4\n";
  CHECK(shape_of(assembled(".unchecked\n" + body), Section::Body) == "II");
  CHECK(shape_of(assembled(body), Section::Body).size() > 2);
  AssembleOptions strict;
  strict.stall_is_error = true;
  CHECK(codes_of(".unchecked\n" + body, strict).empty());
  CHECK_FALSE(codes_of(body, strict).empty());
}

TEST_CASE(".unchecked disables checks of ports and memory sizes") {
  CHECK(only_checked(".body\nfadd $lm0v $lm8v $lm16v\n") == Codes{4001});
  CHECK(only_checked(".body\nfmul $lr0v $lr8v 2.0 ; fadd $lr0v $lr8v 1.0\n") == Codes{4001});
  CHECK(only_checked(".body\nfmul $lr0 $lr8 2.0 ; fadd $lr0 $lr8 2.0\n").size() == 1);
  CHECK(only_checked(".body\nfadd $r65535v $lr65534v 1.0\n") == Codes{5002});
  CHECK(only_checked(".body\nfadd $lr0v $lm65534v 1.0\n") == Codes{5003});
  CHECK(only_checked(".fixed 0\n.body\nbget $lr0v $lb65534v\n") == Codes{5004});
  CHECK(only_checked(".fixed 2\n.body\nbget $lr0v $lb0v\n") == Codes{2016});
  CHECK(only_checked(".item 2\n.body\nbget $lr0v $ls0v\n") == Codes{5005});
  CHECK(only_checked(".body\nfadd $lr0v $lm[$t:0..65535] 1.0\n") == Codes{3017});
  CHECK(only_checked(".body\nvlen 1\nbput $lb0 $lr0 65535\n") == Codes{3018});
  CHECK(only_checked(".group 2\njvar long m f64to72\n") == Codes{2011});
  CHECK(only_checked("ivar long x f64to72 at $lm65534v\ntmp long t\n") == Codes{5003});
  CHECK(only_checked("param long p f64to72 at $lr65534\n") == Codes{5002});
  CHECK(only_checked("param long p f64to72 at $lb65534\n") == Codes{5004});
}

TEST_CASE(".unchecked disables the check of the instruction memory") {
  AssembleOptions small;
  small.geometry.instruction_words = 2;
  const std::string body = ".body\nnop\nnop\nnop\n";
  CHECK(codes_of(body, small) == Codes{5001});
  CHECK(assembled(".unchecked\n" + body, small).section(Section::Body).size() == 3);
}

TEST_CASE(".unchecked does not disable the limits of object files") {
  const std::string head = ".unchecked\n";
  CHECK(codes_of(head + ".body\nfadd $lr0 $lm65536 1.0\n") == Codes{3006});
  CHECK(codes_of(head + ".body\nfadd $lr0 $lm[$t:0..65536] 1.0\n") == Codes{3017});
  CHECK(codes_of(head + ".body\nbput $lb0 $lr0 65536\n") == Codes{3018});
  CHECK(codes_of(head + ".item 2\njvar long a b f64to72\n") == Codes{2016});
  CHECK(codes_of(head + ".item 3\n.body\nbget $lr0 $ls0\n") == Codes{2016});
  CHECK(codes_of(".item 3\n.body\nvlen 1\nbget $lr0 $ls0\n") == Codes{2016});
  CHECK(codes_of(head + ".body\nbget $lr0v $lb65534v\n") == Codes{5004});
  CHECK(codes_of(head + ".group 4096\n.item 32\njvar long a f64to72\n") == Codes{5004});
  CHECK(codes_of(head + ".group 2\n.item 32768\njvar long a f64to72\n.body\nvlen 1\n"
                        "alias far = $ls65534\nbget $lr0 far@1\n") == Codes{5005});
}

TEST_CASE(".unchecked is allowed once, before declarations and sections") {
  CHECK(codes_of(".unchecked\n.unchecked\n") == Codes{2013});
  CHECK(codes_of("tmp long a\n.unchecked\n") == Codes{2014});
  CHECK(codes_of(".body\n.unchecked\n") == Codes{2014});
  CHECK(codes_of(".unchecked yes\n") == Codes{1004});
}

TEST_CASE("a disassembly has .unchecked only if necessary") {
  const Program wrong = assembled(".unchecked\n.body\nfadd $lr0 $lr2 $lr4\nfadd $lr2 $lr0 $lr4\n");
  CHECK(disassemble(wrong).find(".unchecked") != std::string::npos);
  const Program right = assembled(".unchecked\n.body\nfadd $lr0 $lr2 $lr4\n");
  CHECK(disassemble(right).find(".unchecked") == std::string::npos);
  const Program braces = assembled(".kernel \"a\\x7bb\\x7dc\"\n.body\nnop\n");
  REQUIRE(braces.name == "a{b}c");
  CHECK(assembled(disassemble(braces)) == braces);
}

}  // namespace
}  // namespace gdr::test
