# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds the source tree that this port lies in. It has not been run (tools/packaging/README.md).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES encode SLUICE_ENCODE cuda SLUICE_CUDA)
vcpkg_add_to_path("${CURRENT_HOST_INSTALLED_DIR}/tools/glslang") # glslangValidator
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS ${features} -DSLUICE_BUILD_TOOL=OFF -DSLUICE_BUILD_TESTS=OFF -DSLUICE_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/sluice)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE")
