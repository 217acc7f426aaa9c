// Kernels: construction from text, file or object.
#include "gdr/kernel.hpp"

#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/object.hpp"
#include "emulator/isa/program.hpp"
#include "gdr/error.hpp"
#include "kernels/builtin.hpp"
#include "kernels/compiler/compiler.hpp"
#include "libgdr/device/image_check.hpp"
#include "libgdr/device/names.hpp"

namespace gdr {

struct KernelData {
  Program program;
  std::vector<KernelVariable> variables;
  std::vector<KernelArray> arrays;
  std::vector<std::uint8_t> object;
  std::optional<KernelText> text;             ///< source text of a kernel of the kernel language
  unsigned effort = CompileOptions().effort;  ///< effort of searches for kernels made of this one
  std::vector<ImageLimit> image_limits;       ///< those of the text
  std::shared_ptr<KernelSearch> in_longs;  ///< search for Program::in_longs; null if there is none
};

using Progress = std::function<void(double)>;

/// The search for a schedule, or another way to a kernel's other program, made once for all copies
/// of a kernel; a search that failed or was cancelled is repeated. Thread-safe.
class KernelSearch {
 public:
  using Data = std::shared_ptr<const KernelData>;
  using Work = std::function<Data(const std::stop_token&, const Progress&)>;
  explicit KernelSearch(Work work) : work_(std::move(work)) {}

  const Data& result(const std::stop_token& stop, const Progress& progress) {
    // Others wait for the search in progress.
    const std::scoped_lock lock(mutex_);
    if (!found_) found_ = work_(stop, progress);
    return found_;
  }

