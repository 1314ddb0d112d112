// A terminal with onnx-genai in it: what a person types and sees.
#pragma once

#include <string>
#include <vector>

namespace genai::cli {

class Terminal {
 public:
  // `home`: where the line history goes.
  Terminal(const std::vector<std::string>& arguments, const std::string& home);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys);
  void signal(int number);
  bool shows(const std::string& text);  // waits for it (at most 60 s), from what the last call found on
  int wait();                           // the exit code, 128 + n when signal n ended it
  const std::string& screen() const { return screen_; }

 private:
  bool read_some();  // false: nothing more comes, or the time is over
  int pid_ = -1, terminal_ = -1;
  std::string screen_;
  size_t seen_ = 0;
};

inline constexpr const char* kCtrlC = "\x03";
inline constexpr const char* kCtrlD = "\x04";

}  // namespace genai::cli
