// SPDX-License-Identifier: MIT OR Apache-2.0
// The groups that wait for semaphores, ordered by semaphore and then by value. So the first group
// of each semaphore is the one whose value the semaphore reaches first. Each operation takes
// logarithmic time and allocates nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

namespace sluice::stream {

struct Wait {
    uint64_t semaphore = 0, value = 0;
    uint64_t sequence = 0; // the group's
    uint32_t group = 0;    // index
    bool operator<(const Wait& other) const
    {
        return std::tie(semaphore, value, sequence) <
               std::tie(other.semaphore, other.value, other.sequence);
    }
};

// Less is a parameter so that a test can count the comparisons.
template <class Less = std::less<Wait>>
class Waits {
public:
    explicit Waits(uint32_t count)
    {
        m_free.reserve(count);
        for (uint32_t i = 0; i < count; ++i) {
            m_waits.insert(Wait());
            m_free.push_back(m_waits.extract(m_waits.begin()));
        }
    }
    bool empty() const { return m_waits.empty(); }
    // There must be room: at most `count` waits exist at a time.
    void insert(const Wait& wait)
    {
        m_free.back().value() = wait;
        m_waits.insert(std::move(m_free.back()));
        m_free.pop_back();
    }
    void remove(const Wait& wait) { m_free.push_back(m_waits.extract(wait)); }
    // Returns the first wait for this semaphore, or else for the next larger handle; NULL if there
    // is none.
    const Wait* first(uint64_t semaphore) const
    {
        const auto at = m_waits.lower_bound(Wait{semaphore});
        return at != m_waits.end() ? &*at : nullptr;
    }

private:
    std::set<Wait, Less> m_waits;
    std::vector<typename std::set<Wait, Less>::node_type> m_free;
};

} // namespace sluice::stream
