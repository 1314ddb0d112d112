#include "cli/prompt_source.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/mapped_file.h"
#include "text/unicode.h"

namespace genai::cli {

void PromptSource::add(CLI::App& app) {
  CLI::Option_group* group = app.add_option_group("Prompt", "Exactly one of");
  group->add_option("-p,--prompt", text, "The prompt");
  group->add_option("-f,--prompt-file", file, "Read the prompt from a file");
  group->add_option("--token-ids", token_ids, "The prompt as token ids: 1,2,3");
  group->add_option("STDIN", dash, "-: read the prompt from standard input")->check(CLI::IsMember({"-"}));
  group->require_option(0, 1);
}

std::string PromptSource::read() const {
  if (!file.empty() && file != "-") {
    const auto mapped = nxrt::MappedFile::open(file);
    std::string given(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size());
    expect_utf8(given, file);
    return given;
  }
  const bool nothing_given = text.empty() && file.empty() && dash.empty();
  if (nothing_given && ::isatty(STDIN_FILENO) == 1) {
    throw CLI::RequiredError("a prompt: --prompt TEXT, --prompt-file FILE, --token-ids IDS, or - for standard input");
  }
  if (nothing_given || !dash.empty() || file == "-") {
    std::string given(std::istreambuf_iterator<char>(std::cin), {});
    expect_utf8(given, "standard input");
    return given;
  }
  expect_utf8(text, "--prompt");
  return text;
}

std::vector<TokenId> PromptSource::ids(int vocab_size) const {
  std::vector<TokenId> ids;
  size_t begin = 0;
  while (begin <= token_ids.size()) {
    const size_t end = std::min(token_ids.find(',', begin), token_ids.size());
    std::string_view item(token_ids.data() + begin, end - begin);
    while (item.starts_with(' ')) item.remove_prefix(1);
    int32_t id = -1;
    const auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), id);
    if (error != std::errc() || stop != item.data() + item.size() || id < 0 || id >= vocab_size) {
      throw Error(Code::invalid_argument,
                  "'" + std::string(item) + "' is not a token id from 0 to " + std::to_string(vocab_size - 1),
                  "--token-ids > item " + std::to_string(ids.size()), "give ids separated by commas: 1,2,3");
    }
    ids.emplace_back(id);
    begin = end + 1;
  }
  return ids;
}

void expect_utf8(std::string_view text, const std::string& at) {
  const size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos) return;
  throw Error(Code::invalid_argument, "the text is not valid UTF-8 at byte " + std::to_string(bad), at,
              "convert it to UTF-8");
}

}  // namespace genai::cli
