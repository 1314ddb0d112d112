// Where a prompt comes from: text, a file, standard input, or token ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace CLI {
class App;
}

namespace genai::cli {

struct PromptSource {
  std::string text, file, token_ids, dash;

  void add(CLI::App& app);
  bool is_token_ids() const { return !token_ids.empty(); }
  std::string read() const;                        // UTF-8; throws Error naming the file
  std::vector<TokenId> ids(int vocab_size) const;  // of --token-ids; throws Error{invalid_argument} naming the item
};

// Throws Error{invalid_argument} with the byte; `at` says where the text is from.
void expect_utf8(std::string_view text, const std::string& at);

}  // namespace genai::cli
