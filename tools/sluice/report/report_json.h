// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON whose members keep their order, in lines that can be read in a mail.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace sluice {

using OrderedJson = nlohmann::ordered_json;

// Lists and objects that fit stand in one line of less than 100 columns. No bytes but UTF-8 come
// out, whatever the strings hold.
std::string reportText(const OrderedJson& json);

} // namespace sluice
