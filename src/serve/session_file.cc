#include "serve/session_file.h"

#include <openssl/sha.h>

#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "serve/api_error.h"

namespace genai::serve {
namespace {
constexpr std::string_view kJournalMagic = "GENAIJ02", kSnapshotMagic = "GENAIS01";
constexpr std::string_view kFirstJournalMagic = "GENAIJ01";  // each change repeated all turn ends
constexpr size_t kSumBytes = 8;                              // of the SHA-256, for a record
constexpr size_t kHeadBytes = sizeof(uint32_t) + kSumBytes;

[[noreturn]] void corrupt(const std::string& what) { throw Error(Code::corrupt, what, kSessionFile); }

std::string sha256(std::string_view bytes) {
  unsigned char sum[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), sum);
  return {reinterpret_cast<const char*>(sum), sizeof sum};
}

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
T read_raw(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string record(const Json& json) {
  const std::string body = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return raw(static_cast<uint32_t>(body.size())) + sha256(body).substr(0, kSumBytes) + body;
}

// Empty: the record isn't whole.
std::optional<Json> next_record(std::string_view& rest) {
  if (rest.size() < kHeadBytes) return std::nullopt;
  const size_t size = read_raw<uint32_t>(rest);
  if (rest.size() - kHeadBytes < size) return std::nullopt;
  const std::string_view body = rest.substr(kHeadBytes, size);
  if (sha256(body).substr(0, kSumBytes) != rest.substr(sizeof(uint32_t), kSumBytes)) return std::nullopt;
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) corrupt("a record isn't a JSON object");
  rest.remove_prefix(kHeadBytes + size);
  return json;
}

Json ids_json(const std::vector<TokenId>& ids) {
  Json array = Json::array();
  for (const TokenId id : ids) array.push_back(id.value);
  return array;
}

std::string text_at(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_string()) corrupt(std::string("'") + key + "' isn't a text");
  return it->get<std::string>();
}

int64_t count_at(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer() || it->get<int64_t>() < 0)
    corrupt(std::string("'") + key + "' isn't a count");
  return it->get<int64_t>();
}

const Json& array_at(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array()) corrupt(std::string("'") + key + "' isn't an array");
  return *it;
}

std::vector<TokenId> tokens_at(const Json& json, const char* key) {
  std::vector<TokenId> tokens;
  for (const Json& item : array_at(json, key)) {
    if (!item.is_number_integer()) corrupt("a token isn't a number");
    tokens.emplace_back(item.get<int32_t>());
  }
  return tokens;
}

Json turns_json(const std::vector<TurnEnd>& turns) {
  Json array = Json::array();
  for (const TurnEnd& turn : turns) array.push_back({{"tokens", turn.tokens}, {"messages", turn.messages}});
  return array;
}

std::vector<TurnEnd> turns_at(const Json& json, const char* key) {
  std::vector<TurnEnd> turns;
  for (const Json& item : array_at(json, key)) {
    if (!item.is_object()) corrupt("a turn isn't an object");
    turns.push_back({count_at(item, "tokens"), count_at(item, "messages")});
  }
  return turns;
}

void apply(Conversation& conversation, const Json& change, bool repeats_turns) {
  const int64_t keep_tokens = count_at(change, "keep_tokens"), keep_messages = count_at(change, "keep_messages"),
                keep_turns = repeats_turns ? 0 : count_at(change, "keep_turns");
  if (keep_tokens > std::ssize(conversation.tokens) || keep_messages > std::ssize(conversation.messages) ||
      keep_turns > std::ssize(conversation.turns)) {
    corrupt("a record continues what isn't there");
  }
  conversation.tokens.resize(static_cast<size_t>(keep_tokens));
  const std::vector<TokenId> tokens = tokens_at(change, "tokens");
  conversation.tokens.insert(conversation.tokens.end(), tokens.begin(), tokens.end());
  conversation.messages.erase(conversation.messages.begin() + keep_messages, conversation.messages.end());
  for (const Json& message : array_at(change, "messages")) conversation.messages.push_back(message);
  conversation.turns.resize(static_cast<size_t>(keep_turns));
  const std::vector<TurnEnd> turns = turns_at(change, "turns");
  conversation.turns.insert(conversation.turns.end(), turns.begin(), turns.end());
}
}  // namespace

