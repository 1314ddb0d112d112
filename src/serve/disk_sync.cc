#include "serve/disk_sync.h"

#include <unistd.h>

namespace genai::serve {

bool force_to_disk(int descriptor) { return ::fsync(descriptor) == 0; }

DiskSync::DiskSync(ForceToDisk force) : force_(std::move(force)), thread_([this] { run(); }) {}

DiskSync::~DiskSync() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void DiskSync::later(std::unique_ptr<OutputFile> file, Then then) {
  {
    const std::lock_guard lock(mutex_);
    items_.push_back({std::move(file), std::move(then)});
    ++waiting_;
  }
  changed_.notify_all();
}

int DiskSync::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void DiskSync::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_ == 0; });
}

void DiskSync::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !items_.empty(); });
    if (items_.empty()) return;
    {
      const Item item = std::move(items_.front());
      items_.pop_front();
      lock.unlock();
      item.then(force_(item.file->descriptor()));
    }
    lock.lock();
    --waiting_;
    changed_.notify_all();
  }
}

}  // namespace genai::serve
