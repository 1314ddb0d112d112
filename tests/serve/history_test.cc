#include "serve/history.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>

#include "serve/api_error.h"

namespace genai::serve {
namespace {

Json message(const char* role, const std::string& content) { return {{"role", role}, {"content", content}}; }

const Json kStored = Json::array({message("user", "hi"), message("assistant", "hello")});

TEST(NewMessages, TakesWhatIsNew) {
  const Json question = message("user", "why");
  EXPECT_EQ(new_messages(Json::array(), Json::array({question})), Json::array({question}));
  EXPECT_EQ(new_messages(kStored, Json::array({question})), Json::array({question}));
  EXPECT_EQ(new_messages(kStored, Json::array({kStored[0], kStored[1], question})), Json::array({question}));
  EXPECT_EQ(new_messages(kStored, Json::array({kStored[0]})), Json::array({kStored[0]}));  // the same words once more
}

TEST(NewMessages, ComparesWhatTheConversationSaysOnly) {
  Json answer = kStored[1];
  answer["refusal"] = nullptr;
  answer["reasoning_content"] = "thought";
  EXPECT_EQ(new_messages(kStored, Json::array({kStored[0], answer, message("user", "x")})).size(), 1u);
}

TEST(NewMessages, RefusesAContradiction) {
  const auto index_of = [](const Json& sent) -> int64_t {
    try {
      new_messages(kStored, sent);
    } catch (const ApiError& error) {
      EXPECT_EQ(error.code, "session_history_mismatch");
      return error.figures.at(0).second;
    }
    return -1;
  };
  EXPECT_EQ(index_of(Json::array({message("user", "ho"), kStored[1], message("user", "x")})), 0);
  EXPECT_EQ(index_of(Json::array({kStored[0], message("assistant", "other"), message("user", "x")})), 1);
  EXPECT_EQ(index_of(Json::array({message("system", "new"), message("user", "x")})), 0);
  EXPECT_THROW(new_messages(kStored, kStored), ApiError);
}

TEST(TruncateHistory, KeepsWhatItMust) {
  EXPECT_TRUE(rc::check("the result fits, or nothing changed; the protected part stays", [] {
    Json messages = Json::array();
    const int systems = *rc::gen::inRange(0, 3);
    for (int i = 0; i < systems; ++i) messages.push_back(message("system", "s"));
    const auto turns = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 3));
    for (const int kind : turns) {
      messages.push_back(message("user", std::string(static_cast<size_t>(kind) + 1, 'u')));
      if (kind == 1) {
        messages.push_back({{"role", "assistant"}, {"content", ""}, {"tool_calls", Json::array({"call"})}});
        messages.push_back(message("tool", "result"));
      }
      messages.push_back(message("assistant", "a"));
    }
    messages.push_back(message("user", "last"));
    const auto tokens_of = [](const Json& all) {
      int64_t tokens = 0;
      for (const Json& one : all) tokens += 1 + static_cast<int64_t>(one["content"].get<std::string>().size());
      return tokens;
    };
    const Json before = messages;
    const int64_t most = *rc::gen::inRange<int64_t>(1, 60);
    const Truncation cut = truncate_history(messages, most, tokens_of);
    RC_ASSERT(messages.back() == before.back());
    for (int i = 0; i < systems; ++i) RC_ASSERT(messages[static_cast<size_t>(i)]["role"] == "system");
    if (cut.dropped_messages == 0) {
      RC_ASSERT(messages == before);
    } else {
      RC_ASSERT(tokens_of(messages) <= most);
      RC_ASSERT(static_cast<int64_t>(before.size() - messages.size()) == cut.dropped_messages);
      RC_ASSERT(messages[static_cast<size_t>(systems)]["role"] == "user");
    }
  }));
}

}  // namespace
}  // namespace genai::serve
