// The mathematical functions of the kernel language in MPFR.
#pragma once

#include <string_view>

namespace gdr::test {

/// f(x, y) rounded to a long double; `name` is that of the kernel language. `order` is that of a
/// Boys function. Functions of one argument ignore y.
long double mpfr_function(std::string_view name, double x, double y = 0, int order = 0);

/// The derivative of f(x, y) with respect to its first (0) or second (1) argument, which is not
/// zero, rounded to a long double.
long double mpfr_derivative(std::string_view name, int argument, double x, double y = 0,
                            int order = 0);

}  // namespace gdr::test
