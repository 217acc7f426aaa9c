// Common parts of tests of factorisations and solves: padded matrices, residuals.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <random>

#include "gdr/gdr.hpp"
#include "support/catch.hpp"

namespace gdr::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

inline constexpr double epsilon = std::numeric_limits<double>::epsilon();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline MatrixXd random_matrix(std::size_t rows, std::size_t columns, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
                               [&] { return normal(random); });
}

/// A matrix with padding rows.
struct Padded {
  std::size_t rows, columns;
  MatrixXd data;
  static constexpr double padding = -77;

  explicit Padded(const MatrixXd& x, std::size_t spare = 3)
      : rows(static_cast<std::size_t>(x.rows())), columns(static_cast<std::size_t>(x.cols())) {
    data = MatrixXd::Constant(static_cast<Eigen::Index>(std::max<std::size_t>(rows + spare, 1)),
                              x.cols(), padding);
    data.topRows(x.rows()) = x;
  }
  MatrixView<double> view() { return {data.data(), static_cast<std::size_t>(data.rows())}; }
  MatrixView<const double> view(Transpose t) const {
    return {data.data(), static_cast<std::size_t>(data.rows()), t};
  }
  MatrixXd value() const {
    REQUIRE(
        (data.bottomRows(data.rows() - static_cast<Eigen::Index>(rows)).array() == padding).all());
    return data.topRows(static_cast<Eigen::Index>(rows));
  }
};

inline LinearOptions on_device(std::size_t block, bool overlap = true) {
  LinearOptions options;
  options.block = block;
  options.device_flops = 0;
  options.overlap = overlap;
  return options;
}

inline MatrixXd op(const MatrixXd& a, Transpose t) {
  return t == Transpose::No ? a : MatrixXd(a.transpose());
}

/// The infinity norm.
inline double norm(const MatrixXd& x) {
  return x.size() == 0 ? 0 : x.cwiseAbs().rowwise().sum().maxCoeff();
}

/// |A x - b| in units of eps (|A| |x| + |b|) n as in HPL; at most 16 for a passed test.
inline double residual(const MatrixXd& a, const MatrixXd& x, const MatrixXd& b) {
  if (x.size() == 0) return 0;
  double worst = 0;
  for (Eigen::Index c = 0; c < x.cols(); ++c) {
    const LongMatrix rest =
        a.cast<long double>() * x.col(c).cast<long double>() - b.col(c).cast<long double>();
    const double scale =
        epsilon * (norm(a) * x.col(c).cwiseAbs().maxCoeff() + b.col(c).cwiseAbs().maxCoeff()) *
        static_cast<double>(a.rows());
    worst = std::max(worst, static_cast<double>(rest.cwiseAbs().maxCoeff()) / scale);
  }
  return worst;
}

inline constexpr Transpose no = Transpose::No, yes = Transpose::Yes;

}  // namespace gdr::test