std::string journal_head(const Session& session, const std::string& fingerprint) {
  return std::string(kJournalMagic) + record({{"id", session.id.text()},
                                              {"owner", session.owner},
                                              {"model", session.placement.model},
                                              {"fingerprint", fingerprint},
                                              {"created", session.created}});
}

std::string journal_change(const Change& change) {
  return record({{"keep_tokens", change.keep_tokens},
                 {"keep_messages", change.keep_messages},
                 {"keep_turns", change.keep_turns},
                 {"tokens", ids_json(change.tokens)},
                 {"messages", change.messages},
                 {"turns", turns_json(change.turns)}});
}

Journal read_journal(std::string_view bytes) {
  const bool first_version = bytes.starts_with(kFirstJournalMagic);
  if (!first_version && !bytes.starts_with(kJournalMagic)) corrupt("it doesn't begin as a session journal does");
  std::string_view rest = bytes.substr(kJournalMagic.size());
  const std::optional<Json> head = next_record(rest);
  if (!head) corrupt("its first record is damaged");
  Journal journal;
  journal.id = text_at(*head, "id");
  journal.stored.fingerprint = text_at(*head, "fingerprint");
  journal.stored.owner = text_at(*head, "owner");
  journal.stored.model = text_at(*head, "model");
  journal.stored.created = count_at(*head, "created");
  while (const std::optional<Json> change = next_record(rest)) {
    apply(journal.stored.conversation, *change, first_version);
  }
  return journal;
}

std::string snapshot_bytes(const Session& session, const std::string& fingerprint, const ContextImage& image) {
  const Conversation& conversation = session.conversation;
  const Json head = {{"id", session.id.text()},           {"owner", session.owner},
                     {"model", session.placement.model},  {"fingerprint", fingerprint},
                     {"created", session.created},        {"tokens", ids_json(image.tokens)},
                     {"messages", conversation.messages}, {"turns", turns_json(conversation.turns)},
                     {"computed", image.computed},        {"block_bytes", image.block_bytes},
                     {"kv_bytes", image.kv.size()}};
  const std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string bytes(kSnapshotMagic);
  bytes += raw(static_cast<uint64_t>(text.size())) + text;
  bytes.append(reinterpret_cast<const char*>(image.kv.data()), image.kv.size());
  bytes += sha256(bytes);
  return bytes;
}

bool is_whole_snapshot(std::string_view bytes) {
  const size_t fixed = kSnapshotMagic.size() + sizeof(uint64_t) + SHA256_DIGEST_LENGTH;
  if (!bytes.starts_with(kSnapshotMagic) || bytes.size() < fixed) return false;
  const size_t body = bytes.size() - SHA256_DIGEST_LENGTH;
  return sha256(bytes.substr(0, body)) == bytes.substr(body);
}

Snapshot read_snapshot(std::string_view bytes) {
  if (!bytes.starts_with(kSnapshotMagic)) corrupt("it isn't a saved session");
  if (!is_whole_snapshot(bytes)) corrupt("its checksum is wrong: it is cut off or damaged");
  const std::string_view body = bytes.substr(0, bytes.size() - SHA256_DIGEST_LENGTH);
  std::string_view rest = body.substr(kSnapshotMagic.size());
  const uint64_t size = read_raw<uint64_t>(rest);
  rest.remove_prefix(sizeof(uint64_t));
  if (size > rest.size()) corrupt("its head is longer than the file");
  const Json head = Json::parse(rest.substr(0, size), nullptr, false);
  if (!head.is_object()) corrupt("its head isn't a JSON object");
  rest.remove_prefix(size);

  Snapshot snapshot{.id = text_at(head, "id"),
                    .owner = text_at(head, "owner"),
                    .model = text_at(head, "model"),
                    .fingerprint = text_at(head, "fingerprint"),
                    .created = count_at(head, "created")};
  snapshot.conversation = {tokens_at(head, "tokens"), array_at(head, "messages"), turns_at(head, "turns")};
  if (count_at(head, "kv_bytes") != static_cast<int64_t>(rest.size())) corrupt("its keys and values are cut off");
  const auto* kv = reinterpret_cast<const std::byte*>(rest.data());
  snapshot.image = {.tokens = snapshot.conversation.tokens,
                    .computed = count_at(head, "computed"),
                    .block_bytes = count_at(head, "block_bytes"),
                    .kv = {kv, kv + rest.size()}};
  return snapshot;
}

}  // namespace genai::serve
