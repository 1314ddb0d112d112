#include "convert/filler_tokenizer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "convert/tokenizer_json.h"
#include "text/byte_level.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

constexpr const char* kEnd = "<|endoftext|>";
constexpr const char* kChatTemplate =
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}";

}  // namespace

GgufTokenizer make_filler_tokenizer(int64_t vocab_size) {
  if (vocab_size < 257) {
    throw Error(Code::invalid_argument, fmt::format("the vocabulary has {} tokens, expected 257 at least", vocab_size),
                "vocab_size", "the end of text and each of the 256 bytes need one");
  }
  std::vector<std::string> texts = {kEnd};
  for (int byte = 0; byte < 256; ++byte) texts.push_back(bytes_to_chars(std::string(1, static_cast<char>(byte))));
  for (int64_t id = 257; id < vocab_size; ++id) texts.push_back(fmt::format("[{}]", id));

  Vocabulary vocabulary;
  vocabulary.tokens.assign(texts.begin(), texts.end());
  vocabulary.kinds.assign(texts.size(), TokenKind::normal);
  vocabulary.kinds[0] = TokenKind::control;
  TokenizerSettings settings{.where = "tokenizer.json", .pattern = find_bpe_pattern("gpt-2"), .bos = 0, .eos = 0};

  GgufTokenizer made;
  made.tokenizer_json = byte_level_tokenizer_json(vocabulary, settings);
  made.vocab_size = static_cast<int>(vocab_size);
  made.bos = made.eos = 0;
  made.end_ids = {0};
  made.bos_token = made.eos_token = kEnd;
  made.chat_templates["default"] = kChatTemplate;
  return made;
}

}  // namespace genai
