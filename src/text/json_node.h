// A value of a parsed JSON file that knows where it stands, so that every complaint names file and key.
//
//   JsonNode model = root.at("model");  std::string kind = model.string("type");
//
// Threads: a value; reads only. Errors: a missing key or a wrong type throws Error{invalid_argument}.
// Memory:  a view; the simdjson parser that made `value` must outlive it.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

namespace genai {

class JsonNode {
 public:
  JsonNode(simdjson::dom::element value, std::string where) : value_(value), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  bool is_null() const { return value_.is_null(); }
  bool is_array() const { return value_.is_array(); }
  bool is_string() const { return value_.is_string(); }
  bool has(std::string_view key) const;  // present and not null
  JsonNode at(std::string_view key) const;
  JsonNode item(simdjson::dom::element value, size_t index) const;

  simdjson::dom::array array() const;
  simdjson::dom::object object() const;
  std::string_view string() const;
  int64_t integer() const;
  double number() const;

  std::string_view string(std::string_view key) const { return at(key).string(); }
  std::string_view string(std::string_view key, std::string_view otherwise) const;
  bool boolean(std::string_view key, bool otherwise) const;
  int64_t integer(std::string_view key, int64_t otherwise) const;

  [[noreturn]] void fail(std::string what, std::string fix = {}) const;
  [[noreturn]] void unsupported(std::string what, std::string fix = {}) const;
  // "model kind 'X' is not supported, expected BPE, …"
  [[noreturn]] void unknown_kind(std::string_view what, std::string_view kind, std::string_view supported) const;

 private:
  [[noreturn]] void wrong_type(const char* expected) const;
  simdjson::dom::element value_;
  std::string where_;
};

}  // namespace genai
