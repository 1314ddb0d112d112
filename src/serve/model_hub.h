// The models this server offers: loaded when first asked for, unloaded when --max-loaded-models is reached, and loaded
// again when their engine has died.
//
//   std::shared_ptr<ServedModel> model = hub.get("smollm2");
//
// A load runs on a thread of its own, one a model however many ask for it. A model whose engine died at once is left
// alone for a while, longer each time.
// Threads: any. get() waits for a load, but only so long and only so many (HubOptions); all else never waits.
// Errors:  ApiError{404} for an unknown name, {503 models_busy} when another model would have to go and all are in use,
// {503 model_loading} for who would wait too long, {503 engine_failed} for a model that is left alone; the
// loader's nxrt::Error goes to every waiter, and the next get() tries again.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/error.h"
#include "package/chat_prompt.h"
#include "serve/driver.h"
#include "serve/embedder.h"

namespace genai::serve {

struct ServedModel {
  std::string name;
  std::string fingerprint;  // of what a saved session depends on
  int64_t created = 0;      // Unix seconds, of the load
  std::string path = "paged", kv_type = "f32";
  std::shared_ptr<const Tokenizer> tokenizer;
  GenerationDefaults generation;
  std::optional<ChatPrompt> chat;
  std::string think_open, think_close;  // reasoning markers of the chat template; empty: none
  int64_t weight_bytes = 0;
  std::shared_ptr<void> loaded;        // what the driver's model stands on; outlives it
  std::unique_ptr<Driver> driver;      // null: this model only embeds
  std::unique_ptr<Embedder> embedder;  // null: this model makes no embeddings
};

// Throws ApiError{400} when the model has none.
const ChatPrompt& chat_of(const ServedModel& model);

// The reasoning markers that a chat template writes; both empty when it writes none.
void find_reasoning_markers(ServedModel& model, const std::string& chat_template);

struct HubOptions {
  int most_loaded = 0;                          // models at once; 0: all
  int most_waiting = 4;                         // threads that wait for loads at once
  std::chrono::milliseconds load_wait{30'000};  // of each
  // Before a model is loaded again whose engine died soon after its load; doubles each time.
  std::chrono::milliseconds first_pause{1000};
};

class ModelHub {
 public:
  using Loader = std::function<std::shared_ptr<ServedModel>(const std::string& name)>;
  using InUse = std::function<bool(const ServedModel&)>;

  // The first name is the default.
  ModelHub(std::vector<std::string> names, const HubOptions& options, Loader loader, InUse in_use);
  ~ModelHub();

  std::shared_ptr<ServedModel> get(const std::string& name);   // empty: the default
  std::shared_ptr<ServedModel> load(const std::string& name);  // the same, however long it takes
  const std::vector<std::string>& names() const { return names_; }
  std::vector<std::shared_ptr<ServedModel>> loaded() const;  // one whose engine has died included, until it is replaced

  void replace_the_dead();                                       // begins the loads that are due; a few times a second
  std::optional<std::string> dead() const;                       // a model whose engine has died and that isn't back
  const char* state_unloaded(const std::string& name) const;     // of one that isn't in loaded()
  std::vector<std::pair<std::string, int64_t>> reloads() const;  // after deaths, by model
  void unload_all();                                             // for good; waits for loads that run

 private:
  using Clock = std::chrono::steady_clock;
  // A failure travels as a value: each waiter throws a copy of its own.
  using Loading = std::shared_future<std::optional<nxrt::Error>>;
  struct Entry {
    std::shared_ptr<ServedModel> model;
    Loading loading;  // valid while it is being loaded
    std::thread loader;
    int64_t used = 0, reloads = 0;
    bool died = false;        // its engine; until it is loaded again
    int deaths_in_a_row = 0;  // each soon after the load, or in it
    Clock::time_point loaded_at, retry_at;
  };
  class Settle;

  size_t index_of(const std::string& name) const;
  std::variant<std::shared_ptr<ServedModel>, Loading> find_or_begin(size_t index);
  Loading begin_load(size_t index);
  void run_load(size_t index);
  void note_death(Entry& entry);
  void postpone(Entry& entry);
  std::shared_ptr<ServedModel> make_room(const std::string& for_name);

  const std::vector<std::string> names_;
  const HubOptions options_;
  const Loader loader_;
  const InUse in_use_;
  std::counting_semaphore<> may_wait_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // as names_
  int64_t uses_ = 0;
  bool stopping_ = false;
};

}  // namespace genai::serve
