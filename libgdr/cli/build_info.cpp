#include "libgdr/cli/build_info.hpp"

#include "gdr_commit.hpp"  // written by cmake/commit.cmake

namespace gdr::cli {

const BuildInfo& build_info() noexcept {
  static constexpr BuildInfo info{GDR_COMMIT,   GDR_COMMIT_DATE,     GDR_BUILD_TYPE,
                                  GDR_COMPILER, GDR_BUILD_PROCESSOR, GDR_WITH_XBYAK,
                                  GDR_WITH_MPI};
  return info;
}

}  // namespace gdr::cli
