/* The board as a PCI device of QEMU 7.2: -device gdr-board. The emulated board comes from the
 * library libgdr_board.so (board_device.h), which is loaded at run time, so that QEMU is built
 * once.
 *
 * The board works in a thread of its own. Its DMA and interrupts take QEMU's global lock. The
 * device is reset and removed under this lock, so neither waits for that thread: both only ask the
 * board to stop, and what it does afterwards has no effect. */
// clang-format off
#include "qemu/osdep.h"
#include <dlfcn.h>
// clang-format on
#include "board_device.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/rcu.h"
#include "qemu/thread.h"
#include "sysemu/sysemu.h"

#define TYPE_GDR_BOARD "gdr-board"
OBJECT_DECLARE_SIMPLE_TYPE(GdrBoard, GDR_BOARD)

/* The PCI id that libgdr looks for by default: vendor Altera, the maker of the original board's PCI
 * interface. */
enum { VENDOR_ID = 0x1172, DEVICE_ID = 0x6d72 };
/* Bytes of a DMA transfer under the global lock: less than a millisecond. */
enum { DMA_CHUNK = 1 << 20, PAGE = 4096 };
/* Milliseconds that QEMU waits at its end for the threads of boards. */
enum { EXIT_TIMEOUT_MS = 2000 };

/* The functions of libgdr_board.so. */
typedef struct {
  unsigned (*interface)(void);
  gdr_board* (*create)(const gdr_board_config*, const gdr_board_host*, char*, size_t);
  void (*run)(gdr_board*);
  void (*stop)(gdr_board*);
  void (*destroy)(gdr_board*);
  uint64_t (*read)(const gdr_board*, uint32_t);
  void (*write)(gdr_board*, uint32_t, uint64_t);
  void (*reset)(gdr_board*);
} BoardLibrary;

/* What the device and the board's thread have in common. The last of them frees it. */
typedef struct {
  GdrBoard* device; /* null after the device was removed; protected by the global lock */
  BoardLibrary library;
  gdr_board* board;
  QemuSemaphore ended; /* posted when the thread no longer uses the board */
  int users;
} BoardLink;

struct GdrBoard {
  PCIDevice parent_obj;
  MemoryRegion registers;
  Notifier exit;
  BoardLink* link; /* null before realization and after removal */

  /* properties */
  char *library, *engine, *isa, *geometry, *interrupts;
  uint32_t threads;
};

static void release_link(BoardLink* link) {
  if (qatomic_fetch_dec(&link->users) > 1) return;
  link->library.destroy(link->board);
  qemu_sem_destroy(&link->ended);
  g_free(link);
}

/* Calls of the board, from its thread. */

/* Transfers up to DMA_CHUNK bytes under the global lock, page by page, as IOMMUs map them: nothing
 * behind a page that is not mapped is tried. */
static bool transfer_chunk(GdrBoard* s, uint64_t bus, char* data, uint64_t bytes,
                           DMADirection direction) {
  AddressSpace* space = pci_get_address_space(PCI_DEVICE(s));
  for (uint64_t part; bytes > 0; bus += part, data += part, bytes -= part) {
    part = MIN(bytes, PAGE - bus % PAGE);
    if (!dma_memory_valid(space, bus, part, direction, MEMTXATTRS_UNSPECIFIED) ||
        dma_memory_rw(space, bus, data, part, direction, MEMTXATTRS_UNSPECIFIED) != MEMTX_OK)
      return false;
  }
  return true;
}

static int transfer(BoardLink* link, uint64_t bus, void* data, uint64_t bytes,
                    DMADirection direction) {
  bool good = true;
  for (uint64_t done = 0; done < bytes && good; done += DMA_CHUNK) {
    qemu_mutex_lock_iothread();
    good = link->device != NULL && transfer_chunk(link->device, bus + done, (char*)data + done,
                                                  MIN(bytes - done, DMA_CHUNK), direction);
    qemu_mutex_unlock_iothread();
  }
  if (!good)
    qemu_log_mask(LOG_GUEST_ERROR,
                  "gdr-board: DMA of %" PRIu64 " bytes at bus address 0x%" PRIx64 " failed\n",
                  bytes, bus);
  return !good;
}

static int dma_read(void* opaque, uint64_t bus, void* data, uint64_t bytes) {
  return transfer(opaque, bus, data, bytes, DMA_DIRECTION_TO_DEVICE);
}

static int dma_write(void* opaque, uint64_t bus, const void* data, uint64_t bytes) {
  return transfer(opaque, bus, (void*)data, bytes, DMA_DIRECTION_FROM_DEVICE);
}

