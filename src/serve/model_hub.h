// The models this server offers: loaded when first asked for, unloaded when --max-loaded-models is reached.
//
//   std::shared_ptr<ServedModel> model = hub.get("smollm2");   // loads it; concurrent callers share one load
//
// Threads: any. get() waits for a load; loaded() and names() never do.
// Errors:  ApiError{404} for an unknown name, {503} when another model would have to go and all are in use; what the
// loader throws goes to every waiter, and the next get() tries again.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "package/chat_prompt.h"
#include "serve/driver.h"
#include "serve/embedder.h"

namespace genai::serve {

struct ServedModel {
  std::string name;
  std::string fingerprint;  // of what a saved session depends on
  int64_t created = 0;      // Unix seconds, of the load
  std::string path = "paged";
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

class ModelHub {
 public:
  using Loader = std::function<std::shared_ptr<ServedModel>(const std::string& name)>;
  using InUse = std::function<bool(const ServedModel&)>;

  // The first name is the default. At most `most` models are loaded at once; 0: all of them.
  ModelHub(std::vector<std::string> names, int most, Loader loader, InUse in_use);

  std::shared_ptr<ServedModel> get(const std::string& name);  // empty: the default
  const std::vector<std::string>& names() const { return names_; }
  std::vector<std::shared_ptr<ServedModel>> loaded() const;
  void unload_all();

 private:
  struct Entry {
    std::shared_ptr<ServedModel> model;
    std::shared_future<std::shared_ptr<ServedModel>> loading;
    int64_t used = 0;
  };
  Entry& entry(const std::string& name);
  std::shared_ptr<ServedModel> make_room(const std::string& for_name);
  std::shared_ptr<ServedModel> load(const std::string& name, std::packaged_task<std::shared_ptr<ServedModel>()>& task);

  const std::vector<std::string> names_;
  const int most_;
  const Loader loader_;
  const InUse in_use_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // as names_
  int64_t uses_ = 0;
};

}  // namespace genai::serve
