// A value inside a configuration file, read with its type checked.
//
//   ConfigNode root = ConfigNode::read_json(folder / "genai_config.json");
//   root["model"].integer("context_length", 1, 1 << 30)   // nullopt: absent or null
//
// Threads: immutable. Errors: Error{corrupt} "file > key.of.key: found, expected" for another type or range; read_*
// also Error{not_found | io | out_of_capacity}. Memory: a file of more than 64 MiB is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace genai {

class ConfigNode {
 public:
  static ConfigNode read_json(const std::filesystem::path& file);
  static ConfigNode read_yaml(const std::filesystem::path& file);
  static ConfigNode parse_json(std::string_view text, const std::string& where);
  static ConfigNode parse_yaml(std::string_view text, const std::string& where);

  bool present() const { return value_ != nullptr; }  // neither absent nor null
  bool is_text() const;
  bool is_list() const;
  const std::string& where() const { return where_; }  // "genai_config.json > model.decoder"

  ConfigNode operator[](const std::string& key) const;  // a section: absent, or an object
  ConfigNode value(const std::string& key) const;       // of any type
  std::vector<ConfigNode> items() const;                // of a list; empty when absent
  std::vector<std::pair<std::string, ConfigNode>> members() const;

  std::optional<int64_t> integer(const std::string& key, int64_t lowest, int64_t highest) const;
  std::optional<double> number(const std::string& key) const;
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::string> text(const std::string& key) const;
  std::vector<int64_t> integers(const std::string& key) const;  // one integer, or a list of them
  std::vector<std::string> texts(const std::string& key) const;
  std::string own_text() const;  // this value is a string
  // Throws Error{corrupt}: what this value is, and `expected`.
  [[noreturn]] void fail(const std::string& expected) const;

 private:
  using Json = nlohmann::ordered_json;
  ConfigNode(std::shared_ptr<const Json> root, const Json* value, std::string where);
  std::string place_of(const std::string& key) const;

  std::shared_ptr<const Json> root_;
  const Json* value_ = nullptr;
  std::string where_;
};

}  // namespace genai
