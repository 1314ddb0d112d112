#include "package/config_node.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "package/yaml.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;

std::string shown(const nlohmann::ordered_json& value) {
  if (value.is_structured() && !value.empty())  // writing a deeply nested one would exhaust the stack
    return fmt::format("{} of {} elements", value.is_array() ? "a list" : "an object", value.size());
  std::string text = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return text.size() <= 60 ? text : fmt::format("{} of {} bytes", value.type_name(), text.size());
}

std::shared_ptr<nxrt::MappedFile> map_config(const std::filesystem::path& file) {
  auto mapped = nxrt::MappedFile::open(file);
  if (mapped->bytes().size() <= kMaxBytes) return mapped;
  throw Error(Code::out_of_capacity,
              fmt::format("the file has {} bytes, expected at most 64 MiB", mapped->bytes().size()), file.string());
}

std::string_view text_of(const nxrt::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

ConfigNode::ConfigNode(std::shared_ptr<const Json> root, const Json* value, std::string where)
    : root_(std::move(root)), value_(value && !value->is_null() ? value : nullptr), where_(std::move(where)) {}

ConfigNode ConfigNode::read_json(const std::filesystem::path& file) {
  return parse_json(text_of(*map_config(file)), file.filename().string());
}

ConfigNode ConfigNode::read_yaml(const std::filesystem::path& file) {
  return parse_yaml(text_of(*map_config(file)), file.filename().string());
}

ConfigNode ConfigNode::parse_json(std::string_view text, const std::string& where) {
  auto root = std::make_shared<const Json>(Json::parse(text, nullptr, false));
  if (root->is_discarded()) {
    throw Error(Code::corrupt, "the file is not valid JSON", where, "repair the file, or get the model again");
  }
  return ConfigNode(root, root.get(), where);
}

ConfigNode ConfigNode::parse_yaml(std::string_view text, const std::string& where) {
  auto root = std::make_shared<const Json>(yaml_to_json(text, where));
  return ConfigNode(root, root.get(), where);
}

bool ConfigNode::is_text() const { return value_ && value_->is_string(); }
bool ConfigNode::is_list() const { return value_ && value_->is_array(); }

void ConfigNode::fail(const std::string& expected) const {
  throw Error(Code::corrupt, fmt::format("the value is {}, expected {}", value_ ? shown(*value_) : "null", expected),
              where_, "correct the value in the file, or get the model again");
}

std::string ConfigNode::place_of(const std::string& key) const {
  const bool root = where_.find(" > ") == std::string::npos;
  return where_ + (root ? " > " : ".") + key;
}

ConfigNode ConfigNode::value(const std::string& key) const {
  if (!value_) return ConfigNode(root_, nullptr, place_of(key));
  if (!value_->is_object()) fail("an object");
  const auto found = value_->find(key);
  return ConfigNode(root_, found == value_->end() ? nullptr : &*found, place_of(key));
}

ConfigNode ConfigNode::operator[](const std::string& key) const {
  ConfigNode section = value(key);
  if (section.value_ && !section.value_->is_object()) section.fail("an object");
  return section;
}

std::vector<ConfigNode> ConfigNode::items() const {
  std::vector<ConfigNode> all;
  if (!value_) return all;
  if (!value_->is_array()) fail("a list");
  for (size_t i = 0; i < value_->size(); ++i)
    all.push_back(ConfigNode(root_, &(*value_)[i], fmt::format("{}[{}]", where_, i)));
  return all;
}

std::vector<std::pair<std::string, ConfigNode>> ConfigNode::members() const {
  std::vector<std::pair<std::string, ConfigNode>> all;
  if (!value_) return all;
  if (!value_->is_object()) fail("an object");
  for (auto member = value_->begin(); member != value_->end(); ++member) {
    all.emplace_back(member.key(), ConfigNode(root_, &*member, place_of(member.key())));
  }
  return all;
}

std::optional<int64_t> ConfigNode::integer(const std::string& key, int64_t lowest, int64_t highest) const {
  const ConfigNode node = value(key);
  if (!node.value_) return std::nullopt;
  const bool fits = node.value_->is_number_integer() &&
                    !(node.value_->is_number_unsigned() && node.value_->get<uint64_t>() > uint64_t{INT64_MAX});
  const int64_t number = fits ? node.value_->get<int64_t>() : 0;
  if (!fits || number < lowest || number > highest) node.fail(fmt::format("an integer from {} to {}", lowest, highest));
  return number;
}

std::optional<double> ConfigNode::number(const std::string& key) const {
  const ConfigNode node = value(key);
  if (!node.value_) return std::nullopt;
  if (!node.value_->is_number()) node.fail("a number");
  return node.value_->get<double>();
}

std::optional<bool> ConfigNode::boolean(const std::string& key) const {
  const ConfigNode node = value(key);
  if (!node.value_) return std::nullopt;
  if (!node.value_->is_boolean()) node.fail("true or false");
  return node.value_->get<bool>();
}

std::string ConfigNode::own_text() const {
  if (!is_text()) fail("a string");
  return value_->get<std::string>();
}

std::optional<std::string> ConfigNode::text(const std::string& key) const {
  const ConfigNode node = value(key);
  return node.value_ ? std::optional(node.own_text()) : std::nullopt;
}

std::vector<int64_t> ConfigNode::integers(const std::string& key) const {
  const ConfigNode node = value(key);
  std::vector<int64_t> all;
  if (!node.value_) return all;
  for (const ConfigNode& item : node.is_list() ? node.items() : std::vector{node}) {
    if (!item.value_ || !item.value_->is_number_integer())
      item.fail(node.is_list() ? "an integer" : "an integer or a list of integers");
    all.push_back(item.value_->get<int64_t>());
  }
  return all;
}

std::vector<std::string> ConfigNode::texts(const std::string& key) const {
  std::vector<std::string> all;
  for (const ConfigNode& item : value(key).items()) all.push_back(item.own_text());
  return all;
}

}  // namespace genai
