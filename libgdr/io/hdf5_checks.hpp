// Checks of HDF5 datasets and types before they are read.
//
// The HDF5 library trusts its files: a datatype whose bits lie beyond its size makes the conversion
// write beyond its buffers, chunks may claim gigabytes, and parts that are not stored are read as
// zeros.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libgdr/io/hdf5_handle.hpp"

namespace gdr::hdf5 {

/// Why a type is no number that the library converts safely; empty if it is safe. Checks class,
/// size, byte order, precision and offset, and of floats the fields of sign, exponent and mantissa.
std::string type_defect(hid_t type);

/// Number of elements of a shape, saturated at the largest number.
hsize_t element_count(const std::vector<hsize_t>& shape) noexcept;

/// Why a dataset of `count` numbers in the file `file_name` of `file_bytes` cannot be complete;
/// empty if no defect is found. Defects are a size far beyond what the file could hold even
/// compressed, and parts in other files (of virtual datasets and of external storage) that are
/// missing or too short, for which the library would read zeros.
std::string storage_defect(hid_t dataset, hsize_t count, const std::string& file_name,
                           std::size_t file_bytes);

}  // namespace gdr::hdf5
