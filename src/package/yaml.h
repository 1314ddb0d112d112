// YAML → the JSON value of the same meaning (YAML 1.2 core schema).
//
// Threads: pure. Errors: Error{corrupt} with line and column; aliases that blow a small file up to more than a million
// values are Error{out_of_capacity}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace genai {

nlohmann::ordered_json yaml_to_json(std::string_view text, const std::string& where);

}  // namespace genai
