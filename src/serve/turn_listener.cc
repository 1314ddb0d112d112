#include "serve/turn_listener.h"

namespace genai::serve {
namespace {
double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

bool is_complete(const Finish& finish) {
  using Reason = Finish::Reason;
  return finish.reason == Reason::stop || finish.reason == Reason::stop_string || finish.reason == Reason::length;
}
}  // namespace

TurnListener::TurnListener(std::shared_ptr<Wakeup> wakeup, Metrics& metrics, Log log,
                           std::unique_ptr<TurnRecord> record)
    : wakeup_(std::move(wakeup)), metrics_(metrics), log_(std::move(log)), record_(std::move(record)) {}

void TurnListener::before(const Event& event) noexcept {
  measure(event);
  if (record_) record_->add(event);
  if (!event.finish) return;
  count_ending(event);
  if (record_ && is_complete(*event.finish)) record_->commit();
}

void TurnListener::measure(const Event& event) {
  if (!event.token.valid()) return;
  const Clock::time_point now = Clock::now();
  if (last_token_.size() <= static_cast<size_t>(event.index)) last_token_.resize(static_cast<size_t>(event.index) + 1);
  std::optional<Clock::time_point>& last = last_token_[static_cast<size_t>(event.index)];
  if (last) {
    metrics_.inter_token.observe(seconds(now - *last));
  } else {
    metrics_.first_token.observe(seconds(now - began_));
  }
  last = now;
}

void TurnListener::count_ending(const Event& event) {
  using Reason = Finish::Reason;
  metrics_.end_to_end.observe(seconds(Clock::now() - began_));
  metrics_.prompt_tokens += event.usage.prompt_tokens;
  metrics_.completion_tokens += event.usage.completion_tokens;
  metrics_.cached_tokens += event.usage.cached_tokens;
  ++metrics_.prefix_lookups;
  metrics_.prefix_hits += event.usage.cached_tokens > 0;
  metrics_.stalled += event.finish->reason == Reason::stalled;
  metrics_.cancelled += event.finish->reason == Reason::cancelled;
  metrics_.failed += event.finish->reason == Reason::failed;
  if (event.finish->reason == Reason::failed && event.finish->error && log_) {
    log_("an answer failed: " + event.finish->error->text());
  }
}

}  // namespace genai::serve
