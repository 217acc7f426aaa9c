// One chip, instruction by instruction.
#include "bind.hpp"

namespace gdr::python {

void bind_machine(py::module_&) {}

}  // namespace gdr::python
