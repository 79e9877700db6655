// SPDX-License-Identifier: MIT OR Apache-2.0
// sluice report: collects the facts about a machine that a problem report or the page of devices
// needs.
#pragma once

#include "tools/common/tool.h"

namespace sluice {

struct ReportOptions {
    std::string output;
    std::string device = "all";
    double seconds = 90; // roughly the longest time that it takes; 0: no limit
};

int runReport(const ReportOptions& options, const CommonOptions& common);

} // namespace sluice
