#include "cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace genai::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProgram = NXRT_BINARY_DIR "/onnx-genai";
constexpr std::chrono::seconds kLimit(60);

class Process {
 public:
  Process(const char* file, const std::vector<std::string>& arguments, const std::string& input) {
    std::array<int, 2> in{}, out{}, err{};
    if (::pipe2(in.data(), O_CLOEXEC) || ::pipe2(out.data(), O_CLOEXEC) || ::pipe2(err.data(), O_CLOEXEC))
      ADD_FAILURE() << "no pipe";
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      std::vector<char*> argv = {const_cast<char*>(file)};
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      ::execv(file, argv.data());
      ::_exit(99);
    }
    ::close(in[0]);
    ::close(out[1]);
    ::close(err[1]);
    const ssize_t written = ::write(in[1], input.data(), input.size());  // small enough for the pipe's buffer
    EXPECT_EQ(written, static_cast<ssize_t>(input.size()));
    ::close(in[1]);
    out_ = out[0];
    err_ = err[0];
  }

  // Reads both streams until they end, or until stdout holds `until`.
  void read(Outcome& outcome, const std::string& until) {
    const auto deadline = std::chrono::steady_clock::now() + kLimit;
    std::array<pollfd, 2> streams = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "the program did not end in time; so far:\n" << outcome.out << outcome.err;
        ::kill(pid_, SIGKILL);
        return;
      }
      ::poll(streams.data(), streams.size(), 100);
      take(streams[0], outcome.out);
      take(streams[1], outcome.err);
      if (!until.empty() && (outcome.out + outcome.err).find(until) != std::string::npos) return;
    }
  }

  void signal(int number) const { ::kill(pid_, number); }

  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ::close(out_);
    ::close(err_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  static void take(pollfd& stream, std::string& text) {
    if (stream.fd < 0 || stream.revents == 0) return;
    std::array<char, 4096> buffer{};
    const ssize_t n = ::read(stream.fd, buffer.data(), buffer.size());
    if (n > 0) {
      text.append(buffer.data(), static_cast<size_t>(n));
    } else {
      stream.fd = -1;
    }
  }

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments, const std::string& input) {
  Outcome outcome;
  Process process(kProgram, arguments, input);
  process.read(outcome, "");
  outcome.exit_code = process.wait();
  return outcome;
}

Outcome run_shell(const std::string& script) {
  Outcome outcome;
  Process process("/bin/sh", {"-c", script, kProgram}, {});
  process.read(outcome, "");
  outcome.exit_code = process.wait();
  return outcome;
}

Outcome interrupt_program(const std::vector<std::string>& arguments, const std::string& until, int times,
                          const std::string& input) {
  Outcome outcome;
  Process process(kProgram, arguments, input);
  process.read(outcome, until);
  for (int i = 0; i < times; ++i) {
    process.signal(SIGINT);
    ::usleep(50'000);
  }
  process.read(outcome, "");
  outcome.exit_code = process.wait();
  return outcome;
}

std::string fixture(const std::string& name) { return std::string(NXRT_SOURCE_DIR "/tests/fixtures/") + name; }

ScratchFolder::ScratchFolder() {
  std::string pattern = (fs::temp_directory_path() / "onnx_genai_cli_XXXXXX").string();
  path = ::mkdtemp(pattern.data());
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace genai::cli
