// HDF5 files in a build without the HDF5 library: every function throws an error with what to do.
#include <memory>

#include "gdr/error.hpp"
#include "libgdr/io/snapshot.hpp"

namespace gdr {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCategory::Unsupported,
              what +
                  ": this gdr was built without HDF5; install HDF5 (libhdf5-dev) and build it "
                  "again, use snapshots as text, or gdr.nbody in Python, which needs h5py only");
}

}  // namespace

std::unique_ptr<StoredFile> open_hdf5(const std::string& file) { refuse(file); }

std::string gadget_image(const Snapshot&) { refuse("a snapshot in HDF5 cannot be written"); }

void write_forces(const std::string& path, const Snapshot&, const ForceOrigin&,
                  std::span<const ForceDataset>) {
  refuse(path);
}

}  // namespace gdr
