// The chat as a person meets it: keys typed into a terminal.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/program.h"
#include "cli/terminal.h"

namespace genai::cli {
namespace {

const std::string kModel = fixture("builder_llama_fp32");

TEST(RunInTerminal, CtrlCAtThePromptTwiceEnds) {
  const ScratchFolder home;
  Terminal terminal({"run", kModel, "--max-tokens", "3"}, home.path.string());
  ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
  terminal.type("half a line");
  terminal.type(kCtrlC);
  ASSERT_TRUE(terminal.shows("Ctrl-C again")) << terminal.screen();
  terminal.type("/stats\n");  // the half line is gone, and counting starts anew
  ASSERT_TRUE(terminal.shows("figures are on")) << terminal.screen();
  terminal.type(kCtrlC);
  ASSERT_TRUE(terminal.shows("Ctrl-C again")) << terminal.screen();
  terminal.type(kCtrlC);
  EXPECT_EQ(terminal.wait(), kInterrupted);
}

TEST(RunInTerminal, CtrlDEndsAndTheHistoryIsKept) {
  const ScratchFolder home;
  Terminal terminal({"run", kModel, "--max-tokens", "3", "--stats"}, home.path.string());
  ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
  terminal.type("hello there\n");
  ASSERT_TRUE(terminal.shows("first token")) << terminal.screen();
  ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
  terminal.type(kCtrlD);
  EXPECT_EQ(terminal.wait(), kOk);
  std::ifstream file(home.path / ".onnx-genai_history");
  const std::string history(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(history.find("hello"), std::string::npos);
}

// The first answer takes a moment: the keys arrive while no prompt waits for them.
TEST(RunInTerminal, WhatIsTypedDuringAnAnswerWaitsForThePrompt) {
  const ScratchFolder home;
  Terminal terminal({"run", kModel, "--max-tokens", "60", "--ignore-eos"}, home.path.string());
  ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
  terminal.type("hello\n/stats\n");
  terminal.type(kCtrlD);
  EXPECT_EQ(terminal.wait(), kOk) << terminal.screen();
  EXPECT_NE(terminal.screen().find("figures are on"), std::string::npos) << terminal.screen();
}

TEST(RunInTerminal, CtrlCBetweenTwoPromptsIsOneAtThePrompt) {
  for (int i = 0; i < 5; ++i) {
    const ScratchFolder home;
    Terminal terminal({"run", kModel, "--max-tokens", "3"}, home.path.string());
    ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
    terminal.type("/stats\n");
    ASSERT_TRUE(terminal.shows("figures are on")) << terminal.screen();
    terminal.type(kCtrlC);  // the prompt may be there or not
    ASSERT_TRUE(terminal.shows("Ctrl-C again")) << terminal.screen();
    terminal.type("/exit\n");
    EXPECT_EQ(terminal.wait(), kOk);
  }
}

TEST(RunInTerminal, ATerminationEndsItAtThePrompt) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    const ScratchFolder home;
    Terminal terminal({"run", kModel, "--max-tokens", "3"}, home.path.string());
    ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
    terminal.signal(signal);
    EXPECT_EQ(terminal.wait(), kInterrupted) << terminal.screen();
  }
}

TEST(RunInTerminal, CharactersOfSeveralBytesCanBeTyped) {
  const ScratchFolder home;
  Terminal terminal({"run", kModel, "--max-tokens", "3"}, home.path.string());
  ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
  terminal.type("/größe 日本\n");
  ASSERT_TRUE(terminal.shows("no command /größe")) << terminal.screen();
  terminal.type("/exit\n");
  EXPECT_EQ(terminal.wait(), kOk);
}

TEST(RunInTerminal, AFailingTurnDoesNotEndTheChat) {
  const ScratchFolder home;
  Terminal terminal({"run", kModel, "--max-tokens", "3", "--stats", "--ignore-eos"}, home.path.string());
  ASSERT_TRUE(terminal.shows("> ")) << terminal.screen();
  terminal.type(std::string(300, 'x') + "\n");
  ASSERT_TRUE(terminal.shows("context length 128")) << terminal.screen();
  terminal.type("hello\n");
  ASSERT_TRUE(terminal.shows("answer 3 tokens")) << terminal.screen();
  terminal.type("/exit\n");
  EXPECT_EQ(terminal.wait(), kOk);
}

}  // namespace
}  // namespace genai::cli
