// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sstream>

#include "cuda/tuning.h"
#include "tools/sluice/suggest.h"
#include "tools/sluice/tune/tune.h"
#include "vulkan/tuning.h"

namespace sluice {

void checkTuning(const std::string& row)
{
    std::vector<TuningField> fields(std::begin(kVulkanTuningFields), std::end(kVulkanTuningFields));
    fields.insert(fields.end(), std::begin(kCudaTuningFields), std::end(kCudaTuningFields));
    std::vector<std::string> names;
    for (const TuningField& field : fields)
        names.push_back(field.name);
    std::istringstream words(row);
    for (std::string word; words >> word;) {
        const size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        if (equals == std::string::npos)
            throw Failure{exitUsage, "--tuning: '" + printable(word) +
                                         "' is not name=value; @FILE reads a row from a file"};
        const char* digits = word.c_str() + equals + 1;
        uint32_t value = 0;
        const bool isNumber = takeTuningNumber(digits, value) && *digits == 0;
        bool isKnown = false, isAllowed = false;
        for (const TuningField& field : fields) {
            if (name != field.name) continue;
            isKnown = true;
            isAllowed = isAllowed || (isNumber && field.allows(value));
        }
        if (!isKnown)
            throw Failure{exitUsage, "--tuning: no device has '" + printable(name) + "'" +
                                         suggestion(name, names)};
        if (!isAllowed)
            throw Failure{exitUsage, "--tuning: '" + printable(word) +
                                         "' has no value that this member may have"};
    }
}

} // namespace sluice
