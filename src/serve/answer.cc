#include "serve/answer.h"

#include <openssl/rand.h>

#include <array>
#include <chrono>

namespace genai::serve {
namespace {
constexpr const char* kEndMark = "data: [DONE]\n\n";
constexpr size_t kFrameBytes = 16 * 1024;  // handed on at once

class AnswerStream : public EventSource {
 public:
  explicit AnswerStream(Answers answers) : answers_(std::move(answers)) {}

  std::optional<std::string> poll() override {
    std::string out;
    if (!opened_) {
      opened_ = true;
      put([&](std::vector<Json>& chunks) { answers_.shape->open(chunks); }, out);
    }
    for (size_t i = 0; i < answers_.tickets.size() && !ended_; ++i) drain(i, out);
    if (!ended_ && all_read()) {
      put([&](std::vector<Json>& chunks) { answers_.shape->close(chunks); }, out);
      out += kEndMark;
      ended_ = true;
    }
    if (out.empty() && !last_words_.empty()) out = std::exchange(last_words_, {});
    if (out.empty()) return std::nullopt;
    return out;
  }

  bool done() const override { return ended_ && last_words_.empty(); }

  void give_up(const ApiError& reason) override {
    if (ended_) return;
    end_with(reason, last_words_);
  }

 private:
  template <class Fill>
  void put(const Fill& fill, std::string& out) {
    chunks_.clear();
    fill(chunks_);
    for (const Json& chunk : chunks_) out += sse_event(chunk);
  }

  void drain(size_t i, std::string& out) {
    while (!ended_ && out.size() < kFrameBytes) {
      const std::optional<Event> event = answers_.tickets[i].try_next();
      if (!event) return;
      if (event->finish && is_failure(*event->finish)) return end_with(error_of(*event->finish), out);
      const int choice = static_cast<int>(i) * answers_.per_ticket + event->index;
      put([&](std::vector<Json>& chunks) { answers_.shape->chunks(choice, *event, chunks); }, out);
    }
  }

  void end_with(const ApiError& reason, std::string& out) {
    out += sse_event(reason.body()) + kEndMark;
    ended_ = true;
    answers_.tickets.clear();
  }

  bool all_read() const {
    for (const TurnTicket& ticket : answers_.tickets) {
      if (!ticket.done()) return false;
    }
    return true;
  }

  Answers answers_;
  bool opened_ = false, ended_ = false;
  std::string last_words_;
  std::vector<Json> chunks_;
};

class WholeAnswer : public PendingReply {
 public:
  explicit WholeAnswer(Answers answers) : answers_(std::move(answers)) {}

  std::optional<Reply> poll() override {
    for (size_t i = 0; i < answers_.tickets.size() && !failure_; ++i) {
      while (const std::optional<Event> event = answers_.tickets[i].try_next()) {
        if (event->finish && is_failure(*event->finish)) {
          failure_ = error_of(*event->finish);
          break;
        }
        answers_.shape->take(static_cast<int>(i) * answers_.per_ticket + event->index, *event);
      }
    }
    if (failure_) {
      answers_.tickets.clear();
      Reply reply{.status = failure_->status, .body = dump(failure_->body())};
      if (failure_->retry_after_s) reply.headers = {{"Retry-After", std::to_string(*failure_->retry_after_s)}};
      return reply;
    }
    for (const TurnTicket& ticket : answers_.tickets) {
      if (!ticket.done()) return std::nullopt;
    }
    return Reply{.body = dump(answers_.shape->body())};
  }

  void give_up(const ApiError& reason) override { failure_ = reason; }

 private:
  Answers answers_;
  std::optional<ApiError> failure_;
};
}  // namespace

Reply stream_reply(Answers answers) {
  Reply reply{.content_type = "text/event-stream", .headers = {{"Cache-Control", "no-cache"}}};
  reply.events = std::make_unique<AnswerStream>(std::move(answers));
  return reply;
}

Reply whole_reply(Answers answers) {
  Reply reply;
  reply.pending = std::make_unique<WholeAnswer>(std::move(answers));
  return reply;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string sse_event(const Json& json) { return "data: " + dump(json) + "\n\n"; }

bool is_failure(const Finish& finish) {
  using Reason = Finish::Reason;
  return finish.reason == Reason::failed || finish.reason == Reason::stalled || finish.reason == Reason::cancelled;
}

ApiError error_of(const Finish& finish) {
  if (finish.reason == Finish::Reason::cancelled) {
    return ApiError::unavailable("cancelled", "the server ended this answer: it is stopping");
  }
  if (finish.reason == Finish::Reason::stalled) {
    ApiError error = ApiError::internal();
    error.code = "stream_stalled";
    error.message = "stream consumer stalled: output buffer stayed full";
    return error;
  }
  ApiError error = ApiError::internal();
  error.code = "generation_failed";
  if (finish.error && finish.error->code() != nxrt::Code::internal) error = ApiError::from(*finish.error);
  return error;
}

const char* finish_reason(const Finish& finish) { return finish.reason == Finish::Reason::length ? "length" : "stop"; }

// The prompt counts once for the answers that share it.
void UsageSum::add(int choice, int per_ticket, const Usage& usage) {
  completion_ += usage.completion_tokens;
  if (choice % per_ticket != 0) return;
  prompt_ += usage.prompt_tokens;
  cached_ += usage.cached_tokens;
}

Json UsageSum::json(int64_t reasoning_tokens) const {
  return {{"prompt_tokens", prompt_},
          {"completion_tokens", completion_},
          {"total_tokens", total()},
          {"prompt_tokens_details", {{"cached_tokens", cached_}}},
          {"completion_tokens_details", {{"reasoning_tokens", reasoning_tokens}}}};
}

std::string response_id(const char* prefix) {
  static constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  std::array<unsigned char, 24> bytes{};
  RAND_bytes(bytes.data(), bytes.size());
  std::string id(prefix);
  for (const unsigned char byte : bytes) id += kLetters[byte % kLetters.size()];
  return id;
}

int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace genai::serve
