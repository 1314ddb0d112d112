#include "cli/config_file.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace genai::cli {
namespace {

constexpr uintmax_t kMaxBytes = 1 << 20;

std::string why_unreadable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return "the file '" + path + "' does not exist";
  if (!std::filesystem::is_regular_file(status)) return "'" + path + "' is not a file";
  if (std::filesystem::file_size(path, error) > kMaxBytes) return "'" + path + "' has more than 1 MiB";
  return {};
}

// The parser knows sections as subcommands; here keys outside of one belong to the chosen subcommand too.
class ForChosenSubcommand : public CLI::ConfigTOML {
 public:
  explicit ForChosenSubcommand(const CLI::App& program) : program_(program) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> kept;
    if (program_.get_subcommands().empty()) return kept;
    const std::string chosen = program_.get_subcommands().front()->get_name();
    for (CLI::ConfigItem& item : CLI::ConfigTOML::from_config(input)) {
      const bool section_mark = item.name == "++" || item.name == "--";
      if (section_mark || (!item.parents.empty() && item.parents != std::vector{chosen} && is_subcommand(item)))
        continue;
      if (item.parents.empty()) item.parents = {chosen};
      kept.push_back(std::move(item));
    }
    return kept;
  }

 private:
  bool is_subcommand(const CLI::ConfigItem& item) const {
    const auto named = [&](const CLI::App* sub) { return sub->get_name() == item.parents.front(); };
    return item.parents.size() == 1 && !program_.get_subcommands(named).empty();
  }

  const CLI::App& program_;
};

}  // namespace

void add_config_file(CLI::App& program) {
  CLI::Option* files = program.set_config("--config-of-program")->group("");  // hidden: each subcommand shows its own
  for (CLI::App* subcommand : program.get_subcommands([](const CLI::App*) { return true; })) {
    const auto read_later = [files](const std::string& path) { files->add_result(path); };
    subcommand->add_option_function<std::string>("--config", read_later, "Read options from this file (TOML)")
        ->check(CLI::Validator([](const std::string& path) { return why_unreadable(path); }, "FILE"))
        ->configurable(false)
        ->trigger_on_parse();
  }
  program.allow_config_extras(CLI::config_extras_mode::error);
  program.config_formatter(std::make_shared<ForChosenSubcommand>(program));
}

}  // namespace genai::cli
