// A kernel with outputs (ovar), shared by the tests of one process and of many ranks.
#pragma once

namespace gdr::test {

/// react_j = sum over i of w_i (x_j - x_i), heavy_j = largest w_i. Use one target per block,
/// because only PE 0 of a block writes.
inline constexpr const char* reaction_text = R"(
.kernel reaction
.elements 1
ivar long xi wi f64to72
jvar long xj f64to72
fvar long force f64to72 fadd at $lr24v
ovar long react f64to72 fadd
ovar long heavy f64to72 fmax
.start
    vlen 1
    upass force 0
.body
    vlen 1
    bget $lr0 xj
    fsub $lr8 $lr0 xi
    fadd force force $lr8
    fmul $lr10 wi 1.0
    dmul $lr8 $lr8 $lr10
    bput react $lr8 0
    bput heavy $lr10 0
)";

}  // namespace gdr::test
