// A progress bar on stderr: redrawn in place on a terminal, one line per tenth elsewhere.
//
// Threads: one. The line is finished by the destructor.
#pragma once

#include <cstdint>
#include <string>

namespace genai::cli {

class ProgressBar {
 public:
  ~ProgressBar();
  void show(const std::string& stage, int64_t done, int64_t total);

 private:
  int last_ = -1;  // tenths of a percent on a terminal, tenths elsewhere
  std::string stage_;
};

}  // namespace genai::cli
