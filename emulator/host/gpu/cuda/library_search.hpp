// Where the libraries of CUDA's toolkit are found.
#pragma once

#include <string>
#include <vector>

namespace gdr::gpu::cuda {

/// Major versions of CUDA that are tried for a driver of this version (13000), best first: code
/// of an older toolkit runs with a newer driver, but not always the reverse.
std::vector<int> versions_for(int driver_version);

/// What to give to dlopen for a library ("libnvrtc.so.12"), in this order: its name, for the
/// loader's folders; its file in CUDA's toolkit, in the active conda environment, and in PyPI's
/// packages in the environment of this library or in the active one, as far as it is there.
/// `package`: the folder of its package for CUDA 12, "cuda_nvrtc".
std::vector<std::string> places_of(const std::string& library, const std::string& package);

}  // namespace gdr::gpu::cuda
