#include "serve/session_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "serve/api_error.h"
#include "serve/attempt.h"

namespace genai::serve {
namespace {
const char* suffix_of(SessionStore::Kind kind) { return kind == SessionStore::Kind::saved ? ".saved" : ".kv"; }

// The name under which a file is written; nothing stays behind under it.
class Partial {
 public:
  explicit Partial(const std::filesystem::path& path) : path_(path.string() + ".partial") {}
  ~Partial() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::optional<std::string> read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}
}  // namespace

SessionStore::SessionStore(std::filesystem::path folder, ForceToDisk force)
    : folder_(std::move(folder)), force_(std::move(force)) {
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

void SessionStore::write_whole(const std::filesystem::path& path, std::string_view bytes) const {
  const Partial partial(path);
  {
    OutputFile file(partial.path(), O_WRONLY | O_CREAT | O_TRUNC);
    file.write(bytes);
    if (force_ && !force_(file.descriptor())) fail_on_file("written to the disk");
  }
  if (::rename(partial.path().c_str(), path.c_str()) != 0) fail_on_file("renamed");
  force_folder();
}

void SessionStore::force_folder() const {
  if (!force_) return;
  const OutputFile folder(folder_, O_RDONLY | O_DIRECTORY);
  if (!force_(folder.descriptor())) fail_on_file("written to the disk");
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

std::unique_ptr<OutputFile> SessionStore::append(const Session& session, const Change& change) noexcept {
  std::unique_ptr<OutputFile> written;
  const std::optional<Error> failure = attempt([&] {
    auto file = std::make_unique<OutputFile>(this->file(session.id, ".journal"), O_WRONLY | O_APPEND);
    file->write(journal_change(change));
    written = std::move(file);
  });
  return failure ? nullptr : std::move(written);
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
