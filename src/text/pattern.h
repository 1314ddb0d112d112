// What Replace and Split look for: {"String": …} or {"Regex": …}.
//
// Threads: immutable. Errors: parse throws Error naming the key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/json_node.h"
#include "text/regex.h"

namespace genai {

class Pattern {
 public:
  static Pattern parse(const JsonNode& node);
  explicit Pattern(std::string literal) : literal_(std::move(literal)) {}
  explicit Pattern(Regex regex) : regex_(std::move(regex)) {}

  bool is_literal() const { return !regex_; }
  const std::string& literal() const { return literal_; }

  // Calls found(begin, end) for every match, left to right, without overlaps.
  template <class Found>
  void each(std::string_view text, Found&& found) const {
    if (regex_) {
      if (text.empty()) return;
      for (Matches m(*regex_, text); m.next();) found(m.begin(), m.end());
    } else if (!literal_.empty()) {
      for (size_t at = 0; (at = text.find(literal_, at)) != std::string_view::npos; at += literal_.size()) {
        found(at, at + literal_.size());
      }
    }
  }

  void replace(std::string& text, std::string_view content) const;

 private:
  std::string literal_;
  std::optional<Regex> regex_;
};

}  // namespace genai
