#include "serve/model_hub.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/api_error.h"
#include "serve/attempt.h"

namespace genai::serve {

const ChatPrompt& chat_of(const ServedModel& model) {
  if (model.chat) return *model.chat;
  throw ApiError::unsupported("model", "model '" + model.name + "' has no chat template");
}

void find_reasoning_markers(ServedModel& model, const std::string& chat_template) {
  for (const auto& [open, close] : {std::pair("<think>", "</think>"), std::pair("<seed:think>", "</seed:think>"),
                                    std::pair("[THINK]", "[/THINK]")}) {
    if (chat_template.find(close) == std::string::npos && chat_template.find(open) == std::string::npos) continue;
    model.think_open = open;
    model.think_close = close;
    return;
  }
}

namespace {
constexpr std::chrono::seconds kLongLife(60), kLongestPause(60);

ApiError still_loading(const std::string& name) {
  ApiError error = ApiError::unavailable("model_loading", "model '" + name + "' is being loaded; try again later");
  error.retry_after_s = 5;
  return error;
}

ApiError left_alone(const std::string& name, std::chrono::steady_clock::duration rest) {
  ApiError error = ApiError::unavailable(
      "engine_failed", "the engine of model '" + name + "' has ended by a fault; it is loaded again in a while");
  error.retry_after_s = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(rest).count());
  return error;
}
}  // namespace

ModelHub::ModelHub(std::vector<std::string> names, const HubOptions& options, Loader loader, InUse in_use)
    : names_(std::move(names)),
      options_(options),
      loader_(std::move(loader)),
      in_use_(std::move(in_use)),
      may_wait_(options.most_waiting),
      entries_(names_.size()) {}

ModelHub::~ModelHub() { unload_all(); }

size_t ModelHub::index_of(const std::string& name) const {
  if (name.empty()) return 0;
  const auto it = std::ranges::find(names_, name);
  if (it != names_.end()) return static_cast<size_t>(it - names_.begin());
  throw ApiError::not_found(fmt::format("model '{}' is not one of this server's: {}", name, fmt::join(names_, ", ")),
                            "model_not_found", "model");
}

std::shared_ptr<ServedModel> ModelHub::get(const std::string& name) {
  const size_t index = index_of(name);
  auto found = find_or_begin(index);
  if (auto* model = std::get_if<std::shared_ptr<ServedModel>>(&found)) return std::move(*model);
  const Loading loading = std::get<Loading>(found);
  if (!may_wait_.try_acquire()) throw still_loading(names_[index]);
  const bool ended = loading.wait_for(options_.load_wait) == std::future_status::ready;
  may_wait_.release();
  if (!ended) throw still_loading(names_[index]);
  if (const std::optional<nxrt::Error>& failure = loading.get()) throw *failure;
  found = find_or_begin(index);
  if (auto* model = std::get_if<std::shared_ptr<ServedModel>>(&found)) return std::move(*model);
  throw still_loading(names_[index]);  // it had to go at once
}

std::shared_ptr<ServedModel> ModelHub::load(const std::string& name) {
  while (true) {
    auto found = find_or_begin(index_of(name));
    if (auto* model = std::get_if<std::shared_ptr<ServedModel>>(&found)) return std::move(*model);
    const Loading loading = std::get<Loading>(found);
    if (const std::optional<nxrt::Error>& failure = loading.get()) throw *failure;
  }
}

std::variant<std::shared_ptr<ServedModel>, ModelHub::Loading> ModelHub::find_or_begin(size_t index) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[index];
  entry.used = ++uses_;
  note_death(entry);
  if (entry.model && !entry.died) return entry.model;
  if (entry.loading.valid()) return entry.loading;
  const Clock::duration rest = entry.retry_at - Clock::now();
  if (entry.died && rest > Clock::duration::zero()) throw left_alone(names_[index], rest);
  return begin_load(index);
}

// Called under the lock. What has to go first, goes on the load's thread: an engine may take its time to end.
ModelHub::Loading ModelHub::begin_load(size_t index) {
  if (stopping_) throw ApiError::unavailable("stopping", "the server is stopping and loads no model");
  Entry& entry = entries_[index];
  std::shared_ptr<ServedModel> goes = entry.model ? std::exchange(entry.model, nullptr) : make_room(names_[index]);
  std::packaged_task<std::optional<nxrt::Error>()> task([this, index, goes = std::move(goes)]() mutable {
    goes.reset();
    return attempt([&] { run_load(index); });
  });
  Loading loading = task.get_future().share();
  if (entry.loader.joinable()) entry.loader.join();  // it has settled
  entry.loader = std::thread(std::move(task));
  entry.loading = loading;
  return loading;
}

