# Short names for the common steps. CMake does the work (CMakePresets.json); this file installs the
# packages that each step needs.
PRESET ?= release
PREFIX ?= /usr/local
BUILD := build/$(PRESET)
GDR := $(BUILD)/libgdr/gdr
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: help setup ulfm site-tools peer-packages qemu test-qemu configure build demo test test-long bench bench-gpu format check-format check-python check-tidy check-sanitizer install sanitize kernels docs site playground clean \
        wheel wheel-arm64 deb sdist release

help:
	@echo "make demo               film a merger of star clusters, and integrate one on the emulated chip"
	@echo "make test               build, and run every test"
	@echo "make test-long          build, and run long random tests (an hour on two cores)"
	@echo "make test-qemu          test boards under a real kernel, in QEMU (the first time builds QEMU: half an hour)"
	@echo "make build              build the library, the command and the tests"
	@echo "make bench              run all benchmarks"
	@echo "make bench-gpu CUDA=DIR registers and instructions of GPU kernels (gdr bench gpu-instructions); CUDA: folder of ptxas and nvdisasm"
	@echo "make install PREFIX=DIR install program, library, headers and package files"
	@echo "make wheel              build wheels of the Python package, command and library for x86-64 (build/wheels)"
	@echo "make wheel-arm64        build one for arm64 with a cross compiler (build/arm64)"
	@echo "make deb                build Debian packages (build/deb)"
	@echo "make sdist              make the source distribution for PyPI, which builds without root (build/sdist)"
	@echo "make release            all of these and the site, with checksums, tried one by one (build/release-files; an hour)"
	@echo "make format             format the sources"
	@echo "make check-format       is everything formatted? Also check-python (ruff), check-tidy (clang-tidy on changed lines, after"
	@echo "                        a build) and check-sanitizer (the day's part of make sanitize): CI runs them (.ci/run)"
	@echo "make sanitize           tests under the address, undefined and thread sanitizers (long)"
	@echo "make site               the documentation as a site, in build/site"
	@echo "make playground         the playground of the site alone, in build/playground"
	@echo "make docs               write the generated pages of docs/reference"
	@echo "make kernels            compile the library's kernels to kernels/compiled (minutes)"
	@echo "PRESET=developer        as above with warnings as errors; also ci, debug, asan, tsan"

# The thread sanitizer needs LLVM's OpenMP, which reports its barriers to it (HACKING.md).
PACKAGES_tsan = clang-16 libclang-rt-16-dev libomp-16-dev
# Tests that need a missing one of these packages are skipped.
test test-long: PACKAGES_test = libblas-dev libblas-test hpcc openmpi-bin mpich libmpich-dev python3-venv $(PACKAGES_python) \
                      python3-scipy python3-astropy python3-mpi4py python3-tqdm python3-pytest mypy python3-nbclient python3-ipykernel \
                      python3-ase \
                      man-db zsh fish pocl-opencl-icd ocl-icd-libopencl1 libclblast1 clang-15 libclc-15 emscripten
# The Python package and its plots.
PACKAGES_python = python3-dev python3-pybind11 pybind11-dev python3-numpy python3-h5py \
                  python3-matplotlib python3-pil
demo: PACKAGES_test = $(PACKAGES_python)
# HDF5's archive needs the archives of libaec.
wheel: PACKAGES_test = python3-dev python3-venv libaec-dev
wheel-arm64: PACKAGES_test = g++-aarch64-linux-gnu qemu-user-static python3-dev python3-venv
deb: PACKAGES_test = debhelper dh-python dpkg-dev fakeroot lintian python3-dev python3-numpy python3-pybind11 pybind11-dev
setup:
	@cmake/setup.sh $(PACKAGES_$(PRESET)) $(PACKAGES_test)

# An MPI with support for rank failures, for tests.
ulfm: setup
	@cmake/ulfm.sh

# QEMU with the device gdr-board, and what its guests consist of (docs/guides/virtual-machine.md).
qemu test-qemu: PACKAGES_test = meson libglib2.0-dev libpixman-1-dev libfdt-dev dpkg-dev xz-utils
qemu: setup
	@cmake/qemu.sh $(JOBS)

test-qemu: qemu configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target gdr_command gdr_board gdr_vfio_client test_qemu
	@ctest --preset $(PRESET) -R '^qemu'

# Programs with which a test builds the site. Without them it is skipped.
site-tools: setup
	@cmake/python_tools.sh site-tools docs/site/requirements.txt

# Packages from PyPI beside which Python is tested. Without them these tests are skipped.
peer-packages: setup
	@cmake/python_tools.sh peer-packages tests/python/requirements.txt

configure: setup $(if $(filter test test-long,$(MAKECMDGOALS)),ulfm site-tools peer-packages)
	@mkdir -p build && cmake --preset $(PRESET) >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }

