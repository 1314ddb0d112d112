#include "golden_cases.h"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <stdexcept>

namespace genai::test {

namespace {
using Element = simdjson::dom::element;

std::vector<TokenId> read_ids(Element list) {
  std::vector<TokenId> ids;
  for (const Element id : list.get_array()) ids.emplace_back(static_cast<int32_t>(id.get_int64().value()));
  return ids;
}

GoldenRow read_row(Element row, std::string_view text) {
  GoldenRow out{.text = std::string(text), .ids = read_ids(row.at(0))};
  const auto ids_or = [&](size_t column, const std::vector<TokenId>& same) {
    return row.at(column).is_null() ? same : read_ids(row.at(column));
  };
  out.plain_ids = ids_or(1, out.ids);
  out.unparsed_ids = ids_or(4, out.plain_ids);
  out.decoded = std::string_view(row.at(2));
  out.decoded_plain = row.at(3).is_null() ? out.decoded : std::string(std::string_view(row.at(3)));
  return out;
}

std::vector<GoldenCase> read_cases() {
  simdjson::dom::parser parser;
  const Element file = parser.load(NXRT_SOURCE_DIR "/tests/golden/text/tokenizer_cases.json");
  std::vector<GoldenCase> out;
  for (const Element item : file["cases"].get_array()) {
    std::string spec = simdjson::minify(item["tokenizer"]);
    const std::string model = simdjson::minify(file["models"].at(item["model"].get_int64().value()));
    spec.back() = ',';  // the model joins the object
    GoldenCase c{std::string(std::string_view(item["name"])), spec + "\"model\":" + model + "}", {}};
    size_t i = 0;
    for (const Element row : item["rows"].get_array()) {
      c.rows.push_back(read_row(row, file["texts"].at(i++)));
    }
    out.push_back(std::move(c));
  }
  return out;
}
}  // namespace

const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> cases = read_cases();
  return cases;
}

const GoldenCase& golden_case(const std::string& name) {
  const auto& cases = golden_cases();
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const GoldenCase& c) { return c.name == name; });
  if (found == cases.end()) throw std::out_of_range("no golden case " + name);
  return *found;
}

}  // namespace genai::test
