#include "cli/line_reader.h"

#include <editline/readline.h>
#include <poll.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "base/env.h"
#include "cli/interrupt.h"
#include "text/unicode.h"

namespace genai::cli {
namespace {

constexpr int kHistoryLines = 1000;
constexpr std::string_view kFence = "\"\"\"";
constexpr const char* kMore = "... ";
constexpr int kPollMs = 100;  // how late a Ctrl-C that came just before the wait may be noticed

// One character of standard input. The editor's own function starts again after a signal; this one ends at Ctrl-C.
int read_char(FILE*) {
  std::string bytes;
  do {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    while (::poll(&input, 1, kPollMs) <= 0) {
      if (CooperativeInterrupt::pending()) return EOF;
    }
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) != 1) return EOF;
    bytes += byte;
  } while (bytes.size() < utf8_length(static_cast<unsigned char>(bytes[0])));
  return static_cast<int>(find_invalid_utf8(bytes) == std::string_view::npos ? decode_char(bytes, 0) : U'\uFFFD');
}

}  // namespace

LineReader::LineReader() : interactive_(::isatty(STDIN_FILENO) == 1) {
  if (!interactive_) return;
  std::setlocale(LC_CTYPE, "C.UTF-8");  // the editor takes characters apart by it; text is UTF-8 here everywhere
  rl_getc_function = read_char;
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
  const CooperativeInterrupt interrupt;
  char* typed = readline(prompt);
  interrupted_ = interrupt.pending();
  if (!typed || interrupted_) {
    std::free(typed);
    return {};
  }
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
      if (!more) return interrupted_ ? std::nullopt : std::optional(all);
      all += "\n" + *more;
    }
    return all.substr(0, all.size() - kFence.size());
  }
  while (text->ends_with('\\')) {
    text->back() = '\n';
    const std::optional<std::string> more = line(kMore);
    if (!more && interrupted_) return {};
    if (!more) break;
    *text += *more;
  }
  return text;
}

}  // namespace genai::cli
