// onnx-genai: parses the command line, runs one subcommand, turns every error into one message and an exit code.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "base/error.h"
#include "cli/command.h"
#include "cli/interrupt.h"

namespace genai::cli {
namespace {

int report(const nxrt::Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return error.code() == nxrt::Code::cancelled ? kInterrupted : kRuntimeError;
}

int run(int argc, char** argv) {
  CLI::App app("Generative ONNX models on the CPU you have.", "onnx-genai");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of every subcommand");
  std::function<int()> chosen;
  for (const Command& command : all_commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer("Example:\n  " + std::string(command.example));
    sub->set_config("--config", "", "Read options from this file (TOML or INI)");
    std::function<int()> action = command.define(*sub);
    sub->callback([&chosen, action] { chosen = action; });
  }
  try {
    app.parse(argc, argv);
    return chosen();
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == 0;
    app.exit(error);
    return asked_for_help ? kOk : kUsageError;
  } catch (const nxrt::Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report({nxrt::Code::out_of_capacity, "out of memory", "", "use a smaller model, context or --kv-memory"});
  } catch (const std::exception& error) {
    return report({nxrt::Code::internal, error.what(), "", "this is a bug of onnx-genai: please report it"});
  }
}

}  // namespace
}  // namespace genai::cli

int main(int argc, char** argv) {
  genai::cli::install_interrupt_handler();
  return genai::cli::run(argc, argv);
}
