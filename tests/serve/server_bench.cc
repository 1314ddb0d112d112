#include "serve/server_bench.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "serve/answer.h"

namespace genai::serve {
namespace {
constexpr const char* kTemplate =
    "{% for m in messages %}[{{ m.role }}|{{ m.content }}]{% endfor %}{% if add_generation_prompt %}[assistant|{% "
    "endif %}";

void keep_letters(std::span<float> logits, bool ends) {
  for (size_t v = 0; v < logits.size(); ++v) {
    if (v < 'a' || v > 'z') logits[v] = -1e6f;
  }
  if (ends) logits[ByteTokenizer::kEnd] = 1e6f;
}
}  // namespace

std::vector<TokenId> ByteTokenizer::encode(std::string_view text, const EncodeOptions&) const {
  std::vector<TokenId> ids;
  for (const char c : text) ids.emplace_back(static_cast<unsigned char>(c));
  return ids;
}

std::string ByteTokenizer::decode(std::span<const TokenId> ids, bool) const {
  std::string text;
  for (const TokenId id : ids) text += bytes_of(id, false);
  return text;
}

std::string ByteTokenizer::bytes_of(TokenId id, bool) const {
  return id.value >= 256 ? std::string() : std::string(1, static_cast<char>(id.value));
}

void WaitingWakeup::ring() noexcept {
  {
    const std::lock_guard lock(mutex_);
    rung_ = true;
  }
  rang_.notify_one();
}

bool WaitingWakeup::wait() {
  std::unique_lock lock(mutex_);
  return rang_.wait_for(lock, std::chrono::seconds(20), [this] { return std::exchange(rung_, false); });
}

std::string Reading::joined(const char* field) const {
  std::string text;
  for (const Json& event : events) {
    for (const Json& choice : event.value("choices", Json::array())) {
      if (choice["index"] != 0) continue;
      if (choice.contains("text")) text += choice["text"].get<std::string>();
      if (choice.contains("delta")) text += choice["delta"].value(field, "");
    }
  }
  return text;
}

std::string Reading::error_field(const char* field) const {
  if (!body.is_object() || !body.contains("error")) return {};
  const Json& error = body["error"];
  return error.contains(field) && error[field].is_string() ? error[field].get<std::string>() : std::string();
}

ServerBench::ServerBench(BenchOptions options) {
  if (options.server.models.empty()) options.server.models = {"fake"};
  const BenchOptions shared = options;
  server = std::make_unique<Server>(std::move(options.server),
                                    [this, shared](const std::string& name) { return load(name, shared); });
  for (const std::string& name : server->models().names()) {
    if (server->models().names().size() == 1) permits = server->models().load(name)->driver->permits().count();
  }
}

ServerBench::~ServerBench() { server->stop(); }

std::shared_ptr<ServedModel> ServerBench::load(const std::string& name, const BenchOptions& options) {
  ++loads;
  if (before_load) before_load(name);
  auto model = std::make_unique<FakeModel>(FakeModel::Options{.vocab_size = ByteTokenizer::kVocab,
                                                              .context_length = options.context,
                                                              .max_step_rows = 512,
                                                              .repeats = options.repeats});
  model->before_forward = [this](const Step& step) {
    if (before_step) before_step(step);
  };
  model->after_row = [this](const StepSequence& s, std::span<float> logits) { keep_letters(logits, ends && ends(s)); };
  EngineOptions engine = options.engine;
  engine.kv_bytes = options.blocks * model->kv_layout().block_bytes;
  engine.scheduler.max_sequences = options.rows;
  engine.scheduler.max_step_rows = 512;
  engine.max_queue = options.driver.max_queue;
  ModelSpec spec;
  spec.chat_templates = {{"default", options.chat_template.empty() ? kTemplate : options.chat_template}};
  auto served = std::make_shared<ServedModel>();
  served->name = name;
  served->fingerprint = "fake " + name;
  served->created = unix_seconds();
  served->tokenizer = std::make_shared<ByteTokenizer>();
  served->generation.eos = {TokenId(ByteTokenizer::kEnd)};
  served->chat.emplace(spec);
  served->think_open = "<think>";
  served->think_close = "</think>";
  served->driver = std::make_unique<Driver>(name, std::make_unique<Engine>(std::move(model), served->tokenizer, engine),
                                            options.rows, options.driver);
  return served;
}

Open ServerBench::open(const std::string& method, const std::string& path, const std::string& body,
                       const Headers& headers) {
  Open open;
  open.http = {.method = method, .path = path, .headers = headers, .body = body};
  open.wakeup = std::make_shared<WaitingWakeup>();
  open.http.wakeup = open.wakeup;
  open.reply = dispatch(*server, open.http);
  return open;
}

void parse_events(Reading& reading) {
  for (size_t at = 0; at < reading.text.size();) {
    const size_t end = reading.text.find("\n\n", at);
    const std::string event = reading.text.substr(at, end - at);
    EXPECT_TRUE(event.starts_with("data: ")) << event;
    EXPECT_FALSE(reading.end_mark) << "something comes after the end mark: " << event;
    if (event == "data: [DONE]") {
      reading.end_mark = true;
    } else {
      reading.events.push_back(Json::parse(event.substr(6)));
    }
    at = end + 2;
  }
}

Reading ServerBench::finish(Open open) {
  Reply& reply = open.reply;
  Reading reading;
  for (const auto& [name, value] : reply.headers) reading.headers[name] = value;
  if (reply.pending) {
    std::optional<Reply> made;
    while (!(made = reply.pending->poll())) {
      if (!open.wakeup->wait()) {
        ADD_FAILURE() << "no answer came";
        return reading;
      }
    }
    reply = std::move(*made);
  }
  while (reply.events && !reply.events->done()) {
    if (std::optional<std::string> frame = reply.events->poll()) {
      reading.text += *frame;
    } else if (!open.wakeup->wait()) {
      ADD_FAILURE() << "the stream stopped";
      return reading;
    }
  }
  reading.status = reply.status;
  if (!reply.events) {
    reading.text = reply.body;
    reading.body = Json::parse(reply.body, nullptr, false);
    return reading;
  }
  parse_events(reading);
  EXPECT_TRUE(reading.end_mark);
  return reading;
}

Reading ServerBench::ask(const std::string& method, const std::string& path, const std::string& body,
                         const Headers& headers) {
  return finish(open(method, path, body, headers));
}

bool ServerBench::becomes_idle() {
  for (int i = 0; i < 200; ++i) {
    const Json now = status();
    const bool idle = now["leases_held"] == 0 && now["permits_free"] == permits &&
                      now["models"][0]["rows_running"] == 0 && now["models"][0]["rows_waiting"] == 0;
    if (idle) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  return false;
}

Json user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }

Json chat(const Json& messages, int max_tokens) {
  return {{"messages", messages}, {"max_tokens", max_tokens}, {"temperature", 0}};
}

Json chat(std::initializer_list<Json> messages, int max_tokens) {
  return chat(Json(Json::array_t(messages)), max_tokens);
}

std::string expected_text(const std::string& prompt, int count) {
  std::vector<TokenId> history = ByteTokenizer().encode(prompt, {});
  std::vector<float> logits(ByteTokenizer::kVocab);
  std::string text;
  for (int i = 0; i < count; ++i) {
    FakeModel::logits_after(history, logits);
    keep_letters(logits, false);
    history.emplace_back(static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
    text += static_cast<char>(history.back().value);
  }
  return text;
}

}  // namespace genai::serve
