// include/genai/genai.h. No exception crosses the C interface.
#include <fmt/format.h>
#include <genai/genai.h>

#include <cstddef>
#include <cstring>
#include <new>

#include "gen/engine.h"
#include "gen/kv_type.h"
#include "gen/load_model.h"

struct genai_model {
  genai::LoadedModel loaded;
  std::unique_ptr<genai::Engine> engine;  // ends before the workers it runs on
};

struct genai_answer {
  genai::Ticket ticket;
  std::string text;  // of the last event
};

namespace {

using genai::Code;
using genai::Error;
using genai::Event;
using genai::Finish;
using genai::TokenId;

static_assert(static_cast<int>(Code::internal) + 1 == NXRT_INTERNAL);

struct LastError {
  nxrt_code code = NXRT_OK;
  std::string text;
};

LastError& last_error() {
  static thread_local LastError error;
  return error;
}

nxrt_code remember(const Error& error) {
  last_error() = {static_cast<nxrt_code>(static_cast<int>(error.code()) + 1), error.text()};
  return last_error().code;
}

// Runs `body`; a failure becomes the thread's last error.
template <class F>
nxrt_code guarded(F&& body) noexcept {
  try {
    body();
    return NXRT_OK;
  } catch (const Error& error) {
    return remember(error);
  } catch (const std::bad_alloc&) {
    return remember(Error(Code::out_of_capacity, "no memory"));
  } catch (const std::exception& error) {
    return remember(Error(Code::internal, error.what()));
  }
}

template <class T>
T& expect(T* object, const char* name) {
  if (!object) throw Error(Code::invalid_argument, fmt::format("{} is NULL", name));
  return *object;
}

void expect_size(size_t given, size_t known, const char* name) {
  if (given != known)
    throw Error(Code::invalid_argument, fmt::format("{}.size is {}, expected {}", name, given, known));
}

nxrt::Isa isa_named(const char* name) {
  for (const nxrt::Isa isa : nxrt::available()) {
    if (nxrt::name_of(isa) == name) return isa;
  }
  throw Error(Code::invalid_argument, fmt::format("isa is '{}', which this machine doesn't have", name));
}

void expect_count(const char* name, int64_t value, int64_t most) {
  if (value >= 0 && value <= most) return;
  throw Error(Code::invalid_argument, fmt::format("{} is {}, expected 0 to {}", name, value, most));
}

// A program built before kv_type was added gives the fields before it.
genai_options options_of(const genai_options* given) {
  genai_options options = {.size = sizeof options};
  if (!given) return options;
  const size_t size = given->size;
  if (size != offsetof(genai_options, kv_type)) expect_size(size, sizeof options, "options");
  std::memcpy(&options, given, size);
  return options;
}

std::unique_ptr<genai_model> open(const char* folder, const genai_options* given) {
  const genai_options options = options_of(given);
  expect_count("threads", options.threads, 1024);
  expect_count("context_length", options.context_length, INT32_MAX);
  expect_count("kv_bytes", options.kv_bytes, INT64_MAX);
  genai::LoadOptions load = {.threads = options.threads, .context_length = options.context_length};
  if (options.isa) load.isa = isa_named(options.isa);
  if (options.kv_type) load.kv_dtype = genai::kv_type_named(options.kv_type);
  auto model = std::make_unique<genai_model>();
  model->loaded = genai::load_model(&expect(folder, "folder"), load);
  genai::EngineOptions engine;
  if (options.kv_bytes > 0) engine.kv_bytes = options.kv_bytes;
  engine.delivery_grace_ms = 0;  // a caller may take its time; only its own answer waits
  model->engine = std::make_unique<genai::Engine>(std::move(model->loaded.decoder), model->loaded.tokenizer, engine);
  return model;
}

genai::Request request_of(const genai_model& model, const genai_request& given) {
  expect_size(given.size, sizeof(genai_request), "request");
  if (given.prompt_count > 0) expect(given.prompt, "request.prompt");
  expect_count("max_tokens", given.max_tokens, INT32_MAX);
  genai::Request request;
  for (size_t i = 0; i < given.prompt_count; ++i) request.prompt.emplace_back(given.prompt[i]);
  if (given.max_tokens > 0) request.max_tokens = given.max_tokens;
  request.sampling.temperature = given.temperature;
  request.sampling.top_k = given.top_k;
  request.sampling.top_p = given.top_p == 0 ? 1 : given.top_p;
  request.sampling.min_p = given.min_p;
  if (given.seed >= 0) request.sampling.seed = static_cast<uint64_t>(given.seed);
  request.sampling.suppress_tokens = model.loaded.spec.generation.suppress_tokens;
  request.eos = model.loaded.spec.generation.eos;
  request.ignore_eos = given.ignore_eos != 0;
  return request;
}

genai_event_kind kind_of(const Event& event) {
  if (!event.finish) return GENAI_TOKEN;
  switch (event.finish->reason) {
    case Finish::Reason::stop:
    case Finish::Reason::stop_string: return GENAI_STOPPED;
    case Finish::Reason::length: return GENAI_LENGTH;
    case Finish::Reason::failed: return GENAI_FAILED;
    case Finish::Reason::cancelled:
    case Finish::Reason::stalled: break;
  }
  return GENAI_CANCELLED;
}

void next(genai_answer& answer, genai_event& to) {
  const std::optional<Event> event = answer.ticket.next();
  answer.text = event ? event->text : std::string();
  to = {event ? kind_of(*event) : GENAI_END, event ? event->token.value : -1, answer.text.c_str(), answer.text.size()};
  if (to.kind == GENAI_FAILED) throw event->finish->error.value_or(Error(Code::internal, "the answer failed"));
}

// `size` elements at `from`, if there is room for them.
template <class T>
void deliver(const T* from, size_t size, T* to, size_t capacity, size_t& written) {
  written = size;
  if (size > capacity) throw Error(Code::out_of_capacity, fmt::format("capacity is {}, {} is needed", capacity, size));
  if (size > 0) std::memcpy(&expect(to, "the buffer"), from, size * sizeof(T));
}

}  // namespace

