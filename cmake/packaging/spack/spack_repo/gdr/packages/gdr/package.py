"""Spack's recipe for GDR. Its source is the clone of the repository that contains this file.

Never built so far: a test runs it with stand-ins of Spack's functions, and compares it with the sources.
"""

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Gdr(CMakePackage):
    """Sums over pairs of particles and dense linear algebra on an emulated GRAPE-DR-style accelerator, bit- and
    cycle-exact, or as SIMD code on the host."""

    git = f"file://{pathlib.Path(__file__).resolve().parents[7]}"

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant(
        "command", default=True, description="Build the command gdr and libraries for other codes"
    )
    variant("fortran", default=True, description="Build the Fortran module")
    variant(
        "mpi", default=True, description="Build the plugin for devices on the ranks of an MPI job"
    )
    variant("python", default=True, description="Build the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("eigen@3.4:", type="build")
    depends_on("fmt@9:")
    depends_on("zlib-api")
    depends_on("openssl@3:")
    depends_on("asio@1.22:", type="build")
    depends_on("cli11@2:", type="build", when="+command")
    depends_on("nlohmann-json@3.9:", type="build")
    depends_on("hdf5@1.10:~mpi", when="+command")
    depends_on("mpi", when="+mpi")

    extends("python@3.9:", when="+python")
    depends_on("python@3.9:", type="build")
    depends_on("py-pybind11@2.10:", type="build", when="+python")
    depends_on("py-numpy@1.21:", type=("build", "run"), when="+python")

    # Spack has no package of it. Without it the engines interpret programs.
    resource(
        name="xbyak",
        git="https://github.com/herumi/xbyak.git",
        tag="v6.68",
        placement="xbyak-source",
        when="target=x86_64:",
    )

    conflicts("%gcc@:11", msg="GDR needs C++20")
    conflicts("+fortran", when="~command", msg="the Fortran module is built with the command")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("GDR_TESTS", self.run_tests),
            self.define("GDR_BENCH", False),
            self.define_from_variant("GDR_COMMAND", "command"),
            self.define_from_variant("GDR_FORTRAN", "fortran"),
            self.define_from_variant("GDR_MPI", "mpi"),
            self.define_from_variant("GDR_PYTHON", "python"),
            # Plugins for other MPIs than the one of this installation.
            self.define("MPICH_COMPILER", "OFF"),
            self.define("GDR_ULFM_MPICC", "OFF"),
            self.define("CCACHE", "OFF"),
        ]
        if self.spec.satisfies("target=x86_64:"):
            args.append(self.define("XBYAK_INCLUDE_DIR", f"{self.stage.source_path}/xbyak-source"))
        if self.spec.satisfies("+python"):
            args.append(self.define("GDR_PYTHON_EXECUTABLE", self.spec["python"].command.path))
            args.append(self.define("GDR_PYTHON_INSTALL_DIR", python_platlib))
        return args
