#include "serve/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace genai::serve {
namespace {
constexpr size_t kShownBytes = 60;

// Deep nesting would overflow the stack of what walks the values.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}
}  // namespace

Json body_object(std::string_view body) {
  if (body.empty()) throw ApiError::bad_request("", "the body is empty, expected a JSON object", "invalid_json");
  if (too_deep(body)) {
    throw ApiError::bad_request("", fmt::format("the body nests deeper than {} levels", kMaxDepth), "invalid_json");
  }
  Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) {
    throw ApiError::bad_request("", "the body is not valid JSON in UTF-8", "invalid_json");
  }
  if (!json.is_object()) {
    throw ApiError::bad_request("", "the body is " + shown(json) + ", expected a JSON object", "invalid_json");
  }
  return json;
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "…";
  return text;
}

const Json* Fields::find(const char* name) {
  read_.insert(name);
  const auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

const Json& Fields::required(const char* name, const char* expected) {
  if (const Json* value = find(name)) return *value;
  throw ApiError::bad_request(path(name), fmt::format("{} is missing, expected {}", path(name), expected),
                              "missing_required_parameter");
}

void Fields::refuse(const char* name, const Json& value, const std::string& expected) const {
  throw ApiError::bad_request(path(name), fmt::format("{} is {}, expected {}", path(name), shown(value), expected));
}

std::optional<std::string> Fields::text(const char* name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, *value, "a text");
  return value->get<std::string>();
}

std::optional<bool> Fields::boolean(const char* name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(name, *value, "true or false");
  return value->get<bool>();
}

std::optional<double> Fields::number(const char* name, double least, double most) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : NAN;
  if (!(number >= least && number <= most)) refuse(name, *value, fmt::format("a number from {} to {}", least, most));
  return number;
}

std::optional<int64_t> Fields::integer(const char* name, int64_t least, int64_t most) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_unsigned() ? value->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX) : true;
  if (!value->is_number_integer() || !fits || value->get<int64_t>() < least || value->get<int64_t>() > most) {
    refuse(name, *value, fmt::format("a whole number from {} to {}", least, most));
  }
  return value->get<int64_t>();
}

std::vector<std::string> Fields::texts(const char* name, size_t most) {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return {value->get<std::string>()};
  const std::string expected = fmt::format("a text or an array of at most {} texts", most);
  if (!value->is_array() || value->size() > most) refuse(name, *value, expected);
  std::vector<std::string> texts;
  for (const Json& item : *value) {
    if (!item.is_string()) refuse(name, *value, expected);
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::optional<std::string> Fields::one_of(const char* name, const std::vector<std::string>& allowed) {
  const std::optional<std::string> value = text(name);
  if (value && std::ranges::find(allowed, *value) == allowed.end()) {
    refuse(name, *value, fmt::format("one of {}", fmt::join(allowed, ", ")));
  }
  return value;
}

void Fields::refuse_unread() const {
  for (const auto& item : object_.items()) {
    if (read_.contains(item.key())) continue;
    throw ApiError::unsupported(path(item.key()), path(item.key()) + " is not a field of this route (--strict)");
  }
}

}  // namespace genai::serve
