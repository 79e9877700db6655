# SPDX-License-Identifier: MIT OR Apache-2.0
# Install rules. docs/embedding.md says what find_package(sluice) and pkg-config offer then.
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
# The user's own shaders may include our parts: lib/float_tile.glsl.
set(SLUICE_SHADER_INSTALL_DIR ${CMAKE_INSTALL_DATADIR}/sluice/shaders)
install(DIRECTORY shaders/lib DESTINATION ${SLUICE_SHADER_INSTALL_DIR} COMPONENT library)
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
# Headers and shader parts name these documents.
foreach(name design embedding format notes/streaming notes/zstd performance portability streaming uastc)
    get_filename_component(folder ${name} DIRECTORY)
    install(FILES docs/${name}.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT library)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${package_dir} COMPONENT library)
# The component dev uses functions that a shared library hides, so only static installations have
# it.
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

# One pkg-config file a library. Static archives need what they link, which a linker must be told,
# and after them. The CUDA runtime stands in a file of its own, so that programs that use Vulkan alone
# need none: sluice_cuda is sluice with it.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
function(sluice_pkg_config name description requires)
    set(pc_name ${name})
    set(pc_description "${description}")
    set(pc_requires "${requires}")
    set(pc_cflags "")
    list(JOIN ARGN " " pc_libs)
    if(NOT BUILD_SHARED_LIBS)
        set(pc_cflags "-DSLUICE_STATIC")
    endif()
    configure_file(cmake/sluice.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endfunction()
set(pc_cuda sluice)
if(BUILD_SHARED_LIBS)
    sluice_pkg_config(sluice "${PROJECT_DESCRIPTION}" "" -lsluice)
    set(pc_device_libs "")
    set(pc_encode_libs "")
    set(pc_threads "")
else()
    sluice_pkg_config(sluice "${PROJECT_DESCRIPTION}" "" -lsluice -lstdc++ -lm)
    set(pc_device_libs -ldl -lpthread)
    set(pc_encode_libs -ldeflate -lzstd -lxxhash -lz -lpthread)
    set(pc_threads -lpthread)
    if(SLUICE_HAVE_CUDA)
        set(pc_cuda sluice_cuda)
        sluice_pkg_config(sluice_cuda "sluice with the CUDA runtime, which its CUDA contexts need" ""
            -lsluice -lstdc++ -lm -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread)
    endif()
endif()
foreach(library ${installed})
    if(library STREQUAL sluice_device)
        sluice_pkg_config(sluice_device "Opens a device for sluice, allocates, submits, waits" ${pc_cuda}
            -lsluice_device ${pc_device_libs})
    elseif(library STREQUAL sluice_encode)
        sluice_pkg_config(sluice_encode "Encoders of sluice's formats" sluice -lsluice_encode ${pc_encode_libs})
    elseif(library STREQUAL sluice_stream)
        sluice_pkg_config(sluice_stream "Streams assets of sluice archives" sluice -lsluice_stream ${pc_threads})
    endif()
endforeach()

# The tool, its manual pages and the completions of shells.
if(TARGET sluice_tool)
    install(TARGETS sluice_tool RUNTIME COMPONENT tool)
    install(FILES CHANGELOG.md docs/tool.md docs/packing.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
endif()
if(TARGET sluice_tool AND NOT CMAKE_CROSSCOMPILING)
    set(manual ${PROJECT_BINARY_DIR}/tool/manual)
    install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool)
    install(FILES ${manual}/completions/bash RENAME sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
    install(FILES ${manual}/completions/fish RENAME sluice.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
    # Debian's zsh searches another folder below /usr than other systems' zsh.
    install(FILES ${manual}/completions/zsh RENAME _sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
    install(FILES ${manual}/completions/zsh RENAME _sluice
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tool)
endif()

# Debian packages: `cpack -G DEB --config build/release/CPackConfig.cmake` makes the package sluice
# with the tool, and libsluice-dev with the library, headers and shader parts.
if(PROJECT_IS_TOP_LEVEL)
    set(SLUICE_PACKAGE_CONTACT "sluice <sluice@example.invalid>" CACHE STRING "The maintainer that packages name")
    set(CPACK_GENERATOR DEB)
    set(CPACK_PACKAGE_NAME sluice)
    set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
    set(CPACK_PACKAGE_CONTACT ${SLUICE_PACKAGE_CONTACT})
    set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
    set(CPACK_STRIP_FILES ON)
    set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/Debian.cmake)
    set(CPACK_SLUICE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
    set(CPACK_COMPONENTS_ALL library)
    if(TARGET sluice_tool)
        list(APPEND CPACK_COMPONENTS_ALL tool)
    endif()
    set(CPACK_DEB_COMPONENT_INSTALL ON)
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_TOOL_PACKAGE_NAME sluice)
    set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
    set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS libvulkan1) # loaded when a GPU is used
    set(CPACK_COMPONENT_TOOL_DESCRIPTION
"The tool packs archives of Gstd or GDeflate tiles, with filters, textures and
patches, and decodes them by Vulkan, CUDA or the CPU.")
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsluice-dev)
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
    set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS
        # Programs that use these parts of the library link them.
        "libvulkan-dev, libdeflate-dev, libzstd-dev, libxxhash-dev, zlib1g-dev")
    set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
"The libraries, their headers and shader parts: a C library for engines, with
kernels for Vulkan and CUDA and a CPU reference, encoders and streaming.")
    include(CPack)
endif()
