// Reads the fields of a JSON body, strictly: a wrong type or value is a 400 that names the field, its value and what
// was expected; null is the same as absent.
//
//   Fields fields(body_object(http.body));
//   const float temperature = fields.number("temperature", 0, 2).value_or(1);
//
// Threads: one. Errors: ApiError{400, param = the field's path}. Memory: refers to the object, which must outlive it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api_error.h"

namespace genai::serve {

// The body as a JSON object. Bounded: at most kMaxDepth levels.
inline constexpr int kMaxDepth = 64;
Json body_object(std::string_view body);
std::string shown(const Json& value);  // a value for an error message, shortened

class Fields {
 public:
  explicit Fields(const Json& object, std::string path = {}) : object_(object), path_(std::move(path)) {}

  const Json* find(const char* name);  // null: absent or null
  const Json& required(const char* name, const char* expected);
  std::optional<std::string> text(const char* name);
  std::optional<bool> boolean(const char* name);
  std::optional<double> number(const char* name, double least, double most);
  std::optional<int64_t> integer(const char* name, int64_t least, int64_t most);
  std::vector<std::string> texts(const char* name, size_t most);  // a text or an array of texts
  std::optional<std::string> one_of(const char* name, const std::vector<std::string>& allowed);

  std::string path(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }
  [[noreturn]] void refuse(const char* name, const Json& value, const std::string& expected) const;
  // --strict: a field that nobody asked about is an error.
  void refuse_unread() const;

 private:
  const Json& object_;
  std::string path_;
  std::set<std::string> read_;
};

}  // namespace genai::serve
