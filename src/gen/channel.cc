#include "gen/channel.h"

#include <utility>

namespace genai {

void Channel::push(Event event) {
  {
    const std::lock_guard lock(mutex_);
    if (event.finish) --open_;
    events_.push_back(std::move(event));
  }
  arrived_.notify_one();
}

bool Channel::full() const {
  const std::lock_guard lock(mutex_);
  return events_.size() >= capacity_;
}

bool Channel::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

std::optional<Event> Channel::take(std::unique_lock<std::mutex>& lock) {
  if (events_.empty()) return std::nullopt;
  const bool was_full = events_.size() >= capacity_;
  std::optional<Event> event = std::move(events_.front());
  events_.pop_front();
  const bool made_room = was_full && events_.size() < capacity_;
  lock.unlock();
  if (made_room) engine_->ring();
  return event;
}

std::optional<Event> Channel::pop() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return readable(); });
  return take(lock);
}

std::optional<Event> Channel::pop_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (limit.count() > 0) arrived_.wait_for(lock, limit, [this] { return readable(); });
  return take(lock);
}

bool Channel::done() const {
  const std::lock_guard lock(mutex_);
  return events_.empty() && open_ == 0;
}

void Channel::cancel() {
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_ || open_ == 0) return;
    cancelled_ = true;
  }
  engine_->ring();
}

}  // namespace genai
