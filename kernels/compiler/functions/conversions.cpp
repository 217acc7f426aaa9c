// The functions that choose a precision.
#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {

extern constexpr Function to_short{
    .name = "short",
    .arguments = "x",
    .meaning = "the value rounded to a short; an int becomes a number",
    .call = [](const Call& c) { return c.with.convert(Type::Short, c.a[0], c.where, true); },
};

extern constexpr Function to_long{
    .name = "long",
    .arguments = "x",
    .meaning = "the value computed in longs; an int becomes a number",
    .call = [](const Call& c) { return c.with.convert(Type::Long, c.a[0], c.where, true); },
};

}  // namespace gdr::kc::functions
