// SPDX-License-Identifier: MIT OR Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "tools/common/platform.h"
#include "platform/windows_path.h"

#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

namespace sluice {
namespace {

std::string registryText(const wchar_t* key, const wchar_t* value)
{
    wchar_t text[256] = {};
    DWORD size = sizeof text - sizeof(wchar_t);
    if (RegGetValueW(HKEY_LOCAL_MACHINE, key, value, RRF_RT_REG_SZ, nullptr, text, &size) !=
        ERROR_SUCCESS)
        return "";
    return utf8Text(std::wstring(text));
}

void (*cleanUpOnEvent)() = nullptr;

// Windows calls this function in a thread of its own when the console is closed or interrupted. The
// result FALSE means that Windows then ends the program.
BOOL WINAPI onConsoleEvent(DWORD)
{
    cleanUpOnEvent();
    return FALSE;
}

UINT consoleCodePage = 0;

} // namespace

std::vector<std::string> startProgram(int argc, char** argv)
{
    // In text mode streams would write "\n" as "\r\n". Streams must not change bytes.
    for (std::FILE* const stream : {stdin, stdout, stderr})
        _setmode(_fileno(stream), _O_BINARY);
    // A console's stream is unbuffered. Without a buffer each byte would be written by a call of
    // its own, which tears UTF-8 characters apart. printMessage() flushes what must be seen early.
    std::setvbuf(stdout, nullptr, _IOFBF, 1u << 16);
    std::setvbuf(stderr, nullptr, _IOFBF, 1u << 12);
    // The console must be told that the program writes UTF-8. At the program's end the console gets
    // its old code page back.
    consoleCodePage = GetConsoleOutputCP();
    if (consoleCodePage != 0 && SetConsoleOutputCP(CP_UTF8))
        std::atexit([] { SetConsoleOutputCP(consoleCodePage); });
    const HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
    DWORD mode = 0;
    if (GetConsoleMode(console, &mode))
        SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    // The arguments come from Windows' own command line, because in argv they are in a code page,
    // and wildcards are expanded.
    std::vector<std::string> arguments;
    int count = 0;
    wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &count);
    if (wide == nullptr) return {argv + 1, argv + argc};
    for (int i = 1; i < count; ++i)
        arguments.push_back(utf8Text(std::wstring(wide[i])));
    LocalFree(wide);
    return arguments;
}

std::string programPath()
{
    std::wstring path(MAX_PATH, L'\0');
    for (;;) {
        const DWORD size = GetModuleFileNameW(nullptr, path.data(), DWORD(path.size()));
        if (size < path.size()) return utf8Text(path.data(), size);
        path.resize(2 * path.size());
    }
}

void onInterrupt(void (*cleanUp)())
{
    cleanUpOnEvent = cleanUp;
    SetConsoleCtrlHandler(onConsoleEvent, TRUE);
}

double processSeconds()
{
    FILETIME made, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user)) return 0;
    const auto seconds = [](const FILETIME& time) {
        return double(uint64_t(time.dwHighDateTime) << 32 | time.dwLowDateTime) * 1e-7;
    };
    return seconds(kernel) + seconds(user);
}

bool isTerminal(OutputStream stream)
{
    DWORD mode = 0;
    return GetConsoleMode(
               GetStdHandle(stream == OutputStream::out ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE),
               &mode) != 0;
}

uint32_t terminalColumns(OutputStream stream)
{
    CONSOLE_SCREEN_BUFFER_INFO about = {};
    const DWORD handle = stream == OutputStream::out ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(handle), &about)) return 0;
    return uint32_t(about.srWindow.Right - about.srWindow.Left + 1);
}

std::string systemText()
{
    const wchar_t* const key = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
    std::string name = registryText(key, L"ProductName");
    const std::string build = registryText(key, L"CurrentBuild");
    // Windows 11 calls itself Windows 10 here; only the build number tells them apart.
    const size_t ten = name.find("Windows 10");
    if (ten != std::string::npos && std::atoi(build.c_str()) >= 22000)
        name.replace(ten, 10, "Windows 11");
    std::string text = name.empty() ? "Windows" : name;
    if (!build.empty()) text += ", build " + build;
    // A report must say if it comes from Wine. Only Wine's ntdll has this function.
    const auto version = reinterpret_cast<const char*(CDECL*)()>(reinterpret_cast<void*>(
        GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version")));
    return version != nullptr ? text + ", by Wine " + version() : text;
}

bool hasPosixShell() { return false; }

std::string processorText()
{
    return registryText(L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                        L"ProcessorNameString");
}

std::string hostName()
{
    wchar_t name[256] = {};
    DWORD size = 256;
    return GetComputerNameExW(ComputerNameDnsHostname, name, &size) ? utf8Text(name, size) : "";
}

std::vector<std::string> machineIdentity()
{
    return {hostName(), registryText(L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid")};
}

} // namespace sluice
