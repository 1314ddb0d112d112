#include "serve/session_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <iterator>

#include "serve/api_error.h"
#include "serve/attempt.h"

namespace genai::serve {
namespace {
void check_position(int64_t position, const Session& session) {
  const auto tokens = static_cast<int64_t>(session.conversation.tokens.size());
  if (position >= 0 && position <= tokens) return;
  throw ApiError::bad_request("position",
                              fmt::format("position is {}, expected 0 to {}, the session's tokens", position, tokens));
}

constexpr std::chrono::seconds kDiskWait(5);
constexpr int kMostWaitingFiles = 512;

ApiError disk_is_slow() {
  return ApiError::unavailable("session_disk_slow",
                               "the disk of --session-dir takes what is written too slowly; try again later");
}

// Back to the beginning that `conversation` is.
Change rewound_to(const Conversation& conversation) {
  return {.keep_tokens = std::ssize(conversation.tokens),
          .keep_messages = std::ssize(conversation.messages),
          .keep_turns = std::ssize(conversation.turns)};
}
}  // namespace

// A turn of a session, written down as it goes.
class SessionService::Record : public TurnRecord {
 public:
  Record(SessionService& service, std::shared_ptr<Session> session, const ServedModel& model, TurnPlan plan,
         std::shared_ptr<EndGate> gate)
      : service_(service),
        session_(std::move(session)),
        plan_(std::move(plan)),
        split_(model.think_open, model.think_close, plan_.thinks_first),
        gate_(std::move(gate)) {}

  void add(const Event& event) override {
    if (event.token.valid()) generated_.push_back(event.token);
    take(split_.push(event.text));
  }

  void commit() noexcept override {
    take(split_.finish());
    Conversation& conversation = session_->conversation;
    Change change{.keep_tokens = plan_.keep,
                  .keep_messages = std::ssize(conversation.messages),
                  .keep_turns = std::ssize(conversation.turns),
                  .tokens = plan_.prompt,
                  .messages = std::move(plan_.messages)};
    change.tokens.insert(change.tokens.end(), generated_.begin(), generated_.end());
    if (!change.messages.empty()) change.messages.push_back(answer());
    conversation.tokens.resize(static_cast<size_t>(change.keep_tokens));
    conversation.tokens.insert(conversation.tokens.end(), change.tokens.begin(), change.tokens.end());
    for (const Json& message : change.messages) conversation.messages.push_back(message);
    change.turns = {{std::ssize(conversation.tokens), std::ssize(conversation.messages)}};
    conversation.turns.push_back(change.turns.back());
    session_->publish();
    service_.journal(session_, change, [gate = gate_] { gate->open(); });
  }

 private:
  void take(const SplitText& text) {
    text_.reasoning += text.reasoning;
    text_.content += text.content;
  }
  Json answer() const {
    Json message = {{"role", "assistant"}, {"content", text_.content}};
    if (!text_.reasoning.empty()) message["reasoning_content"] = text_.reasoning;
    return message;
  }

