# SPDX-License-Identifier: MIT OR Apache-2.0
# A recipe for Conan 2 that builds the source tree around it. It has not been run
# (tools/packaging/README.md).
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load

ROOT = os.path.join("..", "..", "..")


class Sluice(ConanFile):
    name = "sluice"
    description = "Decompresses game assets on the GPU"
    license = "MIT OR Apache-2.0"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "encode": [True, False], "cuda": [True, False]}
    default_options = {"shared": False, "fPIC": True, "encode": False, "cuda": False}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, ROOT, "include", "sluice", "sluice.h"))
        numbers = re.findall(r"#define SLUICE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.version = ".".join(numbers)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, ROOT)
        for pattern in ("CMakeLists.txt", "LICENSE-*", "CHANGELOG.md", "cmake/*", "include/*", "src/*", "shaders/*", "docs/*"):
            copy(self, pattern, src=root, dst=self.export_sources_folder)

    def build_requirements(self):
        self.tool_requires("glslang/[>=1.3]")

    def requirements(self):
        self.requires("vulkan-headers/[>=1.3.239]")
        self.requires("volk/[>=1.3.239]")
        if self.options.encode:
            for library in ("libdeflate/[>=1.14]", "zstd/[>=1.5.4]", "zlib/[>=1.2.11]", "xxhash/[>=0.8.1]"):
                self.requires(library)
            self.requires("nlohmann_json/[>=3.10]")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["SLUICE_BUILD_TOOL"] = False
        toolchain.variables["SLUICE_BUILD_TESTS"] = False
        toolchain.variables["SLUICE_ENCODE"] = bool(self.options.encode)
        toolchain.variables["SLUICE_CUDA"] = "ON" if self.options.cuda else "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    # The package has its own CMake files, which say what each library links.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "sluice"))
