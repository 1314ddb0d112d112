// The folder of durable sessions (--session-dir): per session a journal, and snapshots of its keys and values.
//
//   store.append(session, change);           // before the end of the turn can be seen
//   store.save(session, fingerprint, image, SessionStore::Kind::saved);
//
// A file's name is a hash of the session's id: nothing of a request reaches the file system.
// A journal survives kill -9 up to the last finished turn; a snapshot appears whole or not at all.
// Threads: any; one session's files are touched under its lease (load: before it is live).
// Errors: Error{io} naming what couldn't be done; read errors as Error{corrupt | not_found}.
#pragma once

#include <filesystem>
#include <optional>

#include "serve/session_file.h"

namespace genai::serve {

class SessionStore {
 public:
  enum class Kind { saved, stopped };  // asked for by a client; made by a graceful stop

  explicit SessionStore(std::filesystem::path folder);  // made when missing

  // Writes the journal anew with all there is; what a crash left half-written goes. Before the first append of this
  // process.
  void begin(const Session& session, const std::string& fingerprint);
  bool append(const Session& session, const Change& change) noexcept;  // false: it couldn't be written

  std::optional<Journal> load(const SessionId& id) const;  // nullopt: there is none
  void save(const Session& session, const std::string& fingerprint, const ContextImage& image, Kind kind);
  std::optional<Snapshot> load_snapshot(const SessionId& id, Kind kind) const;
  void remove(const SessionId& id);

 private:
  std::filesystem::path file(const SessionId& id, const char* suffix) const;
  std::filesystem::path folder_;
};

}  // namespace genai::serve
