"""Compiles texts of kernels with NVRTC, as the CUDA back end of the GPU engines does; needs no GPU."""

from __future__ import annotations

import ctypes
import pathlib
import re

PRELUDE = pathlib.Path(__file__).parent.parent / "emulator/host/gpu/cuda/prelude.cpp"
OPTIONS = (
    "--fmad=false",
    "--device-as-default-execution-space",
    "--std=c++17",
    "--ptxas-options=-v",
)


class Nvrtc:
    """An NVRTC library (libnvrtc.so.13, .12 or .11.2)."""

    def __init__(self, library: pathlib.Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self._prelude = re.search(r'R"\((.*)\)";', PRELUDE.read_text(), re.DOTALL)[1]

    def _got(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        getattr(self._library, f"nvrtcGet{what}")(program, data)
        return data.raw

    def compile(self, text: str, architecture: str) -> tuple[bytes, str]:
        """Machine code for an architecture ("sm_90"), and what ptxas says about it."""
        source = (self._prelude + text).encode()
        options = [f"--gpu-architecture={architecture}".encode(), *(o.encode() for o in OPTIONS)]
        program = ctypes.c_void_p()
        self._library.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None)
        try:
            array = (ctypes.c_char_p * len(options))(*options)
            result = self._library.nvrtcCompileProgram(program, len(options), array)
            log = self._got(program, "ProgramLog").decode()
            if result != 0:
                raise RuntimeError(f"NVRTC refuses a text: {log}")
            return self._got(program, "CUBIN"), log
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))
