// onnx-genai run: a chat in the terminal.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/env.h"
#include "cli/command.h"
#include "cli/conversation.h"
#include "cli/line_reader.h"
#include "cli/prompt_source.h"
#include "cli/report.h"
#include "cli/statistics.h"

namespace genai::cli {
namespace {

struct Flags {
  ModelFlags model;
  SpeculationFlags speculation;
  SamplingFlags sampling;
  std::string system;
  bool stats = false;
};

constexpr const char* kHelp =
    "  /help            this list\n"
    "  /reset           forget the conversation\n"
    "  /system TEXT     start anew with this system message\n"
    "  /stats           figures after each answer, on or off\n"
    "  /profile         where the time went so far\n"
    "  /exit            end (also Ctrl-D)\n"
    "  A line that ends in \\ goes on; \"\"\" opens and closes a text of many lines; Ctrl-C stops an answer, twice "
    "ends.\n";

// Green where colours are wanted; \1 and \2 tell the line editor what has no width.
std::string prompt() {
  const bool plain = !nxrt::read_env(nxrt::EnvName::no_color).value_or("").empty();
  return plain ? "> " : "\1\033[1;32m\2> \1\033[0m\2";
}

// Loading takes seconds: a person sees that something happens.
class LoadingNote {
 public:
  explicit LoadingNote(const std::string& model) {
    if (watched_) std::fprintf(stderr, "loading %s …", model.c_str());
  }
  ~LoadingNote() {
    if (watched_) std::fprintf(stderr, "\r\033[K");
  }
  LoadingNote(const LoadingNote&) = delete;
  LoadingNote& operator=(const LoadingNote&) = delete;

 private:
  const bool watched_ = ::isatty(STDERR_FILENO) == 1;
};

OpenedModel open_model(const Flags& flags) {
  const LoadingNote note(flags.model.model);
  return open(flags.model, 1, flags.speculation);
}

class Chat {
 public:
  explicit Chat(const Flags& flags)
      : model_(open_model(flags)), conversation_(model_, flags.sampling, flags.system), stats_(flags.stats) {
    model_.loaded.session->profile().start(!flags.model.profile_trace.empty());
  }

  // A turn that fails doesn't end the chat; from a pipe, nobody saw it, so the exit code tells.
  int run() {
    if (lines_.interactive())
      std::fprintf(stderr, "%s, /help for help\n", model_.loaded.spec.folder.filename().c_str());
    int worst = kOk;
    for (bool again = false;;) {
      const std::optional<std::string> line = lines_.read(prompt_);
      if (lines_.interrupted()) {
        std::fprintf(stderr, again ? "\n" : "\nCtrl-C again, Ctrl-D or /exit ends the chat.\n");
        if (std::exchange(again, true) || CooperativeInterrupt::wants_end()) return kInterrupted;
        continue;
      }
      again = false;
      if (!line && lines_.interactive()) std::fprintf(stderr, "\n");
      if (!line) break;
      const int code = report_errors([&] { return turn(*line); });
      worst = std::max(worst, code);
      if (code == kEnd || code == kInterrupted) break;
    }
    return lines_.interactive() ? kOk : worst;
  }

  OpenedModel& model() { return model_; }

 private:
  static constexpr int kEnd = -1;

  int turn(const std::string& line) {
    expect_utf8(line, "the message");
    if (line.empty()) return kOk;
    if (line.starts_with('/')) return command(line) ? kOk : kEnd;
    return answer(line) || lines_.interactive() ? kOk : kInterrupted;
  }

  // False: end the chat.
  bool command(const std::string& line) {
    const std::string name = line.substr(0, line.find(' '));
    const std::string rest = name.size() < line.size() ? line.substr(name.size() + 1) : "";
    if (name == "/exit" || name == "/quit" || name == "/bye") return false;
    if (name == "/reset") {
      conversation_.reset();
    } else if (name == "/system") {
      conversation_.set_system(rest);
    } else if (name == "/stats") {
      stats_ = !stats_;
      std::fprintf(stderr, "figures are %s\n", stats_ ? "on" : "off");
    } else if (name == "/profile") {
      std::fprintf(stderr, "%s", model_.loaded.session->profile().table().c_str());
    } else {
      std::fprintf(stderr, "%s%s", name == "/help" ? "" : ("there is no command " + name + "\n").c_str(), kHelp);
    }
    return true;
  }

  // False: Ctrl-C stopped it.
  bool answer(const std::string& text) {
    const CooperativeInterrupt interrupt;
    const Answer answer = conversation_.turn(text, interrupt, [](std::string_view piece) {
      std::fwrite(piece.data(), 1, piece.size(), stdout);
      std::fflush(stdout);
    });
    std::printf("\n");
    std::fflush(stdout);
    const bool stopped = interrupt.pending();
    if (stopped) std::fprintf(stderr, "(stopped)\n");
    if (stats_) std::fprintf(stderr, "%s\n", statistics_line(answer.usage, answer.timings).c_str());
    if (!CooperativeInterrupt::wants_end()) CooperativeInterrupt::clear();
    return !stopped;
  }

  OpenedModel model_;
  Conversation conversation_;
  LineReader lines_;
  const std::string prompt_ = prompt();
  bool stats_;
};

}  // namespace

Command run() {
  return {"run", "Chat in the terminal", "onnx-genai run models/smollm2 --temperature 0.7",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            flags->model.add(app);
            flags->speculation.add(app);
            app.add_option("--system", flags->system, "System message");
            app.add_flag("--stats", flags->stats, "Figures after each answer, on stderr");
            flags->sampling.add(app);
            return [flags] {
              expect_utf8(flags->system, "--system");
              Chat chat(*flags);
              const int code = chat.run();
              report_profile(flags->model, chat.model());
              return code;
            };
          }};
}

}  // namespace genai::cli
