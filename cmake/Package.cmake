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
install(TARGETS ${installed} EXPORT sluiceTargets)
file(GLOB headers include/sluice/*.h)
list(FILTER headers EXCLUDE REGEX "/sluice_dev\\.h$")
if(SLUICE_ABSENT)
    list(FILTER headers EXCLUDE REGEX "/sluice_(all|encode|filter_encode|image_encode|formats)\\.h$")
endif()
if(NOT TARGET sluice_stream)
    list(FILTER headers EXCLUDE REGEX "/sluice_stream(_vulkan|_cuda)?\\.h$")
endif()
sluice_present(headers)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice)
# Shaders of the embedder's own may include the shared parts: lib/float_tile.glsl.
set(SLUICE_SHADER_INSTALL_DIR ${CMAKE_INSTALL_DATADIR}/sluice/shaders)
install(DIRECTORY shaders/lib DESTINATION ${SLUICE_SHADER_INSTALL_DIR})
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${package_dir})
# The component dev. It reaches inside the library, so it comes with the static one alone.
if(TARGET sluice_dev AND BUILD_SHARED_LIBS)
    message(STATUS "sluice: a shared library's installation has no component dev")
elseif(TARGET sluice_dev)
    install(TARGETS sluice_dev EXPORT sluiceDevTargets COMPONENT dev)
    install(FILES include/sluice/sluice_dev.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice COMPONENT dev)
    install(EXPORT sluiceDevTargets NAMESPACE sluice:: DESTINATION ${package_dir} COMPONENT dev)
endif()
configure_package_config_file(cmake/sluiceConfig.cmake.in sluiceConfig.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS SLUICE_SHADER_INSTALL_DIR)
write_basic_package_version_file(sluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sluiceConfig.cmake ${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake
    DESTINATION ${package_dir})

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
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
