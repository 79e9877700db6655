# SPDX-License-Identifier: MIT OR Apache-2.0
# CPack runs this before it makes the Debian packages, and only then: it adds to the staged folders what
# Debian's policy asks for. Those are copyright and changelog of each package, compressed manual pages,
# and words for lintian.
find_program(gzip gzip REQUIRED)
set(stage ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # obeys SOURCE_DATE_EPOCH
file(READ ${CPACK_SLUICE_SOURCE_DIR}/LICENSE-MIT license)
foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
    set(folder ${stage}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/${name})
    file(WRITE ${folder}/copyright "sluice is free under the MIT licence, which follows, or under the Apache licence 2.0, as you
like. The latter is /usr/share/common-licenses/Apache-2.0.\n\n${license}")
    file(WRITE ${folder}/changelog "${name} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * CHANGELOG.md in the sources says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    set(texts ${folder}/changelog)
    # NVIDIA's toolkit is no Debian package, so its library lies where policy wants none.
    if(EXISTS ${stage}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/lib/pkgconfig/sluice_cuda.pc)
        file(WRITE ${stage}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share/lintian/overrides/${name}
            "${name}: pkg-config-bad-directive -L* [usr/lib/pkgconfig/sluice_cuda.pc]\n")
    endif()
    file(GLOB manual ${stage}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share/man/man1/*.1)
    execute_process(COMMAND ${gzip} -9nf ${texts} ${manual} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
