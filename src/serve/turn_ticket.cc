#include "serve/turn_ticket.h"

#include "serve/answer.h"

namespace genai::serve {

std::optional<Event> TurnTicket::try_next() {
  std::optional<Event> event = held_ ? std::exchange(held_, std::nullopt) : ticket_.try_next();
  if (!event || !is_early(*event)) return event;
  held_ = std::move(event);
  return std::nullopt;
}

bool TurnTicket::is_early(const Event& event) const {
  return gate_ && !gate_->is_open() && event.finish && !is_failure(*event.finish);
}

}  // namespace genai::serve
