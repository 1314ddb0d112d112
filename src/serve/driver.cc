#include "serve/driver.h"

#include <fmt/format.h>

#include <chrono>

#include "serve/api_error.h"

namespace genai::serve {
namespace {
// What a running turn holds; the engine lets go of it before the turn's last event can be read.
struct TurnGuard {
  std::optional<SessionLease> lease;
  Permits::Permit permit;
  std::shared_ptr<void> of_caller;
};

constexpr std::chrono::milliseconds kQueueToWait(500);  // some steps; whoever waits for longer holds one of few places
}  // namespace

Driver::Driver(std::string model, std::unique_ptr<Engine> engine, int rows, const DriverOptions& options)
    : model_(std::move(model)),
      rows_(rows),
      permits_(rows + options.max_queue),
      watchdog_(options.stall_ms),
      may_wait_(options.most_waiting),
      engine_(std::move(engine)) {}

Ticket Driver::generate(std::optional<SessionLease> lease, Request request) {
  if (lease) {
    check_owner(*lease);
    request.context = context_of(*lease);
  }
  std::optional<Permits::Permit> permit = permits_.take(request.n);
  if (!permit) {
    throw ApiError::capacity(fmt::format("{} answers are running or waiting, the most this server takes; try again "
                                         "when some have ended",
                                         permits_.count() - permits_.free()),
                             "queue_full");
  }
  request.guard =
      std::make_shared<TurnGuard>(TurnGuard{std::move(lease), std::move(*permit), std::move(request.guard)});
  return engine_->submit(std::move(request));
}

void Driver::check_alive() const {
  if (failed()) {
    throw ApiError::unavailable("engine_failed", "the engine of model '" + model_ +
                                                     "' has ended by a fault; it is being replaced, try again later");
  }
  if (stalled()) {
    throw ApiError::unavailable(
        "engine_stalled",
        "the engine of model '" + model_ + "' has work and has not finished a step for a while; try again later");
  }
}

void Driver::check_owner(const SessionLease& lease) const {
  if (lease.placement().model == model_) return;
  throw nxrt::Error(nxrt::Code::internal,
                    "a lease of model '" + lease.placement().model + "' reached '" + model_ + "'");
}

std::optional<ContextId> Driver::find(const SessionPlacement& placement) const {
  const std::lock_guard lock(mutex_);
  const auto it = contexts_.find(placement);
  return it == contexts_.end() ? std::nullopt : std::optional(it->second);
}

ContextId Driver::context_of(const SessionLease& lease) const {
  const std::optional<ContextId> context = find(lease.placement());
  if (!context) throw nxrt::Error(nxrt::Code::internal, "a turn on a session that has no context");
  return *context;
}

void Driver::bind(const SessionLease& lease, ContextId context) {
  const std::lock_guard lock(mutex_);
  contexts_[lease.placement()] = context;
}

// Runs what waits for a step to end.
template <class Work>
auto Driver::between_steps(const Work& work) {
  check_alive();
  if (!may_wait_.try_acquire_for(kQueueToWait)) {
    throw ApiError::unavailable("engine_busy", "the engine of model '" + model_ +
                                                   "' is slow to end its step and enough requests wait for it; try "
                                                   "again later");
  }
  const std::unique_ptr<std::counting_semaphore<>, void (*)(std::counting_semaphore<>*)> place(
      &may_wait_, [](std::counting_semaphore<>* taken) { taken->release(); });
  return work();
}

void Driver::open_session(const SessionLease& lease, const ContextImage& image) {
  check_owner(lease);
  check_alive();
  if (find(lease.placement())) return;
  bind(lease, between_steps([&] { return context_from(image); }));
}

ContextId Driver::context_from(const ContextImage& image) {
  if (image.tokens.empty()) return engine_->create_context();
  if (!image.kv.empty()) return engine_->restore(image);
  ContextImage tokens_alone{.tokens = image.tokens, .block_bytes = engine_->stats().kv.block_bytes};
  return engine_->restore(tokens_alone);  // the next turn computes the rest
}

void Driver::replace_session(const SessionLease& lease, const ContextImage& image) {
  check_owner(lease);
  const ContextId fresh = between_steps([&] { return context_from(image); });
  const std::optional<ContextId> old = find(lease.placement());
  bind(lease, fresh);
  if (old) engine_->close_later(*old);
}

void Driver::close_session(SessionLease lease) {
  check_owner(lease);
  std::optional<ContextId> context = find(lease.placement());
  if (!context) return;
  {
    const std::lock_guard lock(mutex_);
    contexts_.erase(lease.placement());
  }
  engine_->close_later(*context);
}

void Driver::rewind(const SessionLease& lease, int64_t position) {
  between_steps([&] { engine_->rewind(context_of(lease), position); });
}

void Driver::fork(const SessionLease& from, const SessionLease& to, int64_t position) {
  bind(to, between_steps([&] { return engine_->fork(context_of(from), position); }));
}

ContextImage Driver::save(const SessionLease& lease) {
  return between_steps([&] { return engine_->save(context_of(lease)); });
}

// A turn that the engine has taken up in a step that doesn't end isn't in its figures yet: permits say that it waits.
// Nothing is pending when all that run wait for their readers.
void Driver::watch(double now_ms) {
  const EngineStats stats = engine_->stats();
  const bool readers_alone = stats.running > 0 && stats.paused >= stats.running && stats.waiting == 0;
  watchdog_.observe(now_ms, stats.steps + stats.generated_tokens, busy() && !readers_alone);
}

}  // namespace genai::serve
