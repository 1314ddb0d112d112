// The tokenizers of tests/golden/text/tokenizer_cases.json.
//
//   for (const GoldenCase& c : golden_cases()) Tokenizer::parse(c.tokenizer_json, c.name);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace genai::test {

struct GoldenRow {
  std::string text;
  std::vector<TokenId> ids, plain_ids, unparsed_ids;  // with and without special tokens; special tokens read as text
  std::string decoded, decoded_plain;                 // of ids; without special tokens
};

struct GoldenCase {
  std::string name;
  std::string tokenizer_json;
  std::vector<GoldenRow> rows;
};

const std::vector<GoldenCase>& golden_cases();
const GoldenCase& golden_case(const std::string& name);

}  // namespace genai::test
