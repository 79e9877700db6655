// SPDX-License-Identifier: MIT OR Apache-2.0
// docs/devices.md, made of what `sluice report` wrote on machines here and elsewhere.
#pragma once

#include <filesystem>
#include <string>

namespace sluice {

// The page of all reports (*.json but schema.json) of a folder, in the order of their names. Throws
// std::runtime_error, which names the file, where one is no report of the schema's version.
std::string devicesPage(const std::filesystem::path& folder);

} // namespace sluice
