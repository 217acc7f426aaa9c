/* The checksum of zlib, the only function of it that object files use. */
#ifndef GDR_WASM_ZLIB_H
#define GDR_WASM_ZLIB_H

#include <stddef.h>

/* CRC-32 (reflected polynomial 0xEDB88320) of `size` more bytes; a null pointer gives the initial
 * value. */
static inline unsigned long crc32_z(unsigned long crc, const unsigned char* bytes, size_t size) {
  if (bytes == NULL) return 0;
  unsigned long c = ~crc & 0xFFFFFFFFUL;
  for (size_t i = 0; i < size; ++i) {
    c ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0xEDB88320UL : 0);
  }
  return ~c & 0xFFFFFFFFUL;
}

#endif
