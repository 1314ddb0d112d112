#include "serve/model_hub.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/api_error.h"

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

ModelHub::ModelHub(std::vector<std::string> names, int most, Loader loader, InUse in_use)
    : names_(std::move(names)),
      most_(most > 0 ? most : static_cast<int>(names_.size())),
      loader_(std::move(loader)),
      in_use_(std::move(in_use)),
      entries_(names_.size()) {}

ModelHub::Entry& ModelHub::entry(const std::string& name) {
  const auto it = std::ranges::find(names_, name);
  if (it != names_.end()) return entries_[static_cast<size_t>(it - names_.begin())];
  throw ApiError::not_found(fmt::format("model '{}' is not one of this server's: {}", name, fmt::join(names_, ", ")),
                            "model_not_found", "model");
}

std::shared_ptr<ServedModel> ModelHub::get(const std::string& name) {
  const std::string& wanted = name.empty() ? names_.front() : name;
  std::packaged_task<std::shared_ptr<ServedModel>()> task;
  std::shared_future<std::shared_ptr<ServedModel>> loading;
  std::shared_ptr<ServedModel> unloaded;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    Entry& found = entry(wanted);
    found.used = ++uses_;
    if (found.model) return found.model;
    if (!found.loading.valid()) {
      unloaded = make_room(wanted);
      task = std::packaged_task<std::shared_ptr<ServedModel>()>([this, wanted] { return loader_(wanted); });
      found.loading = task.get_future().share();
    }
    loading = found.loading;
  }
  unloaded.reset();
  return task.valid() ? load(wanted, task) : loading.get();
}

std::shared_ptr<ServedModel> ModelHub::load(const std::string& name,
                                            std::packaged_task<std::shared_ptr<ServedModel>()>& task) {
  std::shared_future<std::shared_ptr<ServedModel>> result;
  {
    const std::lock_guard lock(mutex_);
    result = entry(name).loading;
  }
  task();
  // Cleared on failure too: the next caller tries again.
  struct Settle {
    ModelHub& hub;
    const std::string& name;
    ~Settle() {
      const std::lock_guard lock(hub.mutex_);
      hub.entry(name).loading = {};
    }
  } settle{*this, name};
  std::shared_ptr<ServedModel> model = result.get();
  const std::lock_guard lock(mutex_);
  entry(name).model = model;
  return model;
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
  if (present < most_) return nullptr;
  if (oldest == nullptr) {
    throw ApiError::unavailable("models_busy",
                                fmt::format("model '{}' can't be loaded: {} models are loaded, the most this server "
                                            "keeps, and all are in use",
                                            for_name, present));
  }
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
  std::vector<std::shared_ptr<ServedModel>> models = loaded();
  const std::lock_guard lock(mutex_);
  for (Entry& candidate : entries_) candidate.model = nullptr;
}

}  // namespace genai::serve
