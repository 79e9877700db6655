// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the malloc that stops a program at accesses outside of allocations (guard_pages.cpp): this
// program runs itself with it.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "test_paths.h"

#ifdef SLUICE_GUARD_PAGES_PATH

namespace {

constexpr char kOffset[] = "SLUICE_GUARD_TEST_OFFSET";
constexpr size_t kSize = 5008;

// Returns whether a program with this malloc survives a store at this byte of an allocation of
// kSize bytes.
bool mayStore(const char* front, long offset)
{
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command =
        std::string("env -u SLUICE_TEST_SUMMARY SLUICE_TEST_DEVICES=host ") + kOffset + "=" +
        std::to_string(offset) + " " + front + " LD_PRELOAD='" SLUICE_GUARD_PAGES_PATH "' '" +
        program + "' -tc='guard pages: one store' >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
}

} // namespace

TEST_CASE("guard pages: one store" * doctest::skip(std::getenv(kOffset) == nullptr))
{
    volatile char* const memory = static_cast<char*>(std::malloc(kSize));
    REQUIRE((memory != nullptr)); // doctest prints no volatile pointers
    memory[std::atol(std::getenv(kOffset))] = 1;
    CHECK(memory[kSize / 2] == char(0xA5));
    std::free(const_cast<char*>(memory));
}

TEST_CASE("guard pages: a store outside of an allocation stops the program")
{
    CHECK(mayStore("", 0));
    CHECK(mayStore("", long(kSize) - 1));
    CHECK_FALSE(mayStore("", kSize));
    CHECK(mayStore("SLUICE_GUARD_FRONT=1", 0));
    CHECK(mayStore("SLUICE_GUARD_FRONT=1", long(kSize) - 1));
    CHECK_FALSE(mayStore("SLUICE_GUARD_FRONT=1", -1));
}

#endif
