// One run of a kernel on variables from tables; the state of the chips can be read afterwards.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gdr/kernel.hpp"
#include "gdr/statistics.hpp"
#include "libgdr/cli/options.hpp"
#include "libgdr/cli/table.hpp"
#include "libgdr/device/core.hpp"

namespace gdr::cli {

class KernelRun {
 public:
  /// Open the boards of an emulated device. Throws like Device::open.
  explicit KernelRun(const DeviceChoice& choice);

  const Geometry& geometry() const noexcept { return core_->geometry; }
  /// Read an object file (.gdo), or assemble a source for this device's geometry; its diagnostics
  /// go to standard error and end in Error (Program).
  void load(const std::string& path);
  const Program& program() const noexcept { return data_->kernel.program(); }

  /// Set a param from the text of NAME=VALUE. Throws Error (Usage or Input).
  void set(const std::string& assignment);

  /// Compute; `targets` and `sources` hold a column for every variable of their kind, in the order
  /// of declaration. `source_count` and `target_count` serve kernels that declare none.
  std::vector<Column> run(const std::vector<Column>& targets, std::size_t target_count,
                          const std::vector<Column>& sources, std::size_t source_count);

  /// Values of the `ovar`s after the last run: a column for each, a row for each source.
  const std::vector<Column>& outputs() const noexcept { return outputs_; }

  const Statistics& statistics() const noexcept { return core_->statistics; }
  /// State of a chip after the run. Throws Error (Usage) for a board or chip that does not exist.
  const ChipState& chip(unsigned board, unsigned chip) const;

 private:
  std::shared_ptr<DeviceCore> core_;
  std::unique_ptr<JobData> data_;
  std::vector<Column> outputs_;
};

}  // namespace gdr::cli
