// How many requests of one API key run at a time (--max-key-requests); one more is refused, never queued.
//
//   std::shared_ptr<void> slot = slots.take(owner);   // free again when its last copy goes
//
// Threads: any. Errors: take throws ApiError{429 too_many_requests}. Memory: a slot may outlive the KeySlots.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace genai::serve {

class KeySlots {
 public:
  explicit KeySlots(int most) : most_(most) {}  // 0: no limit

  std::shared_ptr<void> take(const std::string& owner);

 private:
  struct Table {
    std::mutex mutex;
    std::map<std::string, int> taken;
  };
  const int most_;
  const std::shared_ptr<Table> table_ = std::make_shared<Table>();
};

}  // namespace genai::serve