build: configure
	@cmake --build --preset $(PRESET) -j $(JOBS)

# Builds the Python package and draws the first picture with it; then builds the command. Tests are most of a full build.
demo: configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target gdr_python_module_if_found
	@examples/demo.sh merger $(BUILD)/python
	@cmake --build --preset $(PRESET) -j $(JOBS) --target gdr_command
	@examples/demo.sh cluster $(GDR) $(BUILD)/python

# One of the tests that run at a time mostly waits (tests/CMakeLists.txt).
test: build
	@ctest --preset $(PRESET) -j $$(($(JOBS) + 1))

# Those of the configuration Long (tests/parts.cmake).
test-long: build
	@ctest --preset $(PRESET) -C Long -L '^long$$' -j $(JOBS)

bench: build
	@$(GDR) bench -o $(BUILD)/bench.json && echo "as JSON: $(BUILD)/bench.json"

bench-gpu: build
	@$(if $(CUDA),GDR_CUDA_TOOLS=$(CUDA)) $(GDR) bench gpu-instructions

install: configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target gdr_installed
	@cmake --install $(BUILD) --prefix $(PREFIX)

# PYTHONS="python3.11 ..." selects the interpreters.
wheel: setup
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) python3 cmake/packaging/wheel/build.py . build/wheels $(PYTHONS)

wheel-arm64: setup
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) cmake/packaging/arm64/wheel.sh . build/arm64

deb: setup
	@JOBS=$(JOBS) cmake/packaging/deb.sh . build/deb

sdist: PACKAGES_test = python3-venv
sdist: setup
	@python3 cmake/packaging/sdist.py . build/sdist

# WITHOUT="deb site" leaves parts out (docs/guides/releasing.md). One part after the other: each compiles the library.
ALL_PARTS := sdist wheel wheel-arm64 deb site playground
RELEASE_PARTS := $(filter-out $(WITHOUT),$(ALL_PARTS))
release:
	$(if $(filter-out $(ALL_PARTS),$(WITHOUT)),$(error WITHOUT has unknown parts: $(filter-out $(ALL_PARTS),$(WITHOUT)). There are $(ALL_PARTS)))
	@set -e; for part in $(RELEASE_PARTS); do $(MAKE) --no-print-directory $$part; done
	@python3 cmake/packaging/release.py . build build/release-files $(WITHOUT:%=--without=%)
	@python3 tests/packaging/test_release.py . build build/release-files

sanitize:
	@$(MAKE) --no-print-directory test PRESET=asan
	@$(MAKE) --no-print-directory test PRESET=tsan

SOURCES = git ls-files '*.cpp' '*.hpp' '*.h' '*.c'
format:
	@cmake/setup.sh clang-format
	@$(SOURCES) | xargs clang-format -i
	@git diff --stat

check-format:
	@cmake/setup.sh clang-format
	@$(SOURCES) | xargs clang-format --dry-run -Werror || { echo "check-format: run make format" >&2; exit 1; }

# Rules: pyproject.toml.
check-python:
	@cmake/setup.sh python3-venv
	@cmake/python_tools.sh check-tools .ci/requirements.txt
	@if [ ! -x build/check-tools/bin/ruff ]; then echo "check-python: skipped, ruff could not be installed"; \
	else build/check-tools/bin/ruff check . || { echo "check-python: correct these findings of ruff" >&2; exit 1; }; fi

# clang-tidy on changed lines, after a build; Clang 14 does not compile the ranges of GCC 12's library.
check-tidy:
	@cmake/setup.sh clang-tidy-16 libomp-16-dev || true
	@.ci/tidy $(BUILD)

SANITIZER_SECONDS ?= 200
check-sanitizer:
	@$(MAKE) --no-print-directory setup PRESET=$$(.ci/sanitizer preset)
	@.ci/sanitizer $(SANITIZER_SECONDS)

kernels: configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target gdr_compile_kernels

docs: build
	@cmake --build --preset $(PRESET) --target gdr_docs

# The documentation as a site, with programs from PyPI in a folder of their own.
site: PACKAGES_test = $(PACKAGES_python) python3-venv
site: build
	@cmake/python_tools.sh site-tools docs/site/requirements.txt
	@cmake/python_tools.sh site-tools docs/site/notebooks.txt
	@build/site-tools/bin/python docs/site/build.py $(BUILD) build/site
	@echo "the site: build/site/index.html"

# A page for any static file server. The site has it, too, where emscripten is installed.
playground:
	@cmake/setup.sh emscripten
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) python3 docs/site/playground/assets.py build/playground
	@echo "the playground: python3 -m http.server -d build/playground"

clean:
	rm -rf build
