// A subcommand. Its file src/cli/commands/<name>.cc defines `Command <name>()`; CMake generates the table and fails
// when tests/cli/<name>_test.cc is missing.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace genai::cli {

// What `main` returns to the shell.
inline constexpr int kOk = 0, kRuntimeError = 1, kUsageError = 2, kInterrupted = 130;

struct Command {
  std::string_view name, summary, example;
  // Adds the options; what it returns runs once they are parsed and answers with the exit code. Throws Error.
  std::function<std::function<int()>(CLI::App& app)> define;
};

std::span<const Command> all_commands();

}  // namespace genai::cli
