// onnx-genai: parses the command line, runs one subcommand, turns every error into one message and an exit code.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/interrupt.h"
#include "cli/report.h"

namespace genai::cli {
namespace {

// False: it was a call for help, now answered.
bool parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& asked) {
    app.exit(asked);
    return false;
  } catch (const CLI::RequiredError&) {
    const std::vector<std::string> rest = app.remaining();
    if (!app.get_subcommands().empty() || rest.empty()) throw;
    throw CLI::ParseError("there is no subcommand '" + rest.front() + "'", CLI::ExitCodes::ExtrasError);
  }
}

void expect_written_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw nxrt::Error(nxrt::Code::io, "the output can't be written", "standard output",
                    "send it to a file on a disk with free space");
}

int run(int argc, char** argv) {
  CLI::App app("Generative ONNX models on the CPU you have.", "onnx-genai");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of every subcommand");
  std::function<int()> chosen;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer("Example:\n  " + std::string(command.example));
    std::function<int()> action = command.define(*sub);
    sub->callback([&chosen, action] { chosen = action; });
  }
  add_config_file(app);
  return report_errors([&] {
    if (!parse(app, argc, argv)) return kOk;
    const int code = chosen();
    if (code == kOk) expect_written_output();
    return code;
  });
}

}  // namespace
}  // namespace genai::cli

int main(int argc, char** argv) {
  genai::cli::install_interrupt_handler();
  return genai::cli::run(argc, argv);
}
