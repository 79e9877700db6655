# SPDX-License-Identifier: MIT OR Apache-2.0
# find_package(sluice COMPONENTS core codecs ...) gives sluice::sluice, sluice::sluice_device, sluice::sluice_encode and sluice_SHADER_DIR;
# pkg-config gives sluice.
include(CMakePackageConfigHelpers)

set(installed sluice)
foreach(optional sluice_device sluice_encode sluice_stream)
    if(TARGET ${optional})
        list(APPEND installed ${optional})
    endif()
endforeach()
install(TARGETS ${installed} EXPORT sluiceTargets COMPONENT library)
sluice_present(headers "^include/")
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice COMPONENT library)
# Shaders of the embedder's own may include the shared parts: lib/float_tile.glsl.
set(SLUICE_SHADER_INSTALL_DIR ${CMAKE_INSTALL_DATADIR}/sluice/shaders)
install(DIRECTORY shaders/lib DESTINATION ${SLUICE_SHADER_INSTALL_DIR} COMPONENT library)
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${package_dir} COMPONENT library)
# The component dev. It reaches inside the library, so it comes with the static one alone.
if(SLUICE_HOT_RELOAD AND BUILD_SHARED_LIBS)
    message(STATUS "sluice: a shared library's installation has no component dev")
elseif(SLUICE_HOT_RELOAD)
    install(TARGETS sluice_dev EXPORT sluiceDevTargets COMPONENT dev)
    install(FILES include/sluice/sluice_dev.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice COMPONENT dev)
    install(EXPORT sluiceDevTargets NAMESPACE sluice:: DESTINATION ${package_dir} COMPONENT dev)
endif()
configure_package_config_file(cmake/sluiceConfig.cmake.in sluiceConfig.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS SLUICE_SHADER_INSTALL_DIR)
write_basic_package_version_file(sluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sluiceConfig.cmake ${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT library)

# A static archive brings its runtime libraries along, so that a C linker gets them too.
set(pc_libs "-lsluice")
set(pc_cflags "")
if(NOT BUILD_SHARED_LIBS)
    set(pc_cflags "-DSLUICE_STATIC")
    string(APPEND pc_libs " -lstdc++")
    if(SLUICE_HAVE_CUDA)
        string(APPEND pc_libs " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread")
    endif()
endif()
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/sluice.pc.in sluice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

# The tool, and what shells and man read of it.
if(TARGET sluice_tool)
    install(TARGETS sluice_tool RUNTIME COMPONENT tool)
    install(FILES docs/tool.md docs/format.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
    install(FILES LICENSE-MIT RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
endif()
if(TARGET sluice_tool AND NOT CMAKE_CROSSCOMPILING)
    set(manual ${PROJECT_BINARY_DIR}/tool/manual)
    install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool)
    install(FILES ${manual}/completions/bash RENAME sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
    install(FILES ${manual}/completions/fish RENAME sluice.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
    # Debian's zsh looks below /usr in another folder than elsewhere.
    install(FILES ${manual}/completions/zsh RENAME _sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
    install(FILES ${manual}/completions/zsh RENAME _sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tool)
endif()

# Debian packages: `cpack -G DEB --config build/release/CPackConfig.cmake` makes sluice, which has the tool, and
# libsluice-dev, which has the library, headers and shader parts.
if(PROJECT_IS_TOP_LEVEL)
    set(SLUICE_PACKAGE_CONTACT "sluice <sluice@example.invalid>" CACHE STRING "The maintainer that packages name")
    set(CPACK_GENERATOR DEB)
    set(CPACK_PACKAGE_NAME sluice)
    set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
    set(CPACK_PACKAGE_CONTACT ${SLUICE_PACKAGE_CONTACT})
    set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
    set(CPACK_STRIP_FILES ON)
    set(CPACK_COMPONENTS_ALL library)
    if(TARGET sluice_tool)
        list(APPEND CPACK_COMPONENTS_ALL tool)
    endif()
    set(CPACK_DEB_COMPONENT_INSTALL ON)
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_TOOL_PACKAGE_NAME sluice)
    set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
    set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS libvulkan1) # loaded where a GPU is asked for
    set(CPACK_COMPONENT_TOOL_DESCRIPTION
"The tool packs archives of Gstd or GDeflate tiles, with filters, textures and patches,
and decodes them by Vulkan, CUDA or the CPU.")
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsluice-dev)
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS
        "libvulkan-dev, libdeflate-dev, libzstd-dev, libxxhash-dev, zlib1g-dev") # of the parts that link them
    set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
"The library, its headers and shader parts: a C library for engines, with kernels for
Vulkan and CUDA and a CPU reference.")
    include(CPack)
endif()