/* Whether interrupts=pin. */
static bool has_pin(PCIDevice* pci) { return pci_get_byte(pci->config + PCI_INTERRUPT_PIN) != 0; }

static void raise_interrupt(void* opaque) {
  BoardLink* link = opaque;
  qemu_mutex_lock_iothread();
  if (link->device != NULL) {
    PCIDevice* pci = PCI_DEVICE(link->device);
    if (msix_enabled(pci))
      msix_notify(pci, 0);
    else if (msi_enabled(pci))
      msi_notify(pci, 0);
    else if (has_pin(pci))
      pci_irq_assert(pci); /* until the host writes INTERRUPT_MASK */
  }
  qemu_mutex_unlock_iothread();
}

static void log_line(void* opaque, const char* text) {
  qemu_log_mask(LOG_GUEST_ERROR, "gdr-board: %s\n", text);
}

static void* board_thread(void* opaque) {
  BoardLink* link = opaque;
  rcu_register_thread();
  link->library.run(link->board);
  rcu_unregister_thread();
  qemu_sem_post(&link->ended);
  release_link(link);
  return NULL;
}

/* Registers. They have 64 bits, and are accessed whole: QEMU rejects and logs other accesses. */

static uint64_t read_register(void* opaque, hwaddr at, unsigned size) {
  GdrBoard* s = opaque;
  return s->link == NULL ? UINT64_MAX : s->link->library.read(s->link->board, at);
}

static void write_register(void* opaque, hwaddr at, uint64_t value, unsigned size) {
  GdrBoard* s = opaque;
  if (s->link == NULL) return;
  if (at < 0x2000)
    qemu_log_mask(LOG_GUEST_ERROR,
                  "gdr-board: write to register 0x%" HWADDR_PRIx ", which only the board writes\n",
                  at);
  if (at == GDR_BOARD_INTERRUPT_MASK && has_pin(PCI_DEVICE(s))) pci_irq_deassert(PCI_DEVICE(s));
  s->link->library.write(s->link->board, at, value);
}

static const MemoryRegionOps register_ops = {
    .read = read_register,
    .write = write_register,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {.min_access_size = 8, .max_access_size = 8},
    .impl = {.min_access_size = 8, .max_access_size = 8},
};

/* Loads the library. False on failure, with an error. */
static bool load_library(const char* path, BoardLibrary* library, Error** errp) {
  void* file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (file == NULL) {
    error_setg(errp, "gdr-board: the library with the board cannot be loaded: %s", dlerror());
    error_append_hint(errp, "Build it (target gdr_board of GDR), and name it with library=PATH.\n");
    return false;
  }
  struct {
    const char* name;
    void* function;
  } const functions[] = {{"gdr_board_interface", &library->interface},
                         {"gdr_board_create", &library->create},
                         {"gdr_board_run", &library->run},
                         {"gdr_board_stop", &library->stop},
                         {"gdr_board_destroy", &library->destroy},
                         {"gdr_board_read", &library->read},
                         {"gdr_board_write", &library->write},
                         {"gdr_board_reset", &library->reset}};
  for (size_t k = 0; k < ARRAY_SIZE(functions); ++k) {
    void* symbol = dlsym(file, functions[k].name);
    if (symbol == NULL) {
      error_setg(errp, "gdr-board: %s has no function %s", path, functions[k].name);
      return false;
    }
    memcpy(functions[k].function, &symbol, sizeof(symbol));
  }
  if (library->interface() == GDR_BOARD_INTERFACE) return true;
  error_setg(errp, "gdr-board: %s has version %u of the interface, this QEMU was built with %u",
             path, library->interface(), (unsigned)GDR_BOARD_INTERFACE);
  error_append_hint(errp, "Build QEMU and the library from the same sources (make qemu).\n");
  return false;
}

/* Adds the interrupts that the property selects. */
static bool add_interrupts(GdrBoard* s, Error** errp) {
  PCIDevice* pci = PCI_DEVICE(s);
  const char* kind = s->interrupts != NULL ? s->interrupts : "msix";
  if (strcmp(kind, "msix") == 0) {
    if (msix_init_exclusive_bar(pci, 1, 2, errp) != 0) return false;
    msix_vector_use(pci, 0);
  } else if (strcmp(kind, "msi") == 0) {
    if (msi_init(pci, 0, 1, true, false, errp) != 0) return false;
  } else if (strcmp(kind, "pin") == 0) {
    pci_config_set_interrupt_pin(pci->config, 1);
  } else {
    error_setg(errp, "gdr-board: interrupts=%s is not msix, msi or pin", kind);
    return false;
  }
  return true;
}

