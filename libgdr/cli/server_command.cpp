#include "libgdr/cli/server_command.hpp"

#include <CLI/Option.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "libgdr/cli/output.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/openers.hpp"
#include "libgdr/driver/job_arguments.hpp"
#include "libgdr/io/atomic_file.hpp"
#include "libgdr/nbody/run.hpp"

namespace gdr::cli {
namespace {

bool is_here = false;  ///< this process is at the server

namespace fs = std::filesystem;
using driver::ArgumentKind;
using driver::JobArgument;

/// Options of a device name that concern the network, and no board of the server.
constexpr std::string_view network_options[] = {"psk",      "cert",       "key",       "ca",
                                                "insecure", "streams",    "bandwidth", "window",
                                                "pacing",   "congestion", "resume"};

/// "--eps", or "FILE".
std::string name_of(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(true) : "--" + option.get_lnames().front();
}

/// A file of this host, and its name in the session's folder.
struct Carried {
  std::string local, name;
};

/// The arguments of a job, and the files that have to be carried for it.
struct PlannedJob {
  driver::ServerJob job;
  std::vector<Carried> inputs, outputs, folders;
  std::set<std::string> names = {};

  /// The name of a file in the session's folder: its own, unless another file has that.
  std::string new_name(const std::string& local) {
    const std::string path = local.substr(0, local.find_last_not_of('/') + 1);  // of "results/"
    const std::string last = fs::path(path).lexically_normal().filename().string();
    if (last.empty() || last == "." || last == "..")
      throw usage_error("'{}' is no name of a file that a server can write", local);
    std::string name = last;
    for (int k = 2; !names.insert(name).second; ++k) name = fmt::format("{}-{}", k, last);
    return name;
  }

  void add(const JobArgument& argument, const std::string& value) {
    std::string text = value;
    if (names_file(argument.kind, value) && !is_at_server(value)) {
      text = new_name(value);
      const bool input =
          argument.kind == ArgumentKind::Input || argument.kind == ArgumentKind::Kernel;
      (input                                   ? inputs
       : argument.kind == ArgumentKind::Folder ? folders
                                               : outputs)
          .push_back({value, text});
    }
    job.arguments.push_back(fmt::format("{}={}", argument.name, text));
  }
};

/// The options of a device name for the server's board.
std::string options_for_board(std::string_view device) {
  std::string kept;
  std::size_t at = device.find(',');
  while (at != std::string_view::npos) {
    const std::size_t end = device.find(',', at + 1);
    const std::string_view item = device.substr(at + 1, end - at - 1);
    if (std::ranges::find(network_options, item.substr(0, item.find('='))) ==
        std::end(network_options))
      kept += (kept.empty() ? "" : ",") + std::string(item);
    at = end;
  }
  return kept;
}

std::string device_of(const CLI::App& command) {
  const CLI::Option* const option = command.get_option_no_throw("--device");
  if (option != nullptr && option->count() > 0) return option->results().front();
  const char* const variable = std::getenv("GDR_DEVICE");
  return variable != nullptr ? variable : "";
}

PlannedJob plan(const CLI::App& command) {
  PlannedJob planned;
  const std::string& name = command.get_name();
  const std::span known = driver::job_arguments(name);
  planned.job.device_options = options_for_board(device_of(command));
  planned.job.arguments = {name};
  std::set<std::string> given;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->check_name("--device")) continue;
    const JobArgument* const argument = driver::find_argument(known, name_of(*option));
    if (argument == nullptr)
      throw usage_error("{}: cannot be used with files at a server; copy them first (gdr copy)",
                        name_of(*option));
    given.insert(std::string(argument->name));
    if (argument->kind == ArgumentKind::Flag)
      planned.job.arguments.emplace_back(argument->name);
    else
      for (const std::string& value : option->results()) planned.add(*argument, value);
  }
  for (const JobArgument& argument : known)
    if (!argument.fallback.empty() && !given.contains(std::string(argument.name)))
      planned.add(argument, std::string(argument.fallback));
  return planned;
}

/// Check what can be checked before anything is carried.
void check_local_files(const PlannedJob& planned) {
  for (const Carried& file : planned.inputs)
    if (!fs::is_regular_file(file.local))
      throw Error(ErrorCategory::Io,
                  fmt::format("cannot read '{}': it is missing, or no regular file", file.local));
  for (const Carried& file : planned.outputs) {
    check_writable(file.local);
    if (fs::exists(file.local) && !fs::is_regular_file(file.local))
      throw Error(ErrorCategory::Io,
                  fmt::format("cannot bring results to '{}': it exists and is no regular file",
                              file.local));
  }
  for (const Carried& folder : planned.folders) make_writable_folder(folder.local);
}

void bring_results(driver::ServerFiles& files, const PlannedJob& planned) {
  for (const Carried& file : planned.outputs)
    if (files.status(file.name).exists) files.fetch(file.name, file.local, {});
  for (const Carried& folder : planned.folders) {
    if (!files.status(folder.name).exists) continue;
    for (const driver::ServerFile& file : files.list(folder.name))
      if (!file.folder)
        files.fetch(folder.name + "/" + file.name, (fs::path(folder.local) / file.name).string(),
                    {});
  }
}

}  // namespace

bool is_at_server(const std::string& file) { return file.starts_with(driver::server_prefix); }

void run_commands_here() noexcept { is_here = true; }

bool runs_at_server(const CLI::App& command) {
  if (is_here) return false;
  const std::span known = driver::job_arguments(command.get_name());
  return std::ranges::any_of(command.get_options(), [&](const CLI::Option* option) {
    if (option->count() == 0 || known.empty()) return false;
    const JobArgument* const argument = driver::find_argument(known, name_of(*option));
    return argument != nullptr && std::ranges::any_of(option->results(), [&](const auto& value) {
             return names_file(argument->kind, value) && is_at_server(value);
           });
  });
}

std::unique_ptr<driver::ServerFiles> open_server_files(const std::string& device) {
  return driver::network().open_files(network_request(parse_device_name(device, {})));
}

void report_streams(driver::ServerFiles& files) {
  if (!is_verbose()) return;
  StreamStatistics sum;
  const std::vector<StreamStatistics> streams = files.streams();
  for (const StreamStatistics& s : streams) {
    sum.bytes_sent += s.bytes_sent;
    sum.bytes_received += s.bytes_received;
    sum.connections += s.connections;
    sum.repeated_frames += s.repeated_frames;
  }
  verbose("network", "{} bytes sent, {} received, {}, {} restored, {} sent again", sum.bytes_sent,
          sum.bytes_received, counted(streams.size(), "stream"),
          counted(sum.connections - std::min<std::uint64_t>(sum.connections, streams.size()),
                  "connection"),
          counted(sum.repeated_frames, "frame"));
}

int run_at_server(const CLI::App& command) {
  const PlannedJob planned = plan(command);
  check_local_files(planned);
  const auto files = open_server_files(device_of(command));
  for (const Carried& file : planned.inputs) files->send(file.local, file.name, {});
  const InterruptGuard guard;
  const int status = files->run(
      planned.job,
      [](bool error_stream, std::string_view text) {
        if (error_stream)
          write_error_text(text);
        else
          write_output(text), flush_output();
      },
      [] { return InterruptGuard::received() != 0; });
  bring_results(*files, planned);
  report_streams(*files);
  // The server interrupts the job, whichever signal ended this process.
  const int received = InterruptGuard::received();
  return received != 0 && status == 128 + SIGINT ? 128 + received : status;
}

}  // namespace gdr::cli
