# SPDX-License-Identifier: MIT OR Apache-2.0
# The parts of the library that one can leave out. `core` (the contract, contexts, checksums) is always there.
#   codecs      gdeflate, gstd, filter, fse, tile streams, tiles of archives, image files
#   primitives  scan, reduce, compact, interval
#   weights     float_decode, df11
# A kernel has one name in every place, so the name of a file says which component it belongs to.
foreach(component codecs primitives weights)
    string(TOUPPER ${component} upper)
    option(SLUICE_${upper} "Build the component ${component} into the library" ON)
endforeach()
option(SLUICE_STREAM "Build sluice_stream, which needs the component codecs" ON)
if(SLUICE_STREAM AND (NOT SLUICE_CODECS OR NOT (UNIX OR WIN32)))
    set(SLUICE_STREAM OFF)
endif()
set(SLUICE_COMPONENTS core)
set(SLUICE_ABSENT "")
set(names_codecs gdeflate gstd filter fse tile_stream tiles self_test archive driver_regions image ktx2 dds)
set(names_primitives scan reduce compact interval)
set(names_weights float df11)
foreach(component codecs primitives weights)
    string(TOUPPER ${component} upper)
    if(SLUICE_${upper})
        list(APPEND SLUICE_COMPONENTS ${component})
    else()
        list(APPEND SLUICE_ABSENT ${names_${component}})
    endif()
endforeach()
if(SLUICE_ABSENT AND (SLUICE_BUILD_TOOL OR SLUICE_BUILD_TESTS OR SLUICE_HOT_RELOAD))
    message(FATAL_ERROR "the tool, the tests and sluice_dev need every component: set SLUICE_BUILD_TOOL, "
        "SLUICE_BUILD_TESTS and SLUICE_HOT_RELOAD to OFF to leave one out")
endif()
# Decoding whole tile streams takes sums of words.
set(SLUICE_NEEDED "")
if(SLUICE_CODECS)
    set(SLUICE_NEEDED "^(record_|enqueue_)?scan\\.|^reduce\\.(cpp|cu)$|^plan_scan")
endif()

# sluice_present(list): takes what belongs to components that are left out off a list of files.
function(sluice_present files)
    set(result "")
    list(JOIN SLUICE_ABSENT "|" absent)
    foreach(file ${${files}})
        get_filename_component(name ${file} NAME)
        if(SLUICE_ABSENT AND name MATCHES "^(sluice_|record_|enqueue_|plan_)?(${absent})"
                AND NOT (SLUICE_NEEDED AND name MATCHES "${SLUICE_NEEDED}" AND NOT file MATCHES "/(api|include)/"))
            continue()
        endif()
        list(APPEND result ${file})
    endforeach()
    set(${files} ${result} PARENT_SCOPE)
endfunction()

# sluice_of_system(list): takes what is for other systems (*_windows, *_posix) off a list of files.
function(sluice_of_system files)
    set(result ${${files}})
    if(WIN32)
        list(FILTER result EXCLUDE REGEX "_posix\\.(cpp|h)$")
    else()
        list(FILTER result EXCLUDE REGEX "_windows\\.(cpp|h)$")
    endif()
    set(${files} ${result} PARENT_SCOPE)
endfunction()
