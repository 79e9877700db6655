// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/common/processes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/tool.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

// A pipe. Its ends are closed with this object.
struct Pipe {
    int ends[2] = {-1, -1};

    bool open() { return ::pipe(ends) == 0 && closesOnExec(0) && closesOnExec(1); }
    void close(int end)
    {
        if (ends[end] >= 0) ::close(ends[end]);
        ends[end] = -1;
    }
    bool closesOnExec(int end) const { return fcntl(ends[end], F_SETFD, FD_CLOEXEC) == 0; }
    ~Pipe() { close(0), close(1); }
};

// Runs in the child after fork, where only system calls are safe.
[[noreturn]] void becomeTool(char** arguments, const Pipe& output, const Pipe& errors)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); // the child does not outlive this process
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output.ends[1], 1) >= 0 &&
        dup2(errors.ends[1], 2) >= 0)
        execv("/proc/self/exe", arguments);
    _exit(127);
}

// Appends what a pipe holds now to `text`. Returns false if the writer has closed its end. `text`
// keeps at most `most` bytes: the last ones if keepsEnd is set, otherwise the first.
bool readSome(int from, std::string& text, size_t most, bool keepsEnd)
{
    char part[65536];
    const ssize_t size = ::read(from, part, sizeof part);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    text.append(part, size_t(size));
    if (text.size() > most) {
        if (keepsEnd)
            text.erase(0, text.size() - most);
        else
            text.resize(most);
    }
    return size > 0;
}

// Reads both pipes until their writers have closed them. Returns false if `end` comes first.
bool readAll(Pipe& output, Pipe& errors, Clock::time_point end, ChildResult& result)
{
    while (output.ends[0] >= 0 || errors.ends[0] >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0) return false;
        pollfd waits[2] = {{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}};
        if (poll(waits, 2, int(std::min<long long>(left, 1000))) < 0 && errno != EINTR)
            return false;
        if (waits[0].revents != 0 &&
            !readSome(output.ends[0], result.output, kMostChildOutput, false))
            output.close(0);
        if (waits[1].revents != 0 &&
            !readSome(errors.ends[0], result.errors, kMostChildErrors, true))
            errors.close(0);
    }
    return true;
}

// Waits for the child. Returns false if it has not ended by `end`.
bool waitFor(pid_t child, Clock::time_point end, int& status)
{
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) return ended == child;
        if (Clock::now() >= end) return false;
        usleep(1000);
    }
}

} // namespace

ChildResult runTool(const std::vector<std::string>& arguments, double seconds)
{
    ChildResult result;
    std::string first = "sluice";
    std::vector<std::string> words = arguments;
    std::vector<char*> pointers = {first.data()};
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    Pipe output, errors;
    const pid_t child = output.open() && errors.open() ? fork() : pid_t(-1);
    if (child < 0) {
        result.errors = std::string("no process could be made: ") + std::strerror(errno);
        return result;
    }
    if (child == 0) becomeTool(pointers.data(), output, errors);
    output.close(1);
    errors.close(1);
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(seconds));
    int status = 0;
    if (!readAll(output, errors, end, result) || !waitFor(child, end, status)) {
        kill(child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        result.end = ChildResult::End::stopped;
    } else if (WIFEXITED(status)) {
        result.end = ChildResult::End::exited;
        result.code = WEXITSTATUS(status);
    } else {
        result.end = ChildResult::End::killed;
        result.code = WTERMSIG(status);
    }
    return result;
}

std::string endText(const ChildResult& result)
{
    return formatText("signal %d (%s)", result.code, strsignal(result.code));
}

} // namespace sluice
