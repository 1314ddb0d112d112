#include "convert/gguf_file.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/mapped_file.h"
#include "convert/gguf_format.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_integer(uint32_t type) {
  return gguf::bytes_of_scalar(type) > 0 && !gguf::is_real(type) && type != gguf::kBool;
}

int64_t integer_at(uint32_t type, const std::byte* at) {
  switch (type) {
    case gguf::kU8: return load<uint8_t>(at);
    case gguf::kI8: return load<int8_t>(at);
    case gguf::kU16: return load<uint16_t>(at);
    case gguf::kI16: return load<int16_t>(at);
    case gguf::kU32: return load<uint32_t>(at);
    case gguf::kI32: return load<int32_t>(at);
    default: return load<int64_t>(at);  // u64 above int64's range turns negative; callers bound what they use
  }
}

double real_at(uint32_t type, const std::byte* at) {
  if (type == gguf::kF32) return load<float>(at);
  if (type == gguf::kF64) return load<double>(at);
  return static_cast<double>(integer_at(type, at));
}

bool is_number(uint32_t type) { return is_integer(type) || gguf::is_real(type); }
bool is_bool(uint32_t type) { return type == gguf::kBool; }
bool is_text(uint32_t type) { return type == gguf::kString; }

std::string_view text_at(const std::byte* at) { return {reinterpret_cast<const char*>(at + 8), load<uint64_t>(at)}; }

}  // namespace

int64_t GgufTensor::rows() const {
  int64_t product = 1;
  for (size_t i = 1; i < dims.size(); ++i) product *= dims[i];
  return product;
}

std::shared_ptr<const GgufFile> GgufFile::open(const std::filesystem::path& path) {
  auto file = nxrt::MappedFile::open(path);
  const std::span<const std::byte> bytes = file->bytes();
  return parse(bytes, std::move(file), path.filename().string());
}

std::string GgufFile::place_of_key(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return fmt::format("{} > key '{}'", where_, key);
  return fmt::format("{} > key '{}' (byte {})", where_, key, found->second.offset);
}

std::string GgufFile::place_of_tensor(const std::string& name) const {
  return fmt::format("{} > tensor '{}'", where_, name);
}

const GgufFile::Value* GgufFile::find_value(const std::string& key, bool array, bool (*accepts)(uint32_t),
                                            const char* expected) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return nullptr;
  const Value& value = found->second;
  const bool is_array = value.type == gguf::kArray;
  if (is_array == array && accepts(is_array ? value.element_type : value.type)) return &value;
  const std::string what = is_array ? fmt::format("an array of {}", gguf::name_of_type(value.element_type))
                                    : std::string(gguf::name_of_type(value.type));
  throw Error(Code::corrupt, fmt::format("the value is {}, expected {}", what, expected), place_of_key(key));
}

std::optional<int64_t> GgufFile::integer(const std::string& key) const {
  const Value* value = find_value(key, false, is_integer, "an integer");
  return value ? std::optional(integer_at(value->type, value->bytes.data())) : std::nullopt;
}

std::optional<double> GgufFile::real(const std::string& key) const {
  const Value* value = find_value(key, false, is_number, "a number");
  return value ? std::optional(real_at(value->type, value->bytes.data())) : std::nullopt;
}

std::optional<bool> GgufFile::boolean(const std::string& key) const {
  const Value* value = find_value(key, false, is_bool, "a bool");
  return value ? std::optional(load<uint8_t>(value->bytes.data()) != 0) : std::nullopt;
}

std::optional<std::string_view> GgufFile::text(const std::string& key) const {
  const Value* value = find_value(key, false, is_text, "a string");
  return value ? std::optional(text_at(value->bytes.data())) : std::nullopt;
}

std::vector<std::string_view> GgufFile::texts(const std::string& key) const {
  std::vector<std::string_view> all;
  const Value* value = find_value(key, true, is_text, "an array of strings");
  if (!value) return all;
  all.reserve(value->count);
  for (size_t at = 0; at < value->bytes.size(); at += 8 + all.back().size()) {
    all.push_back(text_at(value->bytes.data() + at));
  }
  return all;
}

std::vector<int64_t> GgufFile::integers(const std::string& key) const {
  std::vector<int64_t> all;
  const Value* value = find_value(key, true, is_integer, "an array of integers");
  if (!value) return all;
  const size_t step = static_cast<size_t>(gguf::bytes_of_scalar(value->element_type));
  all.reserve(value->count);
  for (size_t at = 0; at < value->bytes.size(); at += step) {
    all.push_back(integer_at(value->element_type, value->bytes.data() + at));
  }
  return all;
}

std::vector<float> GgufFile::reals(const std::string& key) const {
  std::vector<float> all;
  const Value* value = find_value(key, true, is_number, "an array of numbers");
  if (!value) return all;
  const size_t step = static_cast<size_t>(gguf::bytes_of_scalar(value->element_type));
  all.reserve(value->count);
  for (size_t at = 0; at < value->bytes.size(); at += step) {
    all.push_back(static_cast<float>(real_at(value->element_type, value->bytes.data() + at)));
  }
  return all;
}

int64_t GgufFile::require_integer(const std::string& key, int64_t lowest, int64_t highest) const {
  const std::optional<int64_t> value = integer(key);
  if (!value) throw Error(Code::corrupt, "the key is missing", place_of_key(key), "convert the model to GGUF again");
  if (*value >= lowest && *value <= highest) return *value;
  throw Error(Code::corrupt, fmt::format("the value is {}, expected {} to {}", *value, lowest, highest),
              place_of_key(key));
}

const GgufTensor* GgufFile::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

const GgufTensor& GgufFile::require(const std::string& name) const {
  if (const GgufTensor* tensor = find(name)) return *tensor;
  throw Error(Code::corrupt, "the tensor is missing", place_of_tensor(name), "convert the model to GGUF again");
}

}  // namespace genai
