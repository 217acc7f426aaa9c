// The structures behind the handles of the C interface.
#pragma once

#include <string>
#include <vector>

#include "gdr.h"
#include "gdr/gdr.hpp"

struct gdr_device {
  gdr::Device device;
  std::string description;
  std::string engine = {}, isa = {}, fallback_reason = {};  ///< texts returned by the last calls
};

struct gdr_kernel {
  gdr::Kernel kernel;
};

struct gdr_job {
  gdr::Job job;
  std::vector<gdr::NamedInput> inputs;  ///< reused by all calls, to save allocations
  std::vector<gdr::NamedResult> results;
};

struct gdr_gravity {
  gdr::Gravity gravity;
};

struct gdr_linear_solver {
  gdr::LinearSolver solver;
};

struct gdr_batched_matrices {
  gdr::BatchedMatrices batch;
};

struct gdr_matrix_product {
  gdr::MatrixProduct product;
  gdr::Reuse reuse = gdr::Reuse::Nothing;  ///< declaration for the next call
};
