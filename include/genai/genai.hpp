// genai.h with C++ types.
//
//   genai::Model model("models/smollm2");
//   genai::Completion answer = model.submit(model.encode("Why is the sky blue?"), {.max_tokens = 64});
//   while (const genai_event* event = answer.next()) std::cout << std::string_view(event->text, event->bytes);
//
// Threads: as genai.h. Errors: every failure throws genai::Failure. Memory: objects own what they name; move only.
#pragma once

#include <genai/genai.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace genai {
inline namespace api {

class Failure : public std::exception {
 public:
  Failure() : code_(genai_error_code()), text_(genai_error_text()) {}
  nxrt_code code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  nxrt_code code_;
  std::string text_;
};

struct Settings {  // genai_request without its prompt
  int max_tokens = 0;
  float temperature = 0;
  int top_k = 0;
  float top_p = 1, min_p = 0;
  int64_t seed = -1;
  bool ignore_eos = false;
};

class Completion {
 public:
  explicit Completion(genai_answer* answer) : answer_(answer) {}

  // Waits; null when nothing more comes. The event lives until the next call.
  const genai_event* next() {
    const nxrt_code code = genai_next(answer_.get(), &event_);
    if (code != NXRT_OK) throw Failure();
    return event_.kind == GENAI_END ? nullptr : &event_;
  }
  void cancel() { genai_cancel(answer_.get()); }

 private:
  struct Free {
    void operator()(genai_answer* answer) const { genai_answer_free(answer); }
  };
  std::unique_ptr<genai_answer, Free> answer_;
  genai_event event_ = {};
};

class Model {
 public:
  explicit Model(const std::string& folder, genai_options options = {}) {
    options.size = sizeof options;
    model_.reset(genai_model_open(folder.c_str(), &options));
    if (!model_) throw Failure();
  }

  int context_length() const { return genai_context_length(get()); }
  int vocab_size() const { return genai_vocab_size(get()); }

  std::vector<int32_t> encode(std::string_view text, bool special_tokens = true) const {
    std::vector<int32_t> ids(text.size() + 8);
    size_t count = 0;
    const auto encode = [&] {
      return genai_encode(get(), text.data(), text.size(), special_tokens, ids.data(), ids.size(), &count);
    };
    nxrt_code code = encode();
    if (code == NXRT_OUT_OF_CAPACITY) {
      ids.resize(count);
      code = encode();
    }
    if (code != NXRT_OK) throw Failure();
    ids.resize(count);
    return ids;
  }

  std::string decode(const std::vector<int32_t>& ids) const {
    std::string text;
    size_t bytes = 0;
    nxrt_code code = genai_decode(get(), ids.data(), ids.size(), nullptr, 0, &bytes);
    if (code == NXRT_OUT_OF_CAPACITY) {
      text.resize(bytes);
      code = genai_decode(get(), ids.data(), ids.size(), text.data(), text.size(), &bytes);
    }
    if (code != NXRT_OK) throw Failure();
    return text;
  }

  Completion submit(const std::vector<int32_t>& prompt, const Settings& settings = {}) {
    const genai_request request = {sizeof request,       prompt.data(),      prompt.size(),  settings.max_tokens,
                                   settings.temperature, settings.top_k,     settings.top_p, settings.min_p,
                                   settings.seed,        settings.ignore_eos};
    genai_answer* answer = genai_submit(get(), &request);
    if (!answer) throw Failure();
    return Completion(answer);
  }

  genai_model* get() const { return model_.get(); }

 private:
  struct Close {
    void operator()(genai_model* model) const { genai_model_close(model); }
  };
  std::unique_ptr<genai_model, Close> model_;
};

}  // namespace api
}  // namespace genai
