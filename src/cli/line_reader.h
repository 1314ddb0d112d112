// Lines from a person or a pipe. On a terminal: editing and a history kept in ~/.onnx-genai_history; a line that ends
// in a backslash goes on in the next one, and """ opens and closes a text of many lines. From a pipe: plain lines, same
// rules.
//
// Threads: one. Errors: a history that can't be written is not an error.
#pragma once

#include <optional>
#include <string>

namespace genai::cli {

class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  bool interactive() const { return interactive_; }
  std::optional<std::string> read(const char* prompt);  // empty at the end of the input, and after Ctrl-C
  bool interrupted() const { return interrupted_; }     // on a terminal: Ctrl-C ended the last read()

 private:
  std::optional<std::string> line(const char* prompt);
  bool interactive_, interrupted_ = false;
  std::string history_file_;
};

}  // namespace genai::cli
