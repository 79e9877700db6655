# SPDX-License-Identifier: MIT OR Apache-2.0
# Writes the manual pages and the completions of shells into a folder: cmake -DTOOL=FILE
# -DFOLDER=DIR -P Manual.cmake.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man1 ${FOLDER}/completions)
foreach(shell bash zsh fish)
    execute_process(COMMAND ${TOOL} completion ${shell} OUTPUT_FILE ${FOLDER}/completions/${shell} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${TOOL} completion ${shell}: ${result}")
    endif()
endforeach()
execute_process(COMMAND ${TOOL} man --folder ${FOLDER}/man1 RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${TOOL} man: ${result}")
endif()
