// `gdr relay`: a network of given rate, delay, queue and loss between programs of this host.
#include <map>
#include <optional>

#include "libgdr/cli/command.hpp"
#include "libgdr/relay/run.hpp"

namespace gdr::cli::relay_command {
namespace {

struct Options {
  std::string config;
  std::map<std::string, std::optional<std::string>, std::less<>> values;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  bool check = false, watch = false;
};

/// The file first: options replace its values.
relay::Settings settings_of(const Options& o) {
  relay::Settings settings;
  if (!o.config.empty()) relay::apply_file(settings, o.config);
  for (const relay::SettingInfo& info : relay::setting_table()) {
    try {
      if (const auto value = o.values.find(info.name); value != o.values.end() && value->second)
        relay::apply_setting(settings, info, *value->second);
      if (const auto list = o.lists.find(info.name); list != o.lists.end())
        for (const std::string& value : list->second) relay::apply_setting(settings, info, value);
    } catch (const Error& error) {
      throw Error(error.category(), std::string("--") + error.what());
    }
  }
  settings.quiet = is_quiet();
  settings.watch = o.watch;
  return settings;
}

int work(const Options& o) {
  try {
    if (o.check) {
      relay::check_available();
      return 0;
    }
    const relay::Settings settings = settings_of(o);
    if (settings.ports.empty() && (settings.server.empty() || settings.client.empty()))
      throw usage_error("give --server and --client, or --forward LISTEN=TARGET");
    return relay::run(settings, {[](const std::string& text) { write_error_text(text); },
                                 [](const std::string& text) { report_error(text); }});
  } catch (const Error& error) {
    if (error.category() == ErrorCategory::Usage) throw;
    if (error.category() != ErrorCategory::Unsupported) {
      report_error(error.what());
      return relay::error_status;
    }
    report_error(
        std::string(error.what()) +
        "; the relay needs network namespaces, created by root or in a user namespace, and "
        "/dev/net/tun");
    return relay::unavailable_status;
  }
}

void add_options(CLI::App& app, Options& options) {
  add_text(app, "--config", options.config, "FILE",
           "settings as JSON, with the names of the options; ports and a line");
  for (const relay::SettingInfo& info : relay::setting_table()) {
    const std::string name = "--" + std::string(info.name), type(info.type),
                      description(info.description);
    if (info.repeatable)
      add_repeatable(app, name, options.lists[std::string(info.name)], description, type);
    else
      app.add_option(name, options.values[std::string(info.name)], description)->type_name(type);
  }
  app.add_flag("--watch", options.watch, "print a table of the busy streams every second");
  app.add_flag("--check", options.check, "test whether namespaces and TUN devices are available");
}

const Registration registration{
    {.name = "relay",
     .summary = "put a network of given rate, delay and loss between programs",
     .example = "gdr relay --rate 1G --rtt 200ms --forward 127.0.0.1:7000=127.0.0.1:7326 --watch\n"
                "gdr relay --config ports.json --capture packets.pcapng\n"
                "gdr relay --rate 100M --rtt 5ms --loss 1e-4 --server 'nc -l -p 5000' \\\n"
                "  --client 'nc -N $RELAY_SERVER 5000 < file'",
     .group = Group::Machine,
     .prepare = prepare<Options, add_options, work>,
     .details =
         "Real TCP of the kernel between two network namespaces; the relay carries its packets.\n"
         "Either a server and a client are commands, whose hosts are 10.77.0.2 and 10.77.0.1, or\n"
         "connections to ports of this host are carried through it. Exit status: the client's;\n"
         "77 without namespaces or TUN devices, 124 after the time limit, 125 for other errors."}};

}  // namespace
}  // namespace gdr::cli::relay_command
