/* C interface to an emulated board as a device on a bus: registers, DMA and interrupts are calls
 * between the board and the emulator of a computer that it is plugged into. The library
 * libgdr_board.so implements it; gdr_board.c uses it for QEMU. docs/internals/driver.md describes
 * registers and descriptors. */
#ifndef GDR_BOARD_DEVICE_H
#define GDR_BOARD_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; a change of a function or structure increments it. */
#define GDR_BOARD_INTERFACE 1
/* Bytes of the registers, BAR 0. */
#define GDR_BOARD_BAR_BYTES 0x4000
/* Offset of the register INTERRUPT_MASK. A board with an interrupt pin keeps it asserted until the
 * host writes this register. */
#define GDR_BOARD_INTERRUPT_MASK 0x2020

typedef struct gdr_board gdr_board;

/* Functions of the computer that the board calls, all from the thread of gdr_board_run, each with
 * `opaque` as its first argument. */
typedef struct {
  void* opaque;
  /* Copies `bytes` bytes, a multiple of 8, between host memory at a bus address and `data`. 0, or
   * another number if the host has not mapped all of that memory for the board. */
  int (*dma_read)(void* opaque, uint64_t bus, void* data, uint64_t bytes);
  int (*dma_write)(void* opaque, uint64_t bus, const void* data, uint64_t bytes);
  /* Raises the board's interrupt. */
  void (*interrupt)(void* opaque);
  /* Reports a descriptor or list that the board rejected, one line without its end. */
  void (*log)(void* opaque, const char* text);
} gdr_board_host;

typedef struct {
  const char* engine;   /* name of the engine; null or empty: the default */
  const char* isa;      /* instruction set of the host; null or empty: the best */
  const char* geometry; /* "chips=1,blocks=4", options as of `gdr serve --geometry`; null: the real
                           chip's */
  unsigned threads;     /* host threads; 0: one for each core */
} gdr_board_config;

/* GDR_BOARD_INTERFACE of the library. The others may be called only if it is that of this header.
 */
unsigned gdr_board_interface(void);

/* Creates a board in its initial state. `host` is copied. Null on failure, with the reason in
 * `error`, of `error_bytes` bytes. */
gdr_board* gdr_board_create(const gdr_board_config* config, const gdr_board_host* host, char* error,
                            size_t error_bytes);

/* Does the board's work, and returns after gdr_board_stop. For a thread of its own. */
void gdr_board_run(gdr_board* board);
/* Ends gdr_board_run: a list in execution stops within some milliseconds. Returns at once. */
void gdr_board_stop(gdr_board* board);
/* Frees a board that does not run. */
void gdr_board_destroy(gdr_board* board);

/* Reads and writes a register by its offset, a multiple of 8 below GDR_BOARD_BAR_BYTES. Writes to
 * registers of the board have no effect. From any thread; neither waits for the board. */
uint64_t gdr_board_read(const gdr_board* board, uint32_t offset);
void gdr_board_write(gdr_board* board, uint32_t offset, uint64_t value);
/* Resets the board, as its bus does: registers of the host become 0, except CONTROL, which gets a
 * new value. A list in execution stops, without completion, and there is no DMA until the register
 * RESETS has that value. From any thread; returns at once. */
void gdr_board_reset(gdr_board* board);

#ifdef __cplusplus
}
#endif

#endif
