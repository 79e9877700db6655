// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes JSON in lines short enough for a mail; members keep their order.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace sluice {

using OrderedJson = nlohmann::ordered_json;

// A list or an object is printed in one line if it fits into less than 100 columns. The text is
// UTF-8 even if strings in the JSON are not.
std::string reportText(const OrderedJson& json);

} // namespace sluice
