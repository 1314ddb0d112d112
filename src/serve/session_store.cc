#include "serve/session_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "serve/api_error.h"

namespace genai::serve {
namespace {
[[noreturn]] void fail(const char* doing) {
  throw Error(Code::io, fmt::format("a session file can't be {}: {}", doing, std::strerror(errno)), "--session-dir");
}

const char* suffix_of(SessionStore::Kind kind) { return kind == SessionStore::Kind::saved ? ".saved" : ".kv"; }

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

class File {
 public:
  File(const std::filesystem::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (fd_ < 0) fail("opened");
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(std::string_view bytes) {
    if (!write_all(fd_, bytes)) fail("written");
  }
  void sync() {
    if (::fsync(fd_) != 0) fail("written to the disk");
  }

 private:
  int fd_;
};

// The name under which a file is written; nothing stays behind under it.
class Partial {
 public:
  explicit Partial(const std::filesystem::path& path) : path_(path.string() + ".partial") {}
  ~Partial() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void write_whole(const std::filesystem::path& path, std::string_view bytes) {
  const Partial partial(path);
  {
    File file(partial.path(), O_WRONLY | O_CREAT | O_TRUNC);
    file.write(bytes);
    file.sync();
  }
  if (::rename(partial.path().c_str(), path.c_str()) != 0) fail("renamed");
}

std::optional<std::string> read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}
}  // namespace

SessionStore::SessionStore(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error || ::access(folder_.c_str(), W_OK | X_OK) != 0) {
    throw Error(Code::io, "the folder of sessions can't be written: " + error.message(), folder_.string(),
                "choose a --session-dir that this user may write");
  }
}

std::filesystem::path SessionStore::file(const SessionId& id, const char* suffix) const {
  unsigned char sum[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(id.text().data()), id.text().size(), sum);
  std::string name;
  for (const unsigned char byte : sum) name += fmt::format("{:02x}", byte);
  return folder_ / (name + suffix);
}

void SessionStore::begin(const Session& session, const std::string& fingerprint) {
  const Conversation& conversation = session.conversation;
  std::string bytes = journal_head(session, fingerprint);
  if (!conversation.tokens.empty() || !conversation.messages.empty()) {
    bytes +=
        journal_change({.tokens = conversation.tokens, .messages = conversation.messages, .turns = conversation.turns});
  }
  write_whole(file(session.id, ".journal"), bytes);
}

bool SessionStore::append(const Session& session, const Change& change) noexcept {
  const std::string bytes = journal_change(change);
  const int fd = ::open(file(session.id, ".journal").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole = write_all(fd, bytes);
  return ::close(fd) == 0 && whole;
}

std::optional<Journal> SessionStore::load(const SessionId& id) const {
  const std::optional<std::string> bytes = read_whole(file(id, ".journal"));
  if (!bytes) return std::nullopt;
  Journal journal = read_journal(*bytes);
  if (journal.id != id.text()) throw Error(Code::corrupt, "it belongs to another session", kSessionFile);
  return journal;
}

void SessionStore::save(const Session& session, const std::string& fingerprint, const ContextImage& image, Kind kind) {
  write_whole(file(session.id, suffix_of(kind)), snapshot_bytes(session, fingerprint, image));
}

std::optional<Snapshot> SessionStore::load_snapshot(const SessionId& id, Kind kind) const {
  const std::optional<std::string> bytes = read_whole(file(id, suffix_of(kind)));
  if (!bytes || (kind == Kind::stopped && !is_whole_snapshot(*bytes))) return std::nullopt;  // the journal has it all
  Snapshot snapshot = read_snapshot(*bytes);
  if (snapshot.id != id.text()) throw Error(Code::corrupt, "it belongs to another session", kSessionFile);
  return snapshot;
}

void SessionStore::remove(const SessionId& id) {
  std::error_code ignored;
  for (const char* suffix : {".journal", ".kv", ".saved"}) std::filesystem::remove(file(id, suffix), ignored);
}

}  // namespace genai::serve
