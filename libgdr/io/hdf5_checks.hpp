// What is wrong with an HDF5 dataset or type before anything of it is read.
//
// The HDF5 library trusts what a file says: a datatype whose bits lie beyond its size makes its
// conversion write beyond its buffers, chunks may claim gigabytes, and parts that are not stored
// are read as zeros.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libgdr/io/hdf5_handle.hpp"

namespace gdr::hdf5 {

/// Why a type is no number that the library converts safely; empty if it is one. Class, size, byte
/// order, precision and offset, and of floats the fields of sign, exponent and mantissa.
std::string type_defect(hid_t type);

/// Number of elements of a shape; nothing that overflows: then the largest number there is.
hsize_t element_count(const std::vector<hsize_t>& shape) noexcept;

/// Why a dataset of `count` numbers cannot be all there; empty if nothing speaks against it.
/// `file_name` is the file that it is in, of `file_bytes`. A claim that is far beyond what the file
/// could hold, also packed, is a defect, and so are parts in other files (of virtual datasets and
/// of external storage) that are missing or too short: the library reads zeros for them.
std::string storage_defect(hid_t dataset, hsize_t count, const std::string& file_name,
                           std::size_t file_bytes);

}  // namespace gdr::hdf5
