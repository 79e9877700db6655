// SPDX-License-Identifier: MIT OR Apache-2.0
// `sluice report`: collects what the report of a problem, or the page of devices, needs to know of
// a machine.
#pragma once

#include "tools/common/tool.h"

namespace sluice {

struct ReportOptions {
    std::string output;
    std::string device = "all";
    double seconds = 90; // about how long the report may take; 0: no limit
};

int runReport(const ReportOptions& options, const CommonOptions& common);

} // namespace sluice
