#include "package/added_tokens.h"

#include <simdjson.h>

#include "base/error.h"
#include "base/mapped_file.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

std::map<std::string, int64_t> read_added_tokens(const std::filesystem::path& tokenizer_json) {
  const auto fail = [&](simdjson::error_code error) {
    if (error == simdjson::SUCCESS) return;
    throw Error(Code::corrupt,
                std::string("the list of added tokens cannot be read: ") + simdjson::error_message(error),
                tokenizer_json.filename().string() + " > added_tokens", "get the model's tokenizer.json again");
  };
  const auto file = nxrt::MappedFile::open(tokenizer_json);
  const simdjson::padded_string text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::array list;
  std::map<std::string, int64_t> ids;
  fail(parser.iterate(text).get(document));
  const simdjson::error_code found = document.find_field("added_tokens").get_array().get(list);
  if (found == simdjson::NO_SUCH_FIELD) return ids;
  fail(found);
  for (auto entry : list) {
    simdjson::ondemand::object token;
    std::string_view content;
    int64_t id = 0;
    fail(entry.get_object().get(token));
    fail(token.find_field_unordered("content").get_string().get(content));
    fail(token.find_field_unordered("id").get_int64().get(id));
    ids.emplace(content, id);
  }
  return ids;
}

}  // namespace genai
