// `gdr copy`: copies a file to a server, or from it.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "libgdr/cli/command.hpp"
#include "libgdr/cli/server_command.hpp"

namespace gdr::cli::copy_command {
namespace {

struct Options {
  std::string source, target, device;
  bool json = false;
};

/// The name of a copy: that of the source, if the target is a folder.
std::string name_of_copy(const Options& o, bool is_folder) {
  if (!is_folder) return o.target;
  const std::string last = o.source.substr(o.source.rfind('/') + 1);
  return o.target + (o.target.ends_with('/') ? "" : "/") + last;
}

void report(const Options& o, const std::string& target, const driver::TransferReport& r) {
  const double moved = static_cast<double>(r.bytes - r.resumed);
  const double rate = r.seconds > 0 ? 8 * moved / r.seconds : 0;
  if (o.json) {
    print_json({{"source", o.source},
                {"target", target},
                {"bytes", r.bytes},
                {"resumed_bytes", r.resumed},
                {"seconds", r.seconds},
                {"bits_per_second", rate}});
    return;
  }
  if (is_quiet()) return;
  print("{}: {} bytes in {:.3g} s, {:.3g} Mbit/s{}\n", target, r.bytes, r.seconds, rate * 1e-6,
        r.resumed > 0 ? fmt::format("; {} were there already", r.resumed) : "");
}

int work(const Options& o) {
  const bool from = is_at_server(o.source);
  if (from == is_at_server(o.target))
    throw usage_error(
        "copy: one of the two names must be server:/NAME, the other one a local file");
  std::error_code error;
  const auto bytes = from ? 0 : std::filesystem::file_size(o.source, error);
  if (error)
    throw Error(ErrorCategory::Io,
                fmt::format("cannot read '{}': {}; check the spelling", o.source, error.message()));
  const auto files = open_server_files(o.device);
  const double size = static_cast<double>(from ? files->status(o.source).bytes : bytes);
  Progress progress("copying", size, !o.json);
  const auto show = [&](std::uint64_t done) { progress.update(static_cast<double>(done)); };
  const std::string target =
      name_of_copy(o, o.target.ends_with('/') || (from ? std::filesystem::is_directory(o.target)
                                                       : files->status(o.target).folder));
  const driver::TransferReport r =
      from ? files->fetch(o.source, target, show) : files->send(o.source, target, show);
  progress.clear();
  report(o, target, r);
  report_streams(*files);
  return 0;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("SOURCE", options.source, "file, or server:/NAME")->required();
  app.add_option("TARGET", options.target, "name or folder of the copy: server:/NAME, or a file")
      ->required();
  add_text(app, "--device", options.device, "DEVICE",
           "a device of the server: board:tcp:HOST:PORT,... (or GDR_DEVICE)");
  add_json_option(app, options.json);
}

const Registration registration{
    {.name = "copy",
     .summary = "copy a file to a server, or from it",
     .example =
         "gdr copy cluster.hdf5 server:/ --device board:tcp:server.example:7326,psk=cluster.key\n"
         "gdr copy server:/forces.hdf5 . --device "
         "board:tcp:server.example:7326,psk=cluster.key,bandwidth=1e9",
     .group = Group::Machine,
     .prepare = prepare<Options, add_options, work>,
     .details =
         "Copies over as many streams as the options streams and bandwidth of the device say, in\n"
         "chunks with checksums. Connections that break are restored. A copy that was interrupted\n"
         "goes on where it was when the command is repeated; until it is complete the copy is\n"
         "called NAME.gdr-part. The server offers a folder: gdr serve --files FOLDER, with\n"
         "--files-writable for copies to it."}};

}  // namespace
}  // namespace gdr::cli::copy_command
