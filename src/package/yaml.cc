#include "package/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFix = "repair the file, or get the model again";

// Turns nodes into values, counting them: an alias may repeat a large part cheaply in YAML, not in memory.
class Converter {
 public:
  explicit Converter(const std::string& where) : where_(where) {}

  Json convert(const YAML::Node& node, int depth = 0) {
    if (++values_ > kMaxValues || depth > kMaxDepth) {
      throw Error(Code::out_of_capacity, "the file holds more than 1000000 values or 100 levels", where_, kFix);
    }
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const YAML::Node& item : node) list.push_back(convert(item, depth + 1));
      return list;
    }
    if (node.IsMap()) {
      Json object = Json::object();
      for (const auto& member : node) {
        if (!member.first.IsScalar()) throw Error(Code::corrupt, "a key is not a scalar", place_of(member.first), kFix);
        object[member.first.Scalar()] = convert(member.second, depth + 1);
      }
      return object;
    }
    return node.IsScalar() ? scalar(node) : Json(nullptr);
  }

 private:
  static constexpr int kMaxValues = 1'000'000, kMaxDepth = 100;

  static Json scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") return text;  // quoted
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    const char *begin = text.data() + (text[0] == '+' ? 1 : 0), *end = text.data() + text.size();
    int64_t integer = 0;
    if (const auto [stop, error] = std::from_chars(begin, end, integer); error == std::errc() && stop == end)
      return integer;
    double real = 0;
    if (const auto [stop, error] = std::from_chars(begin, end, real); error == std::errc() && stop == end) return real;
    return text;
  }

  std::string place_of(const YAML::Node& node) const {
    return fmt::format("{} > line {}", where_, node.Mark().line + 1);
  }

  const std::string& where_;
  int values_ = 0;
};

}  // namespace

Json yaml_to_json(std::string_view text, const std::string& where) {
  YAML::Node root;
  try {  // yaml-cpp reports bad syntax in no other way
    root = YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    throw Error(Code::corrupt, "the file is not valid YAML: " + error.msg,
                fmt::format("{} > line {}, column {}", where, error.mark.line + 1, error.mark.column + 1), kFix);
  }
  return Converter(where).convert(root);
}

}  // namespace genai
