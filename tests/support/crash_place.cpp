// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/crash_place.h"

#ifdef __linux__
#include <csignal>
#include <features.h>
#endif
#ifdef __GLIBC__
#include <execinfo.h>
#include <initializer_list>
#include <unistd.h>
#endif

namespace sluice::test {

#ifdef __GLIBC__
namespace {

void printStack(int signal)
{
    void* frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

} // namespace

void printStackOnCrash()
{
    // The first call loads a library, which must not happen in a handler.
    void* frame = nullptr;
    backtrace(&frame, 1);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        struct sigaction current = {};
        if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
        std::signal(signal, printStack);
    }
}
#else
void printStackOnCrash() {}
#endif

} // namespace sluice::test