 private:
  const Work work_;
  std::mutex mutex_;
  Data found_;  ///< never changes once it is set
};

namespace {

/// `component`: number of the variable among those of its kind and quantity.
KernelVariable describe(const Variable& v, unsigned component) {
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
  out.default_value = v.default_value;
  out.quantity = v.quantity;
  out.component = component;
  out.squared = v.squared;
  return out;
}

/// The program of an assembler or compiler result; throws Error (Program) with its diagnostics.
template <typename Result>
Program checked(Result result) {
  if (!result.ok()) throw Error(ErrorCategory::Program, result.diagnostics.render());
  return std::move(*result.program);
}

std::shared_ptr<KernelData> described(Program program) {
  auto data = std::make_shared<KernelData>();
  data->object = write_object(program);
  std::map<std::pair<VarKind, std::string_view>, unsigned> components;
  for (const Variable& v : program.variables)
    data->variables.push_back(
        describe(v, v.quantity.empty() ? 0 : components[{v.kind, v.quantity}]++));
  for (const VariableArray& a : program.arrays)
    data->arrays.push_back(
        {a.name, a.first, {a.sizes.begin(), a.sizes.end()}, a.count(), a.complex});
  data->program = std::move(program);
  return data;
}

/// `text`: of the kernel, if it has one, and the effort of the search for its schedule. The program
/// in longs is kept apart, or made on demand.
std::shared_ptr<const KernelData> data_of(Program program,
                                          const std::optional<KernelText>& text = {},
                                          unsigned effort = CompileOptions().effort) {
  const std::vector<Program> longs = std::exchange(program.in_longs, {});
  std::shared_ptr<KernelData> data = described(std::move(program));
  data->text = text;
  data->effort = effort;
  if (text) data->image_limits = text->image_limits();
  if (!longs.empty() || text)
    data->in_longs = std::make_shared<KernelSearch>(
        [program = data->program, longs, text, limits = data->image_limits](
            const std::stop_token& stop, const Progress&) {
          Program both = program;
          both.in_longs = longs;
          CompileOptions options;
          options.stop = stop;
          if (longs.empty()) text->add_longs(both, options);
          std::shared_ptr<KernelData> with = described(std::move(both));
          with->image_limits = limits;
          return with;
        });
  return data;
}

/// The program of a text without a pipelined loop.
KernelSearch::Work unscheduled_program_of(const KernelText& text) {
  return [text](const std::stop_token& stop, const Progress&) {
    CompileOptions options;
    options.pipeline = false;
    options.stop = stop;
    return data_of(checked(text.compile(options)), text);
  };
}

/// With the one in longs, unless the text gives it on demand.
const Program& whole_program(const KernelData& data) {
  return data.text || !data.in_longs ? data.program : data.in_longs->result({}, {})->program;
}

/// The variables of a kernel with the positions of targets and sources. Throws Error (Unsupported)
/// without three of each; `purpose`, for its message, is "a cut-off".
CutoffPositions positions_of(const Kernel& kernel, const std::string& purpose) {
  CutoffPositions positions;
  std::size_t targets = 0, sources = 0;
  for (const KernelVariable& v : kernel.variables()) {
    if (v.quantity != "pos" || v.squared) continue;
    const bool target = v.role == Role::Target;
    if (!target && v.role != Role::Source) continue;
    std::size_t& count = target ? targets : sources;
    if (count < 3) (target ? positions.target : positions.source)[count] = v.name;
    ++count;
  }
  if (targets != 3 || sources != 3)
    throw Error(ErrorCategory::Unsupported,
                "kernel \"" + kernel.name() + "\" has " + std::to_string(targets) +
                    " coordinates of targets and " + std::to_string(sources) + " of sources, but " +
                    purpose +
                    " needs three of each; declare them: `VARI xi, yi, zi as pos; VARJ xj, yj, zj "
                    "as pos;`");
  return positions;
}

/// Throws Error (Usage) for names that a cut-off needs.
void check_cutoff_names(const Kernel& kernel) {
  for (const KernelVariable& v : kernel.variables())
    if (v.name == cutoff_names::radius2 || v.name == cutoff_names::target ||
        v.name == cutoff_names::source)
      throw Error(ErrorCategory::Usage, "kernel \"" + kernel.name() + "\" has a variable \"" +
                                            v.name + "\", which its cut-off needs; rename it");
}

Program renamed(Program program, const std::vector<std::pair<std::string, std::string>>& names) {
  program.host_names.clear();
  for (const auto& [name, host] : names) program.host_names.push_back({name, host});
  return program;
}

}  // namespace

Kernel::Kernel(Program program) : Kernel(data_of(std::move(program))) {}
Kernel::Kernel(std::shared_ptr<const KernelData> data, std::shared_ptr<KernelSearch> search)
    : data_(std::move(data)), search_(std::move(search)) {}

Kernel Kernel::assemble(std::string_view text, const std::string& name) {
  return Kernel(checked(gdr::assemble(text, name)));
}

Kernel Kernel::compile(const KernelText& text, unsigned effort, const std::stop_token& stop) {
  CompileOptions options;
  options.effort = effort;
  const auto search = [text, options](const std::stop_token& stopped, const Progress& progress) {
    CompileOptions now = options;
    now.stop = stopped;
    now.progress = progress;
    return data_of(checked(text.compile(now)), text, now.effort);
  };
  CompileOptions quick = options;
  quick.pipeline = false;
  quick.stop = stop;
  CompileResult result = text.compile(quick);
  // A pipelined loop has room for a few more entries of a list, and its errors are the exact ones.
  if (!result.ok()) return Kernel(search(stop, {}));
  return Kernel(data_of(std::move(*result.program), text, effort),
                std::make_shared<KernelSearch>(search));
}

Kernel Kernel::compile(std::string_view text, const std::string& name, unsigned effort,
                       const std::stop_token& stop) {
  return compile(KernelText(text, name), effort, stop);
}

Kernel Kernel::load(const std::string& path, const std::stop_token& stop) {
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".gdo") return Kernel(read_object_file(path));
  if (ending == ".gdk") return compile(KernelText::read(path), CompileOptions().effort, stop);
  return Kernel(checked(assemble_file(path)));
}

Kernel Kernel::from_object(const void* bytes, std::size_t size, const std::string& name) {
  if (bytes == nullptr && size > 0)
    throw Error(ErrorCategory::Usage, "the object's bytes are a null pointer");
  return Kernel(read_object({static_cast<const std::uint8_t*>(bytes), size}, name));
}

