// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks of arguments. Each check is one line, which decides whether an argument is allowed and
// says what is wrong with one that is not.
#pragma once

#include <sluice/sluice.h>

#include <type_traits>

namespace sluice {

// The caller's function that receives reports of refused arguments, and the pointer that it is
// called with.
struct Reporter {
    SluiceReportFunction function = nullptr; // NULL: nothing is reported
    void* user = nullptr;
};

// The value of an argument, or of a member of one, with its name as the public header has it.
template <typename T>
struct Named {
    const char* name;
    const T& value;
};
template <typename T>
Named<T> named(const char* name, const T& value)
{
    return {name, value};
}
#define SLUICE_NAMED(expression) sluice::named(#expression, expression)

// Converts an argument to the number that a report shows as its value.
template <typename T>
uint64_t reportedValue(const T& value)
{
    if constexpr (std::is_pointer_v<T>)
        return uint64_t(reinterpret_cast<uintptr_t>(value));
    else if constexpr (std::is_class_v<T>)
        return 0;
    else
        return uint64_t(value);
}

// Remembers the first error of a call. The destructor passes it to the caller's report function. So
// a function that takes a lock makes its checker first, and then the lock: it is released before
// the caller's function runs.
class ArgumentChecker {
public:
    // function: the name of the public function whose arguments are checked.
    ArgumentChecker(const Reporter& reporter, const char* function)
        : m_reporter(reporter), m_function(function)
    {
    }
    ~ArgumentChecker()
    {
        if (m_result != SLUICE_OK && m_reporter.function != nullptr && m_report.rule != nullptr)
            m_reporter.function(m_reporter.user, &m_report);
    }
    ArgumentChecker(const ArgumentChecker&) = delete;
    ArgumentChecker& operator=(const ArgumentChecker&) = delete;

    SluiceStatus status() const { return m_result; }
    bool isOk() const { return m_result == SLUICE_OK; }
    // Makes `status` the result, unless there is an error already. It is for statuses that are not
    // the caller's mistake; they are not reported.
    void end(SluiceStatus status)
    {
        if (m_result != SLUICE_OK) return;
        m_result = status;
        m_report.rule = nullptr;
    }
    static constexpr uint32_t kNoIndex = 0xffffffff;
    // Sets the index of the array element that the next checks are about; kNoIndex: no array.
    void at(uint32_t index) { m_index = index; }

    // Refuses the argument with the status `otherwise` unless `holds`. rule: what must hold, as the
    // rest of a sentence whose subject is the argument, such as "is at most the limit"; `limit` is
    // the number that this text calls the limit.
    template <typename T>
    void require(const Named<T>& argument, bool holds, const char* rule,
                 SluiceStatus otherwise = SLUICE_ERROR_ARGUMENT, uint64_t limit = 0)
    {
        if (!holds) refuse(argument.name, reportedValue(argument.value), rule, limit, otherwise);
    }
    // Each of the checks below returns true if neither it nor an earlier check refused anything.
    template <typename T>
    bool given(const Named<T>& argument)
    {
        require(argument, argument.value != 0, "is given");
        return isOk();
    }
    template <typename T>
    bool given(const Named<T*>& argument)
    {
        require(argument, argument.value != nullptr, "is not NULL");
        return isOk();
    }
    template <typename T>
    bool atMost(const Named<T>& argument, uint64_t limit)
    {
        require(argument, uint64_t(argument.value) <= limit, "is at most the limit",
                SLUICE_ERROR_ARGUMENT, limit);
        return isOk();
    }
    template <typename T>
    bool atLeast(const Named<T>& argument, uint64_t limit)
    {
        require(argument, uint64_t(argument.value) >= limit, "is at least the limit",
                SLUICE_ERROR_ARGUMENT, limit);
        return isOk();
    }
    template <typename T>
    bool multipleOf(const Named<T>& argument, uint64_t limit)
    {
        require(argument, reportedValue(argument.value) % limit == 0, "is a multiple of the limit",
                SLUICE_ERROR_ARGUMENT, limit);
        return isOk();
    }
    template <typename T>
    bool flags(const Named<T>& argument, uint64_t known)
    {
        require(argument, (uint64_t(argument.value) & ~known) == 0,
                "has no bits but those of the limit", SLUICE_ERROR_ARGUMENT, known);
        return isOk();
    }

protected:
    void refuse(const char* member, uint64_t value, const char* rule, uint64_t limit,
                SluiceStatus status)
    {
        if (m_result != SLUICE_OK) return;
        m_result = status;
        m_report = {m_function, memberOf(member), rule, value, limit, m_index, status};
    }

private:
    // Removes what precedes a member's own name: "info->flags" and "info.flags" become "flags",
    // "*count" becomes "count".
    static const char* memberOf(const char* name)
    {
        const char* at = name;
        if (*at == '*') return at + 1;
        while (*at != 0 && *at != '.' && *at != '-')
            ++at;
        return *at == '.' ? at + 1 : *at == '-' ? at + 2 : name;
    }

    const Reporter m_reporter;
    const char* const m_function;
    uint32_t m_index = kNoIndex;
    SluiceStatus m_result = SLUICE_OK;
    SluiceReport m_report; // describes the first error
};

} // namespace sluice
