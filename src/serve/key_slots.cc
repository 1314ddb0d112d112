#include "serve/key_slots.h"

#include <fmt/format.h>

#include "serve/api_error.h"

namespace genai::serve {

std::shared_ptr<void> KeySlots::take(const std::string& owner) {
  if (most_ == 0) return nullptr;
  {
    const std::lock_guard lock(table_->mutex);
    int& taken = table_->taken[owner];
    if (taken >= most_) {
      throw ApiError::rate_limit("too_many_requests",
                                 fmt::format("this API key has {} requests running, the most one key may have; send "
                                             "this one again when one of them has ended",
                                             taken));
    }
    ++taken;
  }
  return {nullptr, [table = table_, owner](void*) {
            const std::lock_guard lock(table->mutex);
            const auto it = table->taken.find(owner);
            if (--it->second == 0) table->taken.erase(it);
          }};
}

}  // namespace genai::serve