static void remove_interrupts(PCIDevice* pci) {
  if (msix_present(pci)) msix_uninit_exclusive_bar(pci);
  if (msi_present(pci)) msi_uninit(pci);
}

/* Stops the board at the end of QEMU, whose library must not be in use when its data are destroyed.
 */
static void end_board(Notifier* exit, void* data) {
  GdrBoard* s = container_of(exit, GdrBoard, exit);
  bool locked = qemu_mutex_iothread_locked();
  s->link->library.stop(s->link->board);
  if (locked) qemu_mutex_unlock_iothread();
  qemu_sem_timedwait(&s->link->ended, EXIT_TIMEOUT_MS);
  if (locked) qemu_mutex_lock_iothread();
}

static void realize(PCIDevice* pci, Error** errp) {
  GdrBoard* s = GDR_BOARD(pci);
  char error[512] = "";
  BoardLink* link = g_new0(BoardLink, 1);
  const gdr_board_config config = {s->engine, s->isa, s->geometry, s->threads};
  const gdr_board_host host = {link, dma_read, dma_write, raise_interrupt, log_line};
  if (!load_library(s->library != NULL ? s->library : "libgdr_board.so", &link->library, errp)) {
    g_free(link);
    return;
  }
  link->board = link->library.create(&config, &host, error, sizeof(error));
  if (link->board == NULL) {
    error_setg(errp, "gdr-board: the board cannot be created: %s", error);
    g_free(link);
    return;
  }
  if (!add_interrupts(s, errp)) {
    link->library.destroy(link->board);
    g_free(link);
    return;
  }
  pcie_endpoint_cap_init(pci, 0x80);
  pcie_cap_flr_init(pci);
  memory_region_init_io(&s->registers, OBJECT(s), &register_ops, s, "gdr-board-registers",
                        GDR_BOARD_BAR_BYTES);
  pci_register_bar(pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64,
                   &s->registers);

  link->device = s;
  link->users = 2;
  qemu_sem_init(&link->ended, 0);
  s->link = link;
  s->exit.notify = end_board;
  qemu_add_exit_notifier(&s->exit);
  QemuThread thread;
  qemu_thread_create(&thread, "gdr-board", board_thread, link, QEMU_THREAD_DETACHED);
}

static void unrealize(PCIDevice* pci) {
  GdrBoard* s = GDR_BOARD(pci);
  BoardLink* link = s->link;
  qemu_remove_exit_notifier(&s->exit);
  s->link = NULL;
  link->device = NULL;
  link->library.stop(link->board);
  release_link(link);
  remove_interrupts(pci);
  pcie_cap_exit(pci);
}

static void reset(DeviceState* device) {
  GdrBoard* s = GDR_BOARD(device);
  if (s->link != NULL) s->link->library.reset(s->link->board);
}

static void write_config(PCIDevice* pci, uint32_t at, uint32_t value, int bytes) {
  pci_default_write_config(pci, at, value, bytes);
  pcie_cap_flr_write_config(pci, at, value, bytes);
}

static Property properties[] = {DEFINE_PROP_STRING("library", GdrBoard, library),
                                DEFINE_PROP_STRING("engine", GdrBoard, engine),
                                DEFINE_PROP_STRING("isa", GdrBoard, isa),
                                DEFINE_PROP_STRING("geometry", GdrBoard, geometry),
                                DEFINE_PROP_STRING("interrupts", GdrBoard, interrupts),
                                DEFINE_PROP_UINT32("threads", GdrBoard, threads, 1),
                                DEFINE_PROP_END_OF_LIST()};

/* The board's memories are not part of a snapshot or migration. */
static const VMStateDescription state = {.name = TYPE_GDR_BOARD, .unmigratable = 1};

static void class_init(ObjectClass* klass, void* data) {
  DeviceClass* device = DEVICE_CLASS(klass);
  PCIDeviceClass* pci = PCI_DEVICE_CLASS(klass);
  pci->realize = realize;
  pci->exit = unrealize;
  pci->config_write = write_config;
  pci->vendor_id = VENDOR_ID;
  pci->device_id = DEVICE_ID;
  pci->class_id = PCI_CLASS_PROCESSOR_CO;
  device->desc = "emulated GRAPE-DR-style accelerator";
  device->reset = reset;
  device->vmsd = &state;
  device_class_set_props(device, properties);
  set_bit(DEVICE_CATEGORY_MISC, device->categories);
}

static const TypeInfo type = {
    .name = TYPE_GDR_BOARD,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(GdrBoard),
    .class_init = class_init,
    .interfaces = (InterfaceInfo[]){{INTERFACE_PCIE_DEVICE}, {}},
};

static void register_type(void) { type_register_static(&type); }

type_init(register_type)
