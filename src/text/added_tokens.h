// Tokens written out in the text ("<|im_start|>") that are found before anything else cuts it.
//
//   tokens.split(AddedTokens::Stage::raw, text, true, [&](int32_t id, std::string_view piece, size_t begin) {…});
//
// Threads: immutable once built. Errors: a token longer than kMaxBytes is refused with Error{out_of_capacity}.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/json_node.h"
#include "text/normalizer.h"
#include "text/vocabulary.h"

namespace genai {

struct AddedToken {
  std::string content;
  int32_t id = -1;
  bool special = false;
  bool lstrip = false, rstrip = false;  // swallow the blanks before, after
  bool single_word = false;             // only where no word character touches it
  bool normalized = false;              // looked for in the normalized text
};

class AddedTokens {
 public:
  static constexpr size_t kMaxBytes = 1024;  // bounds the search per position
  enum class Stage { raw, normalized };
  // id -1: text between tokens. `begin` is the piece's offset.
  using Piece = std::function<void(int32_t id, std::string_view piece, size_t begin)>;

  // Reads "added_tokens"; tokens that `model` does not have get the next free ids, as Hugging Face gives them.
  void parse(const JsonNode& list, const Vocabulary& model, const Normalizer& normalizer);
  void split(Stage stage, std::string_view text, bool parse_special, const Piece& piece) const;

  const AddedToken* find(int32_t id) const;
  const AddedToken* find(std::string_view content) const;
  int32_t size() const { return size_; }  // highest id + 1

 private:
  class Trie {
   public:
    void add(std::string_view content, uint32_t token);
    // The longest token that starts at `at`; npos when none. `length`: its bytes.
    size_t longest(std::string_view text, size_t at, size_t& length) const;
    bool starts(unsigned char byte) const { return roots_[byte] != 0; }
    bool empty() const { return nodes_.size() == 1; }

   private:
    struct Node {
      uint32_t child = 0, sibling = 0;  // 0: none
      uint32_t token = 0;               // index + 1; 0: none ends here
      unsigned char byte = 0;
    };
    uint32_t child_of(uint32_t node, unsigned char byte) const;
    std::vector<Node> nodes_{Node{}};
    std::array<uint32_t, 256> roots_{};
  };

  void add(AddedToken token, int32_t model_id, int32_t model_size);

  std::vector<AddedToken> tokens_;
  std::unordered_map<int32_t, uint32_t> by_id_;
  std::unordered_map<std::string, uint32_t> by_content_;
  Trie raw_, normalized_;
  int32_t size_ = 0;
};

}  // namespace genai
