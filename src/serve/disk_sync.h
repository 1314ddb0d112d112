// Brings written files to the disk on a thread of its own: an engine never waits for a disk.
//
//   DiskSync disk(force_to_disk);
//   disk.later(std::move(file), [](bool forced) { … });
//
// Threads: any. `then` runs on this class's thread and must return quickly.
// Errors: none; `then` is told. Memory: a descriptor for each waiting file. The destructor finishes what waits.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "serve/output_file.h"

namespace genai::serve {

using ForceToDisk = std::function<bool(int descriptor)>;  // of a file or a folder; false: errno says why not

// fsync: an appended record changes the file's length, so fdatasync would spare nothing.
bool force_to_disk(int descriptor);

class DiskSync {
 public:
  using Then = std::function<void(bool forced)>;

  explicit DiskSync(ForceToDisk force);
  ~DiskSync();
  DiskSync(const DiskSync&) = delete;
  DiskSync& operator=(const DiskSync&) = delete;

  void later(std::unique_ptr<OutputFile> file, Then then);
  int waiting() const;
  void finish();  // waits until nothing waits

 private:
  struct Item {
    std::unique_ptr<OutputFile> file;
    Then then;
  };
  void run();

  const ForceToDisk force_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  int waiting_ = 0;  // the one at work included
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace genai::serve
