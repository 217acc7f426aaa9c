// The GPUs of this host, with their test.
#pragma once

#include <string>
#include <vector>

namespace gdr::cli {

/// A device that engines on a GPU can use.
struct TestedGpu {
  std::string name;         ///< part of an engine's name: "0" in "gpu:0"
  std::string description;  ///< description by the driver
  std::string failure;      ///< why it is refused for exact numerics; empty: it is exact
  std::string products;  ///< library or code that multiplies matrices for `gpu` and `gpu-float`, or
                         ///< why there is none
  bool is_default = false;  ///< whether an engine without a number uses it
  double seconds = 0;       ///< time of the test, s
};

/// All GPUs, or why there is none.
struct TestedGpus {
  std::vector<TestedGpu> gpus;
  std::string why_none;
};

/// Opens each GPU and compares its arithmetic with this host's (exactness_failure), in a process of
/// its own: a driver that ends it fails the test. Call it before this process uses a GPU.
TestedGpus tested_gpus();

}  // namespace gdr::cli