  SessionService& service_;
  const std::shared_ptr<Session> session_;
  TurnPlan plan_;
  ReasoningSplitter split_;
  SplitText text_;
  std::vector<TokenId> generated_;
  const std::shared_ptr<EndGate> gate_;
};

SessionService::SessionService(SessionOptions options, ModelHub& hub, Metrics& metrics, Log log)
    : options_(std::move(options)),
      hub_(hub),
      metrics_(metrics),
      log_(std::move(log)),
      store_(options_.directory ? std::optional<SessionStore>(std::in_place, *options_.directory, options_.force)
                                : std::nullopt),
      registry_(
          options_.most, [this](HeldSession held) { close(std::move(held)); },
          store_ ? SessionRegistry::Load([this](const SessionId& id) { return load(id); }) : nullptr) {
  if (!store_ || !options_.force) return;
  disk_.emplace([this](int descriptor) {
    const auto began = std::chrono::steady_clock::now();
    const bool forced = options_.force(descriptor);
    metrics_.journal_sync.observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    return forced;
  });
}

std::optional<SessionRegistry::Stored> SessionService::load(const SessionId& id) const {
  std::optional<Journal> journal = store_->load(id);
  return journal ? std::optional(std::move(journal->stored)) : std::nullopt;
}

HeldSession SessionService::begin(const SessionId& id, const std::string& owner, const std::string& model) {
  if (disk_ && disk_->waiting() >= kMostWaitingFiles) throw disk_is_slow();
  HeldSession held = registry_.open(id, owner, model);
  const std::string& own = held.session->placement.model;
  if (own != model) {
    throw ApiError::bad_request("model", fmt::format("model is '{}', this session's is '{}': leave model out, or use "
                                                     "another session",
                                                     model, own));
  }
  return held;
}

void SessionService::wake(const HeldSession& held, ServedModel& model) {
  Session& session = *held.session;
  if (model.driver->has_session(held.lease)) return;
  if (session.fingerprint.empty()) session.fingerprint = model.fingerprint;
  if (session.fingerprint != model.fingerprint) {
    throw ApiError::conflict("session_model_changed",
                             "model '" + model.name +
                                 "' is another one than when this session was stored; delete the session or serve the "
                                 "model it was made with");
  }
  const auto tokens = static_cast<int64_t>(session.conversation.tokens.size());
  const int context = model.driver->context_length();
  if (tokens > context) throw ApiError::context_length(tokens, context, "session_id");  // served with less than it was
  model.driver->open_session(held.lease, kept_image(session, model));
  write_down(session);
}

// The session's tokens, with the keys and values that an earlier process or life of it left, where they fit.
ContextImage SessionService::kept_image(const Session& session, const ServedModel& model) const {
  const std::vector<TokenId>& tokens = session.conversation.tokens;
  std::optional<Snapshot> kept;
  if (store_) kept = store_->load_snapshot(session.id, SessionStore::Kind::stopped);
  const auto fits = [&](const ContextImage& image) {
    return image.block_bytes == model.driver->stats().kv.block_bytes &&
           image.computed <= static_cast<int64_t>(std::min(tokens.size(), image.tokens.size())) &&
           std::equal(image.tokens.begin(), image.tokens.begin() + image.computed, tokens.begin());
  };
  if (!kept || kept->fingerprint != model.fingerprint || !fits(kept->image)) return {.tokens = tokens};
  kept->image.tokens = tokens;
  return std::move(kept->image);
}

std::unique_ptr<TurnRecord> SessionService::record(std::shared_ptr<Session> session, const ServedModel& model,
                                                   TurnPlan plan, std::shared_ptr<EndGate> gate) {
  return std::make_unique<Record>(*this, std::move(session), model, std::move(plan), std::move(gate));
}

// A record that a failed write has torn hides those after it, so the journal is then written anew.
void SessionService::journal(const std::shared_ptr<Session>& session, const Change& change,
                             std::function<void()> is_durable) noexcept {
  std::unique_ptr<OutputFile> written;
  if (store_ && !session->unwritten.load()) written = store_->append(*session, change);
  if (!written) write_down(*session);
  if (!written || !disk_) return is_durable();
  disk_->later(std::move(written), [this, session, is_durable = std::move(is_durable)](bool forced) {
    if (!forced) in_memory_alone(*session, Error(Code::io, "its journal can't be forced to the disk"));
    is_durable();
  });
}

void SessionService::write_down(Session& session) noexcept {
  if (!store_) return;
  const std::optional<Error> failure = attempt([&] { store_->begin(session, session.fingerprint); });
  if (failure) return in_memory_alone(session, *failure);
  session.unwritten.store(false);
}

void SessionService::in_memory_alone(Session& session, const Error& why) noexcept {
  session.unwritten.store(true);
  ++metrics_.journal_failures;
  note("can't be written and is in memory alone", session, why);
}

void SessionService::note(const std::string& what, const Session& session, const Error& failure) noexcept {
  if (log_) log_(fmt::format("session {} {}: {}", session.id.redacted(), what, failure.message()));
}

std::shared_ptr<ServedModel> SessionService::model_of(const HeldSession& held) const {
  for (const std::shared_ptr<ServedModel>& model : hub_.loaded()) {
    if (model->name == held.session->placement.model && model->driver->has_session(held.lease)) return model;
  }
  return nullptr;
}

void SessionService::close(HeldSession held) noexcept {
  const std::shared_ptr<ServedModel> model = model_of(held);
  if (!model || model->driver->failed()) return;
  if (model->driver->stalled()) return close_later(std::move(held));
  const Session& session = *held.session;
  if (store_ && !session.conversation.tokens.empty()) {
    const std::optional<Error> failure = attempt([&] {
      store_->save(session, model->fingerprint, model->driver->save(held.lease), SessionStore::Kind::stopped);
    });
    if (failure) note("keeps its tokens, not their cache", session, *failure);
  }
  const std::optional<Error> failure = attempt([&] { model->driver->close_session(std::move(held.lease)); });
  if (failure) note("couldn't be closed", session, *failure);
}

void SessionService::close_later(HeldSession held) {
  const std::lock_guard lock(mutex_);
  to_close_.push_back(std::move(held));
}

void SessionService::discard(const std::shared_ptr<Session>& session) noexcept {
  std::optional<HeldSession> held = registry_.take_unused(session);
  if (!held) return;
  if (store_) store_->remove(session->id);
  close(std::move(*held));
}

void SessionService::remove(const SessionId& id, const std::string& owner) {
  HeldSession held = registry_.take_for_close(id, owner, [&] {
    if (store_) store_->remove(id);
  });
  const std::optional<Error> failure = attempt([&] {
    if (store_) store_->force_folder();
  });
  if (failure) note("is deleted, which may not be on the disk", *held.session, *failure);
  held.session->conversation.tokens.clear();  // nothing of it is kept
  close(std::move(held));
}

std::shared_ptr<Session> SessionService::create(const SessionId& id, const std::string& owner, ServedModel& model) {
  const HeldSession held = registry_.make(id, owner, model.name);
  ForgetUnlessKept made(registry_, held);
  wake(held, model);
  made.keep();
  return held.session;
}

std::shared_ptr<Session> SessionService::fork(const SessionId& id, const std::string& owner,
                                              std::optional<int64_t> position) {
  HeldSession source = registry_.lease(id, owner);
  const int64_t at = position.value_or(static_cast<int64_t>(source.session->conversation.tokens.size()));
  check_position(at, *source.session);
  const std::shared_ptr<ServedModel> model = hub_.get(source.session->placement.model);
  wake(source, *model);
  const HeldSession copy = registry_.make(SessionId::random(), owner, model->name);
  ForgetUnlessKept made(registry_, copy);
  model->driver->fork(source.lease, copy.lease, at);
  made.keep();
  copy.session->conversation = source.session->conversation;
  copy.session->conversation.rewind(at);
  copy.session->fingerprint = model->fingerprint;
  copy.session->publish();
  write_down(*copy.session);
  return copy.session;
}

std::shared_ptr<Session> SessionService::rewind(const SessionId& id, const std::string& owner, int64_t position) {
  HeldSession held = registry_.lease(id, owner);
  check_position(position, *held.session);
  const std::shared_ptr<ServedModel> model = hub_.get(held.session->placement.model);
  wake(held, *model);
  model->driver->rewind(held.lease, position);
  held.session->conversation.rewind(position);
  held.session->publish();
  auto durable = std::make_shared<std::promise<void>>();
  journal(held.session, rewound_to(held.session->conversation), [durable] { durable->set_value(); });
  if (durable->get_future().wait_for(kDiskWait) == std::future_status::timeout) throw disk_is_slow();
  return held.session;
}

SessionStore& SessionService::store_or_refuse() {
  if (store_) return *store_;
  throw ApiError::bad_request({}, "this server keeps no sessions on disk; start it with --session-dir DIR",
                              "session_dir_missing");
}

std::shared_ptr<Session> SessionService::save(const SessionId& id, const std::string& owner) {
  SessionStore& store = store_or_refuse();
  HeldSession held = registry_.lease(id, owner);
  const std::shared_ptr<ServedModel> model = hub_.get(held.session->placement.model);
  wake(held, *model);
  store.save(*held.session, model->fingerprint, model->driver->save(held.lease), SessionStore::Kind::saved);
  return held.session;
}

std::shared_ptr<Session> SessionService::restore(const SessionId& id, const std::string& owner) {
  SessionStore& store = store_or_refuse();
  std::optional<Snapshot> saved = store.load_snapshot(id, SessionStore::Kind::saved);
  if (!saved || saved->owner != owner) {
    throw ApiError::not_found("session '" + id.text() + "' was never saved", "session_file_not_found", "id");
  }
  const std::shared_ptr<ServedModel> model = hub_.get(saved->model);
  if (saved->fingerprint != model->fingerprint) {
    throw ApiError::conflict("session_model_changed",
                             "model '" + model->name + "' is another one than when this session was saved");
  }
  const auto tokens = static_cast<int64_t>(saved->image.tokens.size());
  const int context = model->driver->context_length();
  if (tokens > context) throw ApiError::context_length(tokens, context, "id");
  const bool same_blocks = saved->image.block_bytes == model->driver->stats().kv.block_bytes;
  if (!same_blocks) saved->image.kv.clear();  // the cache's element type has changed: it is computed again
  const HeldSession held = begin(id, owner, saved->model);
  ForgetUnlessKept made(registry_, held);
  model->driver->replace_session(held.lease, saved->image);
  made.keep();
  held.session->conversation = std::move(saved->conversation);
  held.session->fingerprint = model->fingerprint;
  held.session->publish();
  write_down(*held.session);
  return held.session;
}

void SessionService::look_after() {
  std::vector<HeldSession> to_close;
  {
    const std::lock_guard lock(mutex_);
    to_close.swap(to_close_);
  }
  for (HeldSession& held : to_close) close(std::move(held));
  for (const HeldSession& held : registry_.lease_unwritten()) write_down(*held.session);
  if (options_.ttl_s > 0) registry_.evict_idle(std::time(nullptr) - options_.ttl_s);
}

void SessionService::finish_writing() {
  if (disk_) disk_->finish();
}

void SessionService::stop() {
  for (HeldSession& held : registry_.take_all()) {
    if (held.session->unwritten.load()) write_down(*held.session);
    close(std::move(held));
  }
}

}  // namespace genai::serve
