// "512MiB", "1.5GiB", "800000", "0.25" (a fraction of the memory this process may use) ⇄ bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace genai::cli {

std::optional<int64_t> parse_size(std::string_view text, int64_t whole);  // `whole`: what a fraction is of
std::string size_text(int64_t bytes);                                     // "1.50 GiB"

}  // namespace genai::cli
