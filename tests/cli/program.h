// Runs the built onnx-genai as a user would.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace genai::cli {

struct Outcome {
  int exit_code = -1;  // 128 + n when signal n ended it
  std::string out, err;
};

Outcome run_program(const std::vector<std::string>& arguments, const std::string& input = {});

// The same, started by a shell script in which "$0" is the program: for limits and redirections.
Outcome run_shell(const std::string& script);

// Starts it, waits until stdout or stderr holds `until`, sends SIGINT `times` times, and waits for the end (at most 20
// s).
Outcome interrupt_program(const std::vector<std::string>& arguments, const std::string& until, int times,
                          const std::string& input = {});

std::string fixture(const std::string& name);  // tests/fixtures/<name>

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  std::filesystem::path path;
};

}  // namespace genai::cli
