#include "text/tokenizer.h"

#include <fmt/core.h>

#include "base/mapped_file.h"
#include "text/hf_tokenizer.h"

namespace genai {

namespace {
constexpr size_t kMaxBytes = size_t{256} << 20;  // eight times the largest in use
}

std::shared_ptr<const Tokenizer> Tokenizer::open(const std::filesystem::path& tokenizer_json) {
  const auto file = nxrt::MappedFile::open(tokenizer_json);
  return parse({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()},
               tokenizer_json.filename().string());
}

std::shared_ptr<const Tokenizer> Tokenizer::parse(std::string_view json, const std::string& where) {
  if (json.size() > kMaxBytes) {
    throw Error(Code::out_of_capacity, fmt::format("file has {} bytes, expected at most {}", json.size(), kMaxBytes),
                where);
  }
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (const auto code = parser.parse(json.data(), json.size()).get(root); code != simdjson::SUCCESS) {
    throw Error(Code::corrupt, fmt::format("the file is not valid JSON: {}", simdjson::error_message(code)), where,
                "fetch the file again");
  }
  return std::make_shared<HfTokenizer>(JsonNode(root, where));
}

}  // namespace genai
