// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tests/support/system.h"

#include <algorithm>

#include <malloc.h>

#include "platform/windows_path.h"

namespace sluice::test {

size_t pageSize()
{
    SYSTEM_INFO about = {};
    GetSystemInfo(&about);
    return about.dwPageSize;
}

uint8_t* mapMemory(uint64_t size, bool isTouchable)
{
    return static_cast<uint8_t*>(VirtualAlloc(nullptr, size_t(size),
                                              isTouchable ? MEM_RESERVE | MEM_COMMIT : MEM_RESERVE,
                                              isTouchable ? PAGE_READWRITE : PAGE_NOACCESS));
}

bool makeTouchable(uint8_t* memory, uint64_t size)
{
    return VirtualAlloc(memory, size_t(size), MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void unmapMemory(uint8_t* memory, uint64_t) { VirtualFree(memory, 0, MEM_RELEASE); }

void* allocateAligned(size_t alignment, size_t size) { return _aligned_malloc(size, alignment); }
void freeAligned(void* memory) { _aligned_free(memory); }

bool streamersHaveDescriptors() { return false; }

bool waitForEvents(SluiceStreamer)
{
    Sleep(1);
    return true;
}

bool replacesOpenFiles()
{
    return GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version") == nullptr;
}

int runInFolder(const std::string& folder, const std::string& environment, const std::string& tool,
                const std::string& arguments)
{
    if (!environment.empty() || arguments.find_first_of("|;&<>$`*\\") != std::string::npos)
        return -1;
    std::string line = "\"" + tool + "\" " + arguments;
    std::replace(line.begin(), line.end(), '\'', '"');
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, nullptr, TRUE};
    const auto open = [&](const std::string& path, DWORD access, DWORD disposition) {
        return CreateFileW(wideText(path).c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE,
                           &inherited, disposition, FILE_ATTRIBUTE_NORMAL, nullptr);
    };
    STARTUPINFOW start = {};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = open("NUL", GENERIC_READ, OPEN_EXISTING);
    start.hStdOutput = open(folder + "/.out", GENERIC_WRITE, CREATE_ALWAYS);
    start.hStdError = open(folder + "/.err", GENERIC_WRITE, CREATE_ALWAYS);
    PROCESS_INFORMATION process = {};
    std::wstring wide = wideText(line);
    DWORD code = 0;
    const bool isRun = CreateProcessW(nullptr, wide.data(), nullptr, nullptr, TRUE, 0, nullptr,
                                      wideText(folder).c_str(), &start, &process) != 0;
    for (const HANDLE handle : {start.hStdInput, start.hStdOutput, start.hStdError})
        CloseHandle(handle);
    if (!isRun) return -1;
    WaitForSingleObject(process.hProcess, INFINITE);
    GetExitCodeProcess(process.hProcess, &code);
    CloseHandle(process.hThread);
    CloseHandle(process.hProcess);
    return int(code);
}

} // namespace sluice::test
