// The folder of durable sessions (--session-dir): per session a journal, and snapshots of its keys and values.
//
//   disk.later(store.append(session, change), …);   // before the end of the turn can be seen
//   store.save(session, fingerprint, image, SessionStore::Kind::saved);
//
// A file's name is a hash of the session's id: nothing of a request reaches the file system.
// What append() has written survives the process; once its file is forced to the disk it survives the machine. Whole
// files are forced here, with their folder, before they appear under their name.
// Threads: any; one session's files are touched under its lease (load: before it is live).
// Errors: Error{io} naming what couldn't be done; read errors as Error{corrupt | not_found}.
#pragma once

#include <filesystem>
#include <optional>

#include "serve/disk_sync.h"
#include "serve/session_file.h"

namespace genai::serve {

class SessionStore {
 public:
  enum class Kind { saved, stopped };  // asked for by a client; made by a graceful stop

  // The folder is made when missing. `force` may be null: then nothing here waits for the disk.
  SessionStore(std::filesystem::path folder, ForceToDisk force);

  // Writes the journal anew with all there is; what a crash left half-written goes. Before the first append of this
  // process.
  void begin(const Session& session, const std::string& fingerprint);
  // Null: it couldn't be written.
  std::unique_ptr<OutputFile> append(const Session& session, const Change& change) noexcept;

  std::optional<Journal> load(const SessionId& id) const;  // nullopt: there is none
  void save(const Session& session, const std::string& fingerprint, const ContextImage& image, Kind kind);
  std::optional<Snapshot> load_snapshot(const SessionId& id, Kind kind) const;
  void remove(const SessionId& id);
  void force_folder() const;  // after remove(), which may not wait

 private:
  std::filesystem::path file(const SessionId& id, const char* suffix) const;
  void write_whole(const std::filesystem::path& path, std::string_view bytes) const;

  const std::filesystem::path folder_;
  const ForceToDisk force_;
};

}  // namespace genai::serve
