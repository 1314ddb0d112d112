// onnx-genai run: a chat in the terminal.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/conversation.h"
#include "cli/line_reader.h"
#include "cli/statistics.h"

namespace genai::cli {
namespace {

struct Flags {
  ModelFlags model;
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

class Chat {
 public:
  explicit Chat(const Flags& flags)
      : model_(open(flags.model, 1)), conversation_(model_, flags.sampling, flags.system), stats_(flags.stats) {
    model_.loaded.session->profile().start(!flags.model.profile_trace.empty());
  }

  int run() {
    if (lines_.interactive())
      std::fprintf(stderr, "%s, /help for help\n", model_.loaded.spec.folder.filename().c_str());
    while (const std::optional<std::string> line = lines_.read("> ")) {
      if (line->empty()) continue;
      if (line->starts_with('/')) {
        if (!command(*line)) break;
      } else {
        answer(*line);
      }
    }
    return kOk;
  }

  OpenedModel& model() { return model_; }

 private:
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

  void answer(const std::string& text) {
    const CooperativeInterrupt interrupt;
    const Answer answer = conversation_.turn(text, interrupt, [](std::string_view piece) {
      std::fwrite(piece.data(), 1, piece.size(), stdout);
      std::fflush(stdout);
    });
    std::printf("\n");
    std::fflush(stdout);
    if (interrupt.pending()) std::fprintf(stderr, "(stopped)\n");
    if (stats_) std::fprintf(stderr, "%s\n", statistics_line(answer.usage, answer.timings).c_str());
  }

  OpenedModel model_;
  Conversation conversation_;
  LineReader lines_;
  bool stats_;
};

}  // namespace

Command run() {
  return {"run", "Chat in the terminal", "onnx-genai run models/smollm2 --temperature 0.7",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            flags->model.add(app);
            app.add_option("--system", flags->system, "System message");
            app.add_flag("--stats", flags->stats, "Figures after each answer, on stderr");
            flags->sampling.add(app);
            return [flags] {
              Chat chat(*flags);
              const int code = chat.run();
              report_profile(flags->model, chat.model());
              return code;
            };
          }};
}

}  // namespace genai::cli