// What a load leaves, a failed one too: then the next caller tries again.
class ModelHub::Settle {
 public:
  Settle(ModelHub& hub, Entry& entry) : hub_(hub), entry_(entry) {}
  ~Settle() {
    const std::lock_guard lock(hub_.mutex_);
    entry_.loading = {};
    if (!model) {
      if (entry_.died) hub_.postpone(entry_);
      return;
    }
    entry_.model = std::move(model);
    entry_.loaded_at = Clock::now();
    entry_.reloads += entry_.died;
    entry_.died = false;
  }
  Settle(const Settle&) = delete;
  Settle& operator=(const Settle&) = delete;

  std::shared_ptr<ServedModel> model;

 private:
  ModelHub& hub_;
  Entry& entry_;
};

void ModelHub::run_load(size_t index) {
  Settle settle(*this, entries_[index]);
  settle.model = loader_(names_[index]);
}

// Called under the lock. One that has lived for long is replaced at once.
void ModelHub::note_death(Entry& entry) {
  if (entry.died || !entry.model || !entry.model->driver || !entry.model->driver->failed()) return;
  entry.died = true;
  entry.retry_at = Clock::now();
  if (entry.retry_at - entry.loaded_at < kLongLife) return postpone(entry);
  entry.deaths_in_a_row = 0;
}

void ModelHub::postpone(Entry& entry) {
  const int doublings = std::min(entry.deaths_in_a_row++, 16);
  entry.retry_at = Clock::now() + std::min<Clock::duration>(options_.first_pause * (1 << doublings), kLongestPause);
}

void ModelHub::replace_the_dead() {
  const std::lock_guard lock(mutex_);
  for (size_t index = 0; index < entries_.size(); ++index) {
    Entry& entry = entries_[index];
    note_death(entry);
    if (!entry.died || entry.loading.valid() || Clock::now() < entry.retry_at) continue;
    const std::optional<nxrt::Error> no_room = attempt([&] { begin_load(index); });
    if (no_room) postpone(entry);
  }
}

std::optional<std::string> ModelHub::dead() const {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find_if(entries_, &Entry::died);
  return it == entries_.end() ? std::nullopt : std::optional(names_[static_cast<size_t>(it - entries_.begin())]);
}

const char* ModelHub::state_unloaded(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const Entry& entry = entries_[index_of(name)];
  if (entry.loading.valid()) return "loading";
  return entry.died ? "failed" : "unloaded";
}

std::vector<std::pair<std::string, int64_t>> ModelHub::reloads() const {
  std::vector<std::pair<std::string, int64_t>> all;
  const std::lock_guard lock(mutex_);
  for (size_t index = 0; index < entries_.size(); ++index) all.emplace_back(names_[index], entries_[index].reloads);
  return all;
}

// Called under the lock. The least recently used model that nobody uses goes; a loading one stays.
std::shared_ptr<ServedModel> ModelHub::make_room(const std::string& for_name) {
  int present = 0;
  Entry* oldest = nullptr;
  for (Entry& candidate : entries_) {
    if (!candidate.model && !candidate.loading.valid()) continue;
    ++present;
    if (!candidate.model || candidate.model.use_count() > 1 || in_use_(*candidate.model)) continue;
    if (oldest == nullptr || candidate.used < oldest->used) oldest = &candidate;
  }
  const int most = options_.most_loaded > 0 ? options_.most_loaded : static_cast<int>(entries_.size());
  if (present < most) return nullptr;
  if (oldest == nullptr) {
    throw ApiError::unavailable("models_busy",
                                fmt::format("model '{}' can't be loaded: {} models are loaded, the most this server "
                                            "keeps, and all are in use",
                                            for_name, present));
  }
  oldest->died = false;
  return std::exchange(oldest->model, nullptr);
}

std::vector<std::shared_ptr<ServedModel>> ModelHub::loaded() const {
  std::vector<std::shared_ptr<ServedModel>> models;
  const std::lock_guard lock(mutex_);
  for (const Entry& candidate : entries_) {
    if (candidate.model) models.push_back(candidate.model);
  }
  return models;
}

void ModelHub::unload_all() {
  std::vector<std::thread> loaders;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Entry& entry : entries_) {
      if (entry.loader.joinable()) loaders.push_back(std::move(entry.loader));
    }
  }
  for (std::thread& loader : loaders) loader.join();
  std::vector<std::shared_ptr<ServedModel>> models = loaded();  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    entry.model = nullptr;
    entry.loading = {};
  }
}

}  // namespace genai::serve
