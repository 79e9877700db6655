// SPDX-License-Identifier: MIT OR Apache-2.0
#include "tools/sluice/report/report_json.h"

namespace sluice {
namespace {

constexpr size_t kColumns = 99;

// Returns JSON in one line, with a blank after each comma and colon.
std::string flat(const OrderedJson& json)
{
    if (!json.is_structured())
        return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    std::string text;
    for (const auto& [key, value] : json.items()) {
        text += text.empty() ? "" : ", ";
        if (json.is_object()) text += flat(OrderedJson(key)) + ": ";
        text += flat(value);
    }
    return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// Appends JSON to `text`. `used` columns of the current line are filled already, and further lines
// are indented by `indent` blanks. The function recurses for each level of nesting, but JSON from
// the verbs of this tool has few levels.
void print(const OrderedJson& json, size_t indent, size_t used, std::string& text)
{
    const std::string line = flat(json);
    if (!json.is_structured() || json.empty() || used + line.size() < kColumns) {
        text += line;
        return;
    }
    text += json.is_object() ? "{" : "[";
    const char* separator = "\n";
    for (const auto& [key, value] : json.items()) {
        const std::string name = json.is_object() ? flat(OrderedJson(key)) + ": " : "";
        text += separator + std::string(indent + 2, ' ') + name;
        print(value, indent + 2, indent + 2 + name.size(), text);
        separator = ",\n";
    }
    text += "\n" + std::string(indent, ' ') + (json.is_object() ? "}" : "]");
}

} // namespace

std::string reportText(const OrderedJson& json)
{
    std::string text;
    print(json, 0, 0, text);
    return text + "\n";
}

} // namespace sluice
