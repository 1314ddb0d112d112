// Holds back exactly the longest suffix of the text that could still become a stop string.
//
//   StopMatcher m({"\nUser:"});  out += m.push(piece);  if (m.stopped()) …;  out += m.finish();
//
// Text before the match is kept; the match and all after it are dropped. Of several stops the one that *ends* first
// wins, of those the one that starts first. Works on bytes, so any split of the stream gives the same text.
// Threads: one. Errors: an empty stop string throws Error{invalid_argument}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace genai {

class StopMatcher {
 public:
  explicit StopMatcher(std::vector<std::string> stops);
  std::string push(std::string_view text);  // what is now certain; empty after a match
  std::string finish();                     // flushes what was held back; empty after a match
  bool stopped() const { return matched_ >= 0; }
  int matched() const { return matched_; }  // index into the stops, -1: none yet

 private:
  static std::vector<size_t> failure_function(const std::string& stop);
  void advance(size_t stop, char byte);

  std::vector<std::string> stops_;
  std::vector<std::vector<size_t>> failure_;  // [stop][bytes matched]
  std::vector<size_t> progress_;              // [stop] how many of its bytes the text ends with
  std::string held_;
  int matched_ = -1;
};

}  // namespace genai
