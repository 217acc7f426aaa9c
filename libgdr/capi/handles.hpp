// What the opaque pointers of the C interface point at.
#pragma once

#include <string>
#include <vector>

#include "gdr.h"
#include "gdr/gdr.hpp"

struct gdr_device {
  gdr::Device device;
  std::string description;
  std::string engine = {}, isa = {}, fallback_reason = {};  ///< as they were asked for last
};

struct gdr_kernel {
  gdr::Kernel kernel;
};

struct gdr_job {
  gdr::Job job;
  std::vector<gdr::NamedInput> inputs;  ///< kept between calls, so that none allocates
  std::vector<gdr::NamedResult> results;
};

struct gdr_gravity {
  gdr::Gravity gravity;
};

struct gdr_linear_solver {
  gdr::LinearSolver solver;
};

struct gdr_small_matrices {
  gdr::SmallMatrices small;
};

struct gdr_matrix_product {
  gdr::MatrixProduct product;
  gdr::Unchanged unchanged = gdr::Unchanged::Nothing;  ///< said of the next call
};
