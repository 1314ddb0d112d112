#include "gen/ticket.h"

#include <utility>

#include "gen/channel.h"

namespace genai {

Ticket::Ticket(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
Ticket::Ticket(Ticket&&) noexcept = default;

Ticket& Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    cancel();
    channel_ = std::move(other.channel_);
  }
  return *this;
}

Ticket::~Ticket() { cancel(); }

std::optional<Event> Ticket::next() { return channel_->pop(); }
std::optional<Event> Ticket::next_for(std::chrono::milliseconds limit) { return channel_->pop_for(limit); }
bool Ticket::done() const { return channel_->done(); }

void Ticket::cancel() {
  if (channel_) channel_->cancel();
}

}  // namespace genai
