// The reader of machine code of `gdr bench gpu-instructions`.
#include <string>

#include "bench/gpu_code/listing.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using bench::innermost_loops;

TEST_CASE("instructions of a loop are those on its shortest way") {
  // The rare branch over two operations, and the endless loop behind every kernel.
  const auto loops = innermost_loops(R"(
.text.run:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   LDG.E.64 R2, [R4.64] ;
        /*0020*/                   DADD R6, R2, R8 ;
        /*0030*/                   DSETP.GT.AND P0, PT, R6, R8, PT ;
        /*0040*/              @!P0 BRA `(.L_x_2) ;
        /*0050*/                   DMUL R6, R6, R6 ;
        /*0060*/                   DFMA R6, R6, R6, R6 ;
.L_x_2:
        /*0070*/                   DFMA R8, R6, R6, R8 ;
        /*0080*/                   FFMA R3, R3, R3, R3 ;
        /*0090*/               @P1 BRA `(.L_x_1) ;
        /*00a0*/                   EXIT ;
.L_x_3:
        /*00b0*/                   BRA `(.L_x_3);
)");
  REQUIRE(loops.size() == 2);
  CHECK(loops[0].all == 9);
  CHECK(loops[0].shortest_way.size() == 7);
  CHECK(loops[0].on_doubles() == 3);
  CHECK(loops[0].fused() == 2);
  CHECK(loops[1].all == 1);
}

TEST_CASE("of nested loops only the inner one is counted") {
  const auto loops = innermost_loops(R"(
.L_x_1:
        /*0000*/                   DADD R2, R2, R8 ;
.L_x_2:
        /*0010*/                   DMUL R6, R6, R6 ;
        /*0020*/                   BRA !UP0, `(.L_x_2) ;
        /*0030*/              @!P2 BRA `(.L_x_1) ;
)");
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].all == 2);
  CHECK(loops[0].on_doubles() == 1);
}

TEST_CASE("a loop that is left by a branch in its middle goes on behind it") {
  // An unconditional jump has no next instruction: the way is the one over the second label.
  const auto loops = innermost_loops(R"(
.L_x_1:
        /*0000*/               @P0 BRA `(.L_x_2) ;
        /*0010*/                   DADD R2, R2, R8 ;
        /*0020*/                   BRA `(.L_x_3) ;
.L_x_2:
        /*0030*/                   DADD R2, R2, R4 ;
        /*0040*/                   DADD R2, R2, R6 ;
.L_x_3:
        /*0050*/               @P1 BRA `(.L_x_1) ;
)");
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].all == 6);
  CHECK(loops[0].shortest_way.size() == 4);
}

TEST_CASE("a listing without jumps has no loops") {
  CHECK(innermost_loops("        /*0000*/                   EXIT ;\n").empty());
  CHECK(innermost_loops("").empty());
}

}  // namespace gdr::test
