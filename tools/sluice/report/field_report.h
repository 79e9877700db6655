// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice report: what a report of a problem, or the page of devices, needs to say of a machine.
#pragma once

#include "tools/common/tool.h"

namespace sluice {

struct ReportOptions {
    std::string output;
    std::string device = "all";
    double seconds = 90; // about how long it takes at most; 0: no limit
};

int runReport(const ReportOptions& options, const CommonOptions& common);

} // namespace sluice
