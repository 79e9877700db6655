// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON whose members keep their order, in lines short enough for a mail.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace sluice {

using OrderedJson = nlohmann::ordered_json;

// A list or an object that fits is printed in one line of less than 100 columns. The output is
// always UTF-8, even if strings are not.
std::string reportText(const OrderedJson& json);

} // namespace sluice
