// Lines from a person or a pipe. On a terminal: editing and a history kept in ~/.onnx-genai_history; a line that ends
// in a backslash goes on in the next one, and """ opens and closes a text of many lines. From a pipe: plain lines, same
// rules.
//
// Between two read()s the terminal shows nothing of what is typed, and keeps it, Ctrl-D too, for the next one. Ctrl-C
// is cooperative as long as a LineReader of a terminal lives: one that comes between two read()s ends the next one.
//
// Threads: one. Errors: a history that can't be written is not an error.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace genai::cli {

class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  bool interactive() const { return editor_ != nullptr; }
  // Empty at the end of the input, and after Ctrl-C. \1 and \2 enclose what has no width in a prompt.
  std::optional<std::string> read(const std::string& prompt);
  bool interrupted() const { return interrupted_; }  // on a terminal: Ctrl-C ended the last read()

 private:
  class Editor;
  std::optional<std::string> line(const std::string& prompt);
  std::unique_ptr<Editor> editor_;  // null: not a terminal
  bool interrupted_ = false;
};

}  // namespace genai::cli
