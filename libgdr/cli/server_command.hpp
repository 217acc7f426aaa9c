// Commands whose files are at a server: they run there, so that particles do not cross the network.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "libgdr/driver/server_files.hpp"

namespace gdr::cli {

/// Whether a value names a file at a server: "server:/cluster.hdf5".
bool is_at_server(const std::string& file);

/// Whether a command was given such files, and is one of those that run at servers.
bool runs_at_server(const CLI::App& command);

/// Makes commands with such files run here: this process is at the server, and has these files.
void run_commands_here() noexcept;

/// Runs a command, whose line has been parsed, at the server of its device, and returns its exit
/// status. Files of this host are carried there, and results back. Throws Error.
int run_at_server(const CLI::App& command);

/// A session with the files of the server of a device name; empty: that of GDR_DEVICE.
std::unique_ptr<driver::ServerFiles> open_server_files(const std::string& device);
/// Report on the streams of a session, with --verbose.
void report_streams(driver::ServerFiles& files);

}  // namespace gdr::cli
