// The added tokens of a tokenizer.json: text → id. Reads that list alone, not the vocabulary.
//
// Threads: pure. Errors: Error{corrupt} naming the file when it is no JSON object or the list is malformed.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace genai {

std::map<std::string, int64_t> read_added_tokens(const std::filesystem::path& tokenizer_json);

}  // namespace genai
