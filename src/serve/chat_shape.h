// The bodies of chat completions: one object, or chunks. Used by answer.h; threads and errors as there.
#pragma once

#include "serve/answer.h"
#include "serve/history.h"
#include "serve/logprob_json.h"
#include "serve/reasoning.h"

namespace genai::serve {

// What every body of one response repeats, and how its answers become text.
struct ResponseFacts {
  std::string id, model;
  int64_t created = 0;
  int n = 1;
  bool include_usage = false;
  std::vector<std::string> appended_stops;  // stop texts that belong to the answer when they end it
  std::string session_id;                   // empty: a stateless turn
  std::shared_ptr<const Tokenizer> tokenizer;

  std::string text_of(const Event& event) const;
};

struct ChatFacts {
  ResponseFacts response;
  std::string think_open, think_close;
  bool thinks_first = false, logprobs = false;
  std::optional<Truncation> truncation;  // reported when it was allowed
};

class ChatShape : public Shape {
 public:
  explicit ChatShape(ChatFacts facts);

  void open(std::vector<Json>& out) override;
  void chunks(int choice, const Event& event, std::vector<Json>& out) override;
  void close(std::vector<Json>& out) override;
  void take(int choice, const Event& event) override;
  Json body() override;

 private:
  struct Choice {
    ReasoningSplitter split;
    SplitText text;
    Json logprobs = Json::array();
    std::string finish_reason;
  };
  SplitText split(Choice& choice, const Event& event);
  void note_end(int choice, const Event& event);
  Json chunk(int choice, Json delta, Json finish_reason) const;
  void add_extensions(Json& body) const;

  const ChatFacts facts_;
  std::vector<Choice> choices_;
  UsageSum usage_;
  int64_t reasoning_tokens_ = 0;
};

}  // namespace genai::serve
