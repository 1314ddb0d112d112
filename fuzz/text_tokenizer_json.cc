// tokenizer.json from anyone, then a text through what it makes. Input: the file, a zero byte, the text.
#include <cstdint>
#include <string_view>

#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(input.find('\0'), input.size());
  try {
    const auto tokenizer = genai::Tokenizer::parse(input.substr(0, end), "tokenizer.json");
    std::string text = "Hello <s> w\u00f6rld 123";
    if (end < input.size()) genai::append_lossy(text, input.substr(end + 1));
    const auto ids = tokenizer->encode(text);
    genai::Detokenizer detokenizer(tokenizer, false);
    std::string joined;
    for (const auto id : ids) joined += detokenizer.push(id);
    if (joined + detokenizer.finish() != tokenizer->decode(ids, false)) __builtin_trap();
  } catch (const nxrt::Error&) {
  }
  return 0;
}