extern "C" {

nxrt_code genai_error_code(void) { return last_error().code; }
const char* genai_error_text(void) { return last_error().text.c_str(); }

genai_model* genai_model_open(const char* folder, const genai_options* options) {
  std::unique_ptr<genai_model> model;
  return guarded([&] { model = open(folder, options); }) == NXRT_OK ? model.release() : nullptr;
}

void genai_model_close(genai_model* model) { delete model; }
int genai_context_length(const genai_model* model) { return model ? model->engine->context_length() : 0; }
int genai_vocab_size(const genai_model* model) { return model ? model->engine->vocab_size() : 0; }

nxrt_code genai_encode(const genai_model* model, const char* text, size_t bytes, int special_tokens, int32_t* ids,
                       size_t capacity, size_t* count) {
  return guarded([&] {
    const std::string_view whole(bytes > 0 ? &expect(text, "text") : "", bytes);
    const auto tokens = expect(model, "model").loaded.tokenizer->encode(whole, {.special_tokens = special_tokens != 0});
    static_assert(sizeof(TokenId) == sizeof(int32_t));
    deliver(reinterpret_cast<const int32_t*>(tokens.data()), tokens.size(), ids, capacity, expect(count, "count"));
  });
}

nxrt_code genai_decode(const genai_model* model, const int32_t* ids, size_t count, char* text, size_t capacity,
                       size_t* bytes) {
  return guarded([&] {
    if (count > 0) expect(ids, "ids");
    std::vector<TokenId> tokens;
    for (size_t i = 0; i < count; ++i) tokens.emplace_back(ids[i]);
    const std::string whole = expect(model, "model").loaded.tokenizer->decode(tokens, true);
    deliver(whole.data(), whole.size(), text, capacity, expect(bytes, "bytes"));
  });
}

genai_answer* genai_submit(genai_model* model, const genai_request* request) {
  std::unique_ptr<genai_answer> answer;
  const nxrt_code code = guarded([&] {
    genai_model& with = expect(model, "model");
    answer.reset(new genai_answer{with.engine->submit(request_of(with, expect(request, "request"))), {}});
  });
  return code == NXRT_OK ? answer.release() : nullptr;
}

nxrt_code genai_next(genai_answer* answer, genai_event* event) {
  return guarded([&] { next(expect(answer, "answer"), expect(event, "event")); });
}

void genai_cancel(genai_answer* answer) {
  if (answer) answer->ticket.cancel();
}

void genai_answer_free(genai_answer* answer) { delete answer; }

}  // extern "C"
