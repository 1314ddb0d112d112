#include "cli/terminal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace genai::cli {

Terminal::Terminal(const std::vector<std::string>& arguments, const std::string& home) {
  winsize size{.ws_row = 40, .ws_col = 200, .ws_xpixel = 0, .ws_ypixel = 0};
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ == 0) {
    ::setenv("HOME", home.c_str(), 1);
    ::setenv("TERM", "dumb", 1);
    std::vector<char*> argv = {const_cast<char*>("onnx-genai")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(NXRT_BINARY_DIR "/onnx-genai", argv.data());
    ::_exit(99);
  }
}

Terminal::~Terminal() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(terminal_);
}

void Terminal::type(const std::string& keys) {
  EXPECT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

void Terminal::signal(int number) { EXPECT_EQ(::kill(pid_, number), 0); }

bool Terminal::read_some() {
  pollfd stream{terminal_, POLLIN, 0};
  std::array<char, 4096> buffer{};
  if (::poll(&stream, 1, 60'000) <= 0) return false;
  const ssize_t n = ::read(terminal_, buffer.data(), buffer.size());
  if (n > 0) screen_.append(buffer.data(), static_cast<size_t>(n));
  return n > 0;
}

bool Terminal::shows(const std::string& text) {
  for (;;) {
    const size_t at = screen_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!read_some()) return false;
  }
}

int Terminal::wait() {
  while (read_some()) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace genai::cli
