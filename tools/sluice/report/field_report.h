// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice report: collects what a problem report, or the page of devices, needs to know about a
// machine.
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
