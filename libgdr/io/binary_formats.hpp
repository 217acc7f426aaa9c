// Snapshots in binary formats of other codes, read as files with GADGET's groups.
#pragma once

#include <optional>
#include <string>

#include "libgdr/io/packed_file.hpp"

namespace gdr {

/// Byte order of a file in GADGET's binary format 1 or 2; nothing for a file in another format.
std::optional<ByteOrder> gadget_byte_order(const ByteFile& file);
/// Opens a file in GADGET's binary format 1 or 2, in either byte order, with numbers of 4 or 8
/// bytes. Its blocks POS, VEL, ID and MASS become datasets. Format: "User guide for GADGET-2",
/// V. Springel, 2005, sections 6.1 to 6.3. Throws Error (Io, Input): for a block that is missing or
/// has another length than the header tells.
std::unique_ptr<StoredFile> open_gadget_binary(const std::string& path);

/// Byte order of a file in TIPSY's format; nothing for a file in another format. Such files have no
/// mark: the numbers of particles in the header must agree with their sum.
std::optional<ByteOrder> tipsy_byte_order(const ByteFile& file);
/// Opens a file in TIPSY's format, in either byte order ("standard" is big-endian). Gas becomes
/// PartType0, dark matter PartType1, stars PartType4; there are no ids. Format: N-body shop,
/// University of Washington, TIPSY's manual. Throws Error (Io, Input).
std::unique_ptr<StoredFile> open_tipsy(const std::string& path);

/// How a file with the content of one of these formats is opened; nothing for other files, and for
/// pipes, which can be read only once. Throws Error (Io) if the file cannot be read.
std::optional<OpenStoredFile> binary_format(const std::string& path);

}  // namespace gdr
