#include "cli/line_reader.h"

#include <histedit.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
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

// One character of standard input; 0 at its end, and at Ctrl-C, after which the editor's own function would go on.
int read_char(EditLine*, wchar_t* to) {
  std::string bytes;
  do {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    do {
      if (CooperativeInterrupt::pending()) return 0;
    } while (::poll(&input, 1, kPollMs) <= 0);
    char byte = 0;
    if (::read(STDIN_FILENO, &byte, 1) != 1) return 0;
    bytes += byte;
  } while (bytes.size() < utf8_length(static_cast<unsigned char>(bytes[0])));
  const bool valid = find_invalid_utf8(bytes) == std::string_view::npos;
  *to = static_cast<wchar_t>(valid ? decode_char(bytes, 0) : U'\uFFFD');
  return 1;
}

}  // namespace

class LineReader::Editor {
 public:
  Editor() : edit_(el_init("onnx-genai", stdin, stdout, stderr)), history_(history_init()) {
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_GETCFN, read_char);
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT_ESC, prompt_of, '\1');
    // Between two lines: no echo, and keys as they come, or a Ctrl-D typed early would be lost.
    el_set(edit_, EL_SETTY, "-x", "-icanon", "-echo", nullptr);
    // While a line is edited, a Ctrl-C doesn't empty the terminal's buffer: between poll() and read() that would leave
    // the read waiting. line() empties it.
    el_set(edit_, EL_SETTY, "-d", "+noflsh", nullptr);
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    el_set(edit_, EL_HIST, history, history_);
    if (const auto home = nxrt::read_env(nxrt::EnvName::home)) {
      history_file_ = *home + "/.onnx-genai_history";
      history(history_, &event, H_LOAD, history_file_.c_str());
    }
    el_source(edit_, nullptr);
  }
  ~Editor() {
    HistEvent event;
    if (!history_file_.empty()) history(history_, &event, H_SAVE, history_file_.c_str());
    el_end(edit_);
    history_end(history_);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  // Without its line end; empty at the end of the input.
  std::optional<std::string> line(const std::string& prompt) {
    prompt_ = prompt;
    for (char& c : prompt_) c = c == '\2' ? '\1' : c;  // this editor has one character for both
    int count = 0;
    const char* typed = el_gets(edit_, &count);
    if (!typed || count <= 0) return {};
    std::string text(typed, static_cast<size_t>(count));
    HistEvent event;
    if (text.find_first_not_of("\r\n") != std::string::npos) history(history_, &event, H_ENTER, text.c_str());
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
  }

 private:
  static char* prompt_of(EditLine* edit) {
    void* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return static_cast<Editor*>(self)->prompt_.data();
  }

  const CooperativeInterrupt interrupt_;
  const RestoredTerminal terminal_;
  EditLine* edit_;
  History* history_;
  std::string history_file_, prompt_;
};

LineReader::LineReader() {
  if (::isatty(STDIN_FILENO) != 1) return;
  std::setlocale(LC_CTYPE, "C.UTF-8");  // the editor takes characters apart by it; text is UTF-8 here everywhere
  editor_ = std::make_unique<Editor>();
}

LineReader::~LineReader() = default;

std::optional<std::string> LineReader::line(const std::string& prompt) {
  if (!editor_) {
    std::string text;
    if (!std::getline(std::cin, text)) return {};
    return text;
  }
  std::optional<std::string> text = editor_->line(prompt);
  interrupted_ = CooperativeInterrupt::pending();
  if (!interrupted_) return text;
  CooperativeInterrupt::clear();
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  return {};
}

std::optional<std::string> LineReader::read(const std::string& prompt) {
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