// Each is assembled once: kernels do not change, and are cheap to copy.
Kernel Kernel::builtin(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, Kernel, std::less<>> assembled;
  const std::scoped_lock lock(mutex);
  if (const auto known = assembled.find(name); known != assembled.end()) return known->second;
  for (const BuiltinKernel& k : builtin_kernels())
    if (k.name == name) {
      const std::string own_name(k.name);
      std::optional<KernelText> text;
      if (const std::string_view of = k.doubles.empty() ? k.text : k.doubles; !of.empty())
        text = KernelText(of, own_name + ".gdk");
      Kernel kernel(data_of(checked(gdr::assemble(k.source, own_name + ".gds")), text));
      if (!k.text.empty())
        kernel.text_ = std::make_shared<KernelSearch>(
            unscheduled_program_of(KernelText(k.text, own_name + ".gdk")));
      assembled.emplace(k.name, kernel);
      return kernel;
    }
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
  const auto renamed_by = [&](const std::shared_ptr<KernelSearch>& search) {
    if (!search) return search;
    return std::make_shared<KernelSearch>(
        [search, names](const std::stop_token& stop, const Progress& progress) {
          const KernelSearch::Data& data = search->result(stop, progress);
          return data_of(renamed(whole_program(*data), names), data->text, data->effort);
        });
  };
  Kernel kernel(data_of(renamed(whole_program(*data_), names), data_->text, data_->effort),
                renamed_by(search_));
  kernel.text_ = renamed_by(text_);
  return kernel;
}

Kernel Kernel::scheduled(const std::stop_token& stop, const Progress& progress) const {
  return Kernel(search_ ? search_->result(stop, progress) : data_);
}
Kernel Kernel::unscheduled() const { return Kernel(text_ ? text_->result({}, {}) : data_); }

const std::vector<ImageLimit>& ImageCheck::limits_of(const Kernel& kernel) {
  return kernel.data_->image_limits;
}

Kernel Kernel::with_longs() const {
  return Kernel(data_->in_longs ? data_->in_longs->result({}, {}) : data_);
}

Kernel Kernel::with_cutoff() const {
  if (!data_->text)
    throw Error(ErrorCategory::Unsupported,
                "kernel \"" + name() +
                    "\" has no text in the kernel language, from which it could be compiled with a "
                    "cut-off; compile its text instead of loading assembly or an object");
  check_cutoff_names(*this);
  const KernelText text = data_->text->with_cutoff(positions_of(*this, "a cut-off"));
  Kernel kernel = compile(text, data_->effort, {});
  const auto names = host_names();
  return names.empty() ? kernel : kernel.with_host_names(names);
}

std::string Kernel::adjoint_text(const std::vector<std::string>& variables) const {
  if (!data_->text)
    throw Error(ErrorCategory::Unsupported,
                "kernel \"" + name() +
                    "\" has no text in the kernel language, which could be differentiated; compile "
                    "its text instead of loading assembly or an object");
  const std::vector<std::string> texts = data_->text->adjoints(variables);
  if (texts.size() == 1) return texts.front();
  throw Error(ErrorCategory::Usage,
              "kernel \"" + name() +
                  "\": its targets and sources have adjoints of their own; take "
                  "one with respect to targets and params, one to sources");
}

Kernel Kernel::adjoint(const std::vector<std::string>& variables) const {
  return compile(adjoint_text(variables), name() + "_adjoint", data_->effort);
}

KernelCharges Kernel::charges() const {
  if (!data_->text)
    throw Error(ErrorCategory::Unsupported,
                "kernel \"" + name() +
                    "\" has no text in the kernel language, which shows what its charges are; "
                    "compile its text instead of loading assembly or an object");
  KernelCharges found = data_->text->charges(positions_of(*this, "a tree").source);
  if (!found.obstacle.empty())
    throw Error(ErrorCategory::Unsupported,
                "a tree cannot compute kernel \"" + name() +
                    "\", whose results must be sums of terms with one charge as a factor: " +
                    found.obstacle);
  return found;
}

const KernelData& Kernel::scheduled_data() const {
  return search_ ? *search_->result({}, {}) : *data_;
}
double Kernel::clocks_per_interaction() const {
  return scheduled_data().program.clocks_per_interaction();
}
double Kernel::flops_per_interaction() const noexcept { return data_->program.flops; }
const Program& Kernel::program() const { return scheduled_data().program; }
const std::vector<std::uint8_t>& Kernel::program_object() const { return scheduled_data().object; }
const std::vector<std::uint8_t>& Kernel::object() const {
  const KernelData& data = scheduled_data();
  return data.in_longs ? data.in_longs->result({}, {})->object : data.object;
}

}  // namespace gdr
