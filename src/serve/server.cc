#include "serve/server.h"

#include "serve/attempt.h"

namespace genai::serve {

Server::Server(ServerOptions options, ModelHub::Loader loader)
    : options_(std::move(options)),
      key_slots_(options_.max_key_requests),
      hub_(options_.models, options_.hub, std::move(loader),
           [this](const ServedModel& model) {
             return (model.driver && model.driver->busy()) || sessions_.registry().any_on(model.name);
           }),
      sessions_(options_.sessions, hub_, metrics_, options_.log) {}

int64_t Server::uptime_s() const {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_).count();
}

void Server::log(const std::string& line) const {
  if (options_.log) options_.log(line);
}

double steady_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Server::tick() {
  const double now = steady_ms();
  for (const std::shared_ptr<ServedModel>& model : hub_.loaded()) {
    if (model->driver) model->driver->watch(now);
  }
  hub_.replace_the_dead();
}

void Server::look_after() {
  if (looking_after_.exchange(true)) return;
  if (const std::optional<nxrt::Error> failure = attempt([&] { sessions_.look_after(); })) log(failure->text());
  looking_after_.store(false);
}

void Server::stop() {
  begin_stop();
  sessions_.stop();
  hub_.unload_all();
  sessions_.finish_writing();
}

}  // namespace genai::serve
