// C interface: kernels and their variables.
#include "libgdr/capi/guard.hpp"
#include "libgdr/capi/handles.hpp"

using gdr::capi::guarded;
using gdr::capi::need;

namespace {

/// Create a kernel by `make`; *kernel is null if that fails.
template <typename Make>
gdr_status make_kernel(gdr_kernel** kernel, Make&& make) noexcept {
  return guarded([&] {
    need(kernel, "kernel");
    *kernel = nullptr;
    *kernel = new gdr_kernel{make()};
  });
}

}  // namespace

gdr_status gdr_kernel_assemble(const char* text, const char* name, gdr_kernel** kernel) {
  return make_kernel(kernel, [&] {
    need(text, "text");
    return gdr::Kernel::assemble(text, name == nullptr ? "kernel" : name);
  });
}

gdr_status gdr_kernel_compile(const char* text, const char* name, gdr_kernel** kernel) {
  return make_kernel(kernel, [&] {
    need(text, "text");
    return gdr::Kernel::compile(text, name == nullptr ? "kernel" : name);
  });
}

gdr_status gdr_kernel_load(const char* path, gdr_kernel** kernel) {
  return make_kernel(kernel, [&] {
    need(path, "path");
    return gdr::Kernel::load(path);
  });
}

gdr_status gdr_kernel_object(const void* bytes, size_t size, gdr_kernel** kernel) {
  return make_kernel(kernel, [&] { return gdr::Kernel::from_object(bytes, size); });
}

gdr_status gdr_kernel_builtin(const char* name, gdr_kernel** kernel) {
  return make_kernel(kernel, [&] {
    need(name, "name");
    return gdr::Kernel::builtin(name);
  });
}

void gdr_kernel_free(gdr_kernel* kernel) { delete kernel; }

const char* gdr_kernel_name(const gdr_kernel* kernel) {
  return kernel == nullptr ? "" : kernel->kernel.name().c_str();
}

size_t gdr_kernel_variable_count(const gdr_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.variables().size();
}

gdr_status gdr_kernel_variable(const gdr_kernel* kernel, size_t index, gdr_variable* variable) {
  return guarded([&] {
    need(kernel, "kernel");
    need(variable, "variable");
    const auto& all = kernel->kernel.variables();
    if (index >= all.size())
      throw gdr::Error(gdr::ErrorCategory::Usage, "kernel \"" + kernel->kernel.name() + "\" has " +
                                                      std::to_string(all.size()) +
                                                      " variables, there is no number " +
                                                      std::to_string(index));
    const gdr::KernelVariable& v = all[index];
    *variable = {v.name.c_str(),       static_cast<gdr_role>(v.role), static_cast<gdr_type>(v.type),
                 v.conversion.c_str(), v.reduction.c_str(),           v.host_bytes};
  });
}

gdr_status gdr_kernel_cost(const gdr_kernel* kernel, double* clocks, double* flops) {
  return guarded([&] {
    need(kernel, "kernel");
    if (clocks != nullptr) *clocks = kernel->kernel.clocks_per_interaction();
    if (flops != nullptr) *flops = kernel->kernel.flops_per_interaction();
  });
}
