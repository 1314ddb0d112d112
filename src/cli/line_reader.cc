#include "cli/line_reader.h"

#include <editline/readline.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "base/env.h"

namespace genai::cli {
namespace {

constexpr int kHistoryLines = 1000;
constexpr std::string_view kFence = "\"\"\"";
constexpr const char* kMore = "... ";

}  // namespace

LineReader::LineReader() : interactive_(::isatty(STDIN_FILENO) == 1) {
  if (!interactive_) return;
  using_history();
  if (const auto home = nxrt::read_env(nxrt::EnvName::home)) {
    history_file_ = *home + "/.onnx-genai_history";
    read_history(history_file_.c_str());
    stifle_history(kHistoryLines);
  }
}

LineReader::~LineReader() {
  if (!history_file_.empty()) write_history(history_file_.c_str());
}

std::optional<std::string> LineReader::line(const char* prompt) {
  if (!interactive_) {
    std::string text;
    if (!std::getline(std::cin, text)) return {};
    return text;
  }
  char* typed = readline(prompt);
  if (!typed) return {};
  std::string text(typed);
  std::free(typed);
  if (!text.empty()) add_history(text.c_str());
  return text;
}

std::optional<std::string> LineReader::read(const char* prompt) {
  std::optional<std::string> text = line(prompt);
  if (!text) return {};
  if (text->starts_with(kFence)) {
    std::string all = text->substr(kFence.size());
    while (!all.ends_with(kFence)) {
      const std::optional<std::string> more = line(kMore);
      if (!more) return all;
      all += "\n" + *more;
    }
    return all.substr(0, all.size() - kFence.size());
  }
  while (text->ends_with('\\')) {
    text->back() = '\n';
    const std::optional<std::string> more = line(kMore);
    if (!more) break;
    *text += *more;
  }
  return text;
}

}  // namespace genai::cli
