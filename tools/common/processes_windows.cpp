// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/processes.h"

#include <algorithm>
#include <chrono>

#include "platform/windows_path.h"
#include "tools/common/platform.h"
#include "tools/common/tool.h"

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

// Quotes a word such that CommandLineToArgvW gives the same word back.
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

constexpr DWORD kPipeBytes = 1u << 20, kPartBytes = 65536;
constexpr DWORD kPause = 5; // milliseconds between checks of empty pipes

// Appends what a pipe holds now to `text`. Returns whether the pipe held anything. `text` keeps at
// most `most` bytes: the last ones if keepsEnd is set, otherwise the first.
bool takeBytes(HANDLE from, std::string& text, size_t most, bool keepsEnd)
{
    char part[kPartBytes];
    DWORD there = 0, size = 0;
    if (PeekNamedPipe(from, nullptr, 0, nullptr, &there, nullptr) == 0 || there == 0) return false;
    const DWORD wanted = std::min<DWORD>(there, sizeof part);
    if (ReadFile(from, part, wanted, &size, nullptr) == 0 || size == 0) return false;
    text.append(part, size);
    if (text.size() <= most) return true;
    if (keepsEnd)
        text.erase(0, text.size() - most);
    else
        text.resize(most);
    return true;
}

} // namespace

ChildResult runTool(const std::vector<std::string>& arguments, double seconds)
{
    ChildResult result;
    const std::wstring program = wideText(programPath());
    std::wstring line = quoted(program);
    for (const std::string& word : arguments)
        line += L" " + quoted(wideText(word));
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, nullptr, TRUE};
    Handle output, outputEnd, errors, errorsEnd;
    Handle nothing(
        CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ, &inherited, OPEN_EXISTING, 0, nullptr));
    // When this process ends, for whatever reason, the job ends the child.
    Handle job(CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    const bool isReady =
        nothing.isOpen() && job.isOpen() &&
        CreatePipe(output.place(), outputEnd.place(), &inherited, kPipeBytes) != 0 &&
        CreatePipe(errors.place(), errorsEnd.place(), &inherited, kPipeBytes) != 0 &&
        SetHandleInformation(output.get(), HANDLE_FLAG_INHERIT, 0) != 0 &&
        SetHandleInformation(errors.get(), HANDLE_FLAG_INHERIT, 0) != 0 &&
        SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits,
                                sizeof limits) != 0;
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
    // The pipes may stay open after the child has ended, because a driver may have started a
    // process that inherited them and goes on running. So this waits for the end of the child, not
    // for the ends of the pipes, and then takes what is left in the pipes.
    const auto begun = std::chrono::steady_clock::now();
    const auto take = [&] {
        const bool isOutput = takeBytes(output.get(), result.output, kMostChildOutput, false);
        return takeBytes(errors.get(), result.errors, kMostChildErrors, true) || isOutput;
    };
    bool ended = false, stopped = false;
    while (!ended) {
        ended = WaitForSingleObject(process.get(), take() ? 0 : kPause) == WAIT_OBJECT_0;
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        if (ended || stopped || spent.count() < seconds) continue;
        TerminateProcess(process.get(), 1);
        stopped = true;
    }
    // This reads no more than both pipes can hold, since another process may go on writing.
    for (DWORD rest = 0; rest < 2 * kPipeBytes && take();)
        rest += kPartBytes;
    DWORD code = 1;
    GetExitCodeProcess(process.get(), &code);
    const bool isException = code >= 0xC0000000; // STATUS_ACCESS_VIOLATION and others
    result.end = stopped       ? ChildResult::End::stopped
                 : isException ? ChildResult::End::killed
                               : ChildResult::End::exited;
    result.code = int(code);
    return result;
}

std::string endText(const ChildResult& result)
{
    return formatText("exception 0x%08x", uint32_t(result.code));
}

} // namespace sluice
