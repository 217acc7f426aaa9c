// Kernels: construction from text, file or object.
#include "gdr/kernel.hpp"

#include <filesystem>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "emulator/isa/program.hpp"
#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {

struct KernelData {
  Program program;
  std::vector<KernelVariable> variables;
  std::vector<KernelArray> arrays;
  std::vector<std::uint8_t> object;
};

namespace {

KernelVariable describe(const Variable& v) {
  KernelVariable out;
  out.name = v.name;
  out.role = static_cast<Role>(v.kind);
  out.type = static_cast<HostNumber>(v.conversion.host);
  out.conversion = conversion_name(v.conversion);
  if (v.conversion.machine == MachineFormat::Fixed)
    out.conversion.append(".").append(std::to_string(v.conversion.point));
  if (v.kind == VarKind::Result || v.kind == VarKind::Output)
    out.reduction = reduce_names[static_cast<std::size_t>(v.reduce)];
  out.host_bytes = half_words(v.conversion, v.location.width) * sizeof(std::uint32_t);
  return out;
}

/// The kernel of an assembler or compiler result; throws Error (Program) with its diagnostics.
template <typename Result>
Kernel checked(Result result) {
  if (!result.ok()) throw Error(ErrorCategory::Program, result.diagnostics.render());
  return Kernel(std::move(*result.program));
}

}  // namespace

Kernel::Kernel(Program program) {
  auto data = std::make_shared<KernelData>();
  data->object = write_object(program);
  for (const Variable& v : program.variables) data->variables.push_back(describe(v));
  for (const VariableArray& a : program.arrays)
    data->arrays.push_back({a.name, a.first, {a.sizes.begin(), a.sizes.end()}, a.count()});
  data->program = std::move(program);
  data_ = std::move(data);
}

Kernel Kernel::assemble(std::string_view text, const std::string& name) {
  return checked(gdr::assemble(text, name));
}

Kernel Kernel::compile(std::string_view text, const std::string& name) {
  return checked(compile_kernel(text, name));
}

Kernel Kernel::load(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".gdo") return Kernel(read_object_file(path));
  if (ending == ".gdk") return checked(compile_kernel_file(path));
  return checked(assemble_file(path));
}

Kernel Kernel::from_object(const void* bytes, std::size_t size, const std::string& name) {
  if (bytes == nullptr && size > 0)
    throw Error(ErrorCategory::Usage, "the object's bytes are a null pointer");
  return Kernel(read_object({static_cast<const std::uint8_t*>(bytes), size}, name));
}

Kernel Kernel::builtin(std::string_view name) {
  for (const BuiltinKernel& k : builtin_kernels())
    if (k.name == name) return assemble(k.source, std::string(k.name) + ".gds");
  const std::vector<std::string> known = builtin_names();
  throw Error(ErrorCategory::Usage,
              unknown_name("kernel of the library", name, {known.begin(), known.end()}));
}

std::vector<std::string> Kernel::builtin_names() {
  std::vector<std::string> names;
  for (const BuiltinKernel& k : builtin_kernels()) names.emplace_back(k.name);
  return names;
}

const std::string& Kernel::name() const noexcept { return data_->program.name; }
const std::vector<KernelVariable>& Kernel::variables() const noexcept { return data_->variables; }
const std::vector<KernelArray>& Kernel::arrays() const noexcept { return data_->arrays; }

std::vector<std::pair<std::string, std::string>> Kernel::host_names() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const HostName& n : data_->program.host_names) names.emplace_back(n.name, n.host);
  return names;
}

Kernel Kernel::with_host_names(
    const std::vector<std::pair<std::string, std::string>>& names) const {
  Program program = data_->program;
  program.host_names.clear();
  for (const auto& [name, host] : names) program.host_names.push_back({name, host});
  return Kernel(std::move(program));
}

double Kernel::clocks_per_interaction() const noexcept {
  return data_->program.clocks_per_interaction();
}
double Kernel::flops_per_interaction() const noexcept { return data_->program.flops; }
const Program& Kernel::program() const noexcept { return data_->program; }
const std::vector<std::uint8_t>& Kernel::object() const noexcept { return data_->object; }

}  // namespace gdr
