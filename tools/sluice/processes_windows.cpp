// SPDX-License-Identifier: MIT OR Apache-2.0
#ifdef _WIN32
#include "processes.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "platform/windows_path.h"
#include "tool.h"

namespace sluice {
namespace {

class Handle {
public:
    explicit Handle(HANDLE handle = nullptr) : m_handle(handle) {}
    ~Handle() { close(); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    HANDLE get() const { return m_handle; }
    HANDLE* place() { return &m_handle; }
    bool isOpen() const { return m_handle != nullptr && m_handle != INVALID_HANDLE_VALUE; }
    void close()
    {
        if (isOpen()) CloseHandle(m_handle);
        m_handle = nullptr;
    }

private:
    HANDLE m_handle;
};

// As CommandLineToArgvW takes lines apart.
std::wstring quoted(const std::wstring& word)
{
    std::wstring text = L"\"";
    size_t slashes = 0;
    for (const wchar_t c : word) {
        if (c == L'\\') {
            ++slashes;
            continue;
        }
        text.append(c == L'"' ? 2 * slashes + 1 : slashes, L'\\');
        slashes = 0;
        text += c;
    }
    return text.append(2 * slashes, L'\\') + L"\"";
}

std::wstring programFile()
{
    std::wstring path(32768, L'\0'); // the longest there is
    path.resize(GetModuleFileNameW(nullptr, path.data(), DWORD(path.size())));
    return path;
}

// Until the writer has closed its end.
void readAll(HANDLE from, std::string& text, size_t most, bool keepsEnd)
{
    char part[65536];
    for (DWORD size = 0; ReadFile(from, part, sizeof part, &size, nullptr) != 0 && size != 0;) {
        text.append(part, size);
        if (text.size() <= most) continue;
        if (keepsEnd)
            text.erase(0, text.size() - most);
        else
            text.resize(most);
    }
}

} // namespace

ChildResult runTool(const std::vector<std::string>& arguments, double seconds)
{
    ChildResult result;
    const std::wstring program = programFile();
    std::wstring line = quoted(program);
    for (const std::string& word : arguments)
        line += L" " + quoted(wideText(word));
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, nullptr, TRUE};
    Handle output, outputEnd, errors, errorsEnd;
    Handle nothing(
        CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ, &inherited, OPEN_EXISTING, 0, nullptr));
    // Ends with this process, however that ends.
    Handle job(CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    const bool isReady = nothing.isOpen() && job.isOpen() &&
                         CreatePipe(output.place(), outputEnd.place(), &inherited, 0) != 0 &&
                         CreatePipe(errors.place(), errorsEnd.place(), &inherited, 0) != 0 &&
                         SetHandleInformation(output.get(), HANDLE_FLAG_INHERIT, 0) != 0 &&
                         SetHandleInformation(errors.get(), HANDLE_FLAG_INHERIT, 0) != 0 &&
                         SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation,
                                                 &limits, sizeof limits) != 0;
    STARTUPINFOW start = {};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = nothing.get();
    start.hStdOutput = outputEnd.get();
    start.hStdError = errorsEnd.get();
    PROCESS_INFORMATION made = {};
    if (!isReady ||
        CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE,
                       CREATE_NO_WINDOW | CREATE_SUSPENDED, nullptr, nullptr, &start, &made) == 0) {
        result.errors = formatText("no process could be made: error %lu", GetLastError());
        return result;
    }
    const Handle process(made.hProcess), thread(made.hThread);
    AssignProcessToJobObject(job.get(), process.get());
    ResumeThread(thread.get());
    outputEnd.close();
    errorsEnd.close();
    std::thread readsOutput([&] { readAll(output.get(), result.output, kMostChildOutput, false); });
    std::thread readsErrors([&] { readAll(errors.get(), result.errors, kMostChildErrors, true); });
    const double milliseconds = std::min(seconds * 1000, double(INFINITE - 1));
    const bool ended =
        WaitForSingleObject(process.get(), DWORD(std::max(milliseconds, 0.0))) == WAIT_OBJECT_0;
    if (!ended) {
        TerminateProcess(process.get(), 1);
        WaitForSingleObject(process.get(), INFINITE);
    }
    readsOutput.join();
    readsErrors.join();
    DWORD code = 1;
    GetExitCodeProcess(process.get(), &code);
    const bool isException = code >= 0xC0000000; // STATUS_ACCESS_VIOLATION and its like
    result.end = !ended        ? ChildResult::End::stopped
                 : isException ? ChildResult::End::killed
                               : ChildResult::End::exited;
    result.code = int(code);
    return result;
}

std::string endText(const ChildResult& result)
{
    return formatText("exception 0x%08x", unsigned(result.code));
}

std::string hostName()
{
    char name[256] = {};
    DWORD size = sizeof name;
    return GetComputerNameExA(ComputerNameDnsHostname, name, &size) != 0 ? name : "";
}

} // namespace sluice
#endif
