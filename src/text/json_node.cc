#include "text/json_node.h"

#include <fmt/core.h>

#include "base/error.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {
const char* name_of(simdjson::dom::element_type type) {
  using enum simdjson::dom::element_type;
  switch (type) {
    case ARRAY: return "an array";
    case OBJECT: return "an object";
    case STRING: return "a string";
    case BOOL: return "a boolean";
    case NULL_VALUE: return "null";
    default: return "a number";
  }
}
}  // namespace

void JsonNode::fail(std::string what, std::string fix) const {
  throw Error(Code::invalid_argument, std::move(what), where_,
              fix.empty() ? std::string("get the model's tokenizer.json again") : std::move(fix));
}

void JsonNode::unsupported(std::string what, std::string fix) const {
  throw Error(Code::unsupported, std::move(what), where_, std::move(fix));
}

void JsonNode::unknown_kind(std::string_view what, std::string_view kind, std::string_view supported) const {
  unsupported(fmt::format("{} kind '{}' is not supported, expected one of {}", what, kind.substr(0, 80), supported),
              "use a tokenizer.json made of the supported kinds");
}

void JsonNode::wrong_type(const char* expected) const {
  fail(fmt::format("is {}, expected {}", name_of(value_.type()), expected));
}

bool JsonNode::has(std::string_view key) const {
  simdjson::dom::element found;
  return object()[key].get(found) == simdjson::SUCCESS && !found.is_null();
}

JsonNode JsonNode::at(std::string_view key) const {
  simdjson::dom::element found;
  if (object()[key].get(found) != simdjson::SUCCESS) fail(fmt::format("key '{}' is missing", key));
  return {found, fmt::format("{} > {}", where_, key)};
}

JsonNode JsonNode::item(simdjson::dom::element value, size_t index) const {
  return {value, fmt::format("{}[{}]", where_, index)};
}

simdjson::dom::array JsonNode::array() const {
  simdjson::dom::array out;
  if (value_.get(out) != simdjson::SUCCESS) wrong_type("an array");
  return out;
}

simdjson::dom::object JsonNode::object() const {
  simdjson::dom::object out;
  if (value_.get(out) != simdjson::SUCCESS) wrong_type("an object");
  return out;
}

std::string_view JsonNode::string() const {
  std::string_view out;
  if (value_.get(out) != simdjson::SUCCESS) wrong_type("a string");
  return out;
}

int64_t JsonNode::integer() const {
  int64_t out = 0;
  if (value_.get(out) != simdjson::SUCCESS) wrong_type("an integer");
  return out;
}

double JsonNode::number() const {
  double out = 0;
  if (value_.get(out) != simdjson::SUCCESS) wrong_type("a number");
  return out;
}

std::string_view JsonNode::string(std::string_view key, std::string_view otherwise) const {
  return has(key) ? at(key).string() : otherwise;
}

bool JsonNode::boolean(std::string_view key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const JsonNode node = at(key);
  bool out = false;
  if (node.value_.get(out) != simdjson::SUCCESS) node.wrong_type("true or false");
  return out;
}

int64_t JsonNode::integer(std::string_view key, int64_t otherwise) const {
  return has(key) ? at(key).integer() : otherwise;
}

}  // namespace genai
