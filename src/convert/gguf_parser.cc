// Bytes → GgufFile. Everything that trusts nothing is here.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "convert/gguf_file.h"
#include "convert/gguf_format.h"

namespace genai {

using nxrt::Code;
using nxrt::Error;

namespace gguf {

int bytes_of_scalar(uint32_t type) {
  switch (type) {
    case kU8:
    case kI8:
    case kBool: return 1;
    case kU16:
    case kI16: return 2;
    case kU32:
    case kI32:
    case kF32: return 4;
    case kU64:
    case kI64:
    case kF64: return 8;
    default: return 0;
  }
}

const char* name_of_type(uint32_t type) {
  constexpr const char* kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                    "bool", "string", "array", "u64", "i64", "f64"};
  return type < std::size(kNames) ? kNames[type] : "unknown";
}

}  // namespace gguf

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, GgufFile& file) : bytes_(bytes), file_(file) {}

  void parse() {
    read_header();
    for (uint64_t i = 0; i < value_count_; ++i) read_value();
    read_alignment();
    for (uint64_t i = 0; i < tensor_count_; ++i) read_tensor_info();
    place_tensors();
  }

 private:
  static constexpr uint64_t kMaxDims = 4, kMaxNameBytes = 65535;
  static constexpr int kMaxArrayDepth = 4;

  [[noreturn]] void fail(const std::string& what, Code code = Code::corrupt, const std::string& fix = {}) const {
    std::string at = fmt::format("{} > byte {}", file_.where_, start_);
    if (!subject_.empty()) at = fmt::format("{} > {} (byte {})", file_.where_, subject_, start_);
    throw Error(code, what, at, fix);
  }

  uint64_t left() const { return bytes_.size() - at_; }

  std::span<const std::byte> take(uint64_t count, const char* what) {
    if (count > left()) {
      start_ = at_;
      fail(fmt::format("{} needs {} bytes, {} are left in the file", what, count, left()), Code::corrupt,
           "the file is incomplete or damaged: get it again");
    }
    return bytes_.subspan(std::exchange(at_, at_ + count), count);
  }

  template <class T>
  T number(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string_view string(const char* what) {
    const uint64_t length = number<uint64_t>(what);
    const std::span<const std::byte> text = take(length, what);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  void read_header() {
    if (number<uint32_t>("the header") != 0x46554747u) {
      fail("the file does not begin with 'GGUF'", Code::corrupt, "give the path of a GGUF file");
    }
    const uint32_t version = number<uint32_t>("the version");
    if ((version & 0xffffu) == 0) fail("the file is big-endian, expected little-endian", Code::unsupported);
    if (version != 2 && version != 3) {
      fail(fmt::format("the GGUF version is {}, expected 2 or 3", version), Code::unsupported,
           "convert the model to GGUF again with a current converter");
    }
    tensor_count_ = number<uint64_t>("the tensor count");
    value_count_ = number<uint64_t>("the key count");
    // The smallest key takes 13 bytes and the smallest tensor 24: more cannot be in this file.
    if (value_count_ > left() / 13) fail(fmt::format("the file claims {} keys, more than fit in it", value_count_));
    if (tensor_count_ > left() / 24) {
      fail(fmt::format("the file claims {} tensors, more than fit in it", tensor_count_));
    }
  }

  void read_value() {
    subject_.clear();
    start_ = at_;
    const std::string key(string("a key's name"));
    if (key.size() > kMaxNameBytes) fail(fmt::format("a key's name has {} bytes, expected at most 65535", key.size()));
    subject_ = fmt::format("key '{}'", key);
    GgufFile::Value value;
    value.type = number<uint32_t>("a value's type");
    value.offset = at_;
    if (value.type == gguf::kArray) {
      value.element_type = number<uint32_t>("an array's type");
      value.count = number<uint64_t>("an array's length");
      const uint64_t first = at_;
      skip_elements(value.element_type, value.count, 1);
      value.bytes = bytes_.subspan(first, at_ - first);
    } else {
      skip_elements(value.type, 1, 0);
      value.bytes = bytes_.subspan(value.offset, at_ - value.offset);
    }
    if (!file_.values_.emplace(key, value).second) fail("the key appears twice");
  }

  void skip_elements(uint32_t type, uint64_t count, int depth) {
    if (const int size = gguf::bytes_of_scalar(type)) {
      if (count > left() / static_cast<uint64_t>(size)) {
        fail(fmt::format("an array of {} {} needs more than the {} bytes left", count, gguf::name_of_type(type),
                         left()));
      }
      take(count * static_cast<uint64_t>(size), "a value");
    } else if (type == gguf::kString) {
      for (uint64_t i = 0; i < count; ++i) string("a string");
    } else if (type == gguf::kArray && depth < kMaxArrayDepth) {
      for (uint64_t i = 0; i < count; ++i) {
        const uint32_t inner = number<uint32_t>("an array's type");
        skip_elements(inner, number<uint64_t>("an array's length"), depth + 1);
      }
    } else {
      fail(type == gguf::kArray ? "arrays are nested deeper than 4"
                                : fmt::format("the value's type is {}, expected 0 to 12", type));
    }
  }

  void read_alignment() {
    subject_ = "key 'general.alignment'";
    start_ = at_;
    const int64_t alignment = file_.integer("general.alignment").value_or(32);
    if (alignment < 1 || alignment > (1 << 20) || !std::has_single_bit(static_cast<uint64_t>(alignment))) {
      fail(fmt::format("the alignment is {}, expected a power of two up to 1048576", alignment));
    }
    alignment_ = static_cast<uint64_t>(alignment);
  }

  void read_tensor_info() {
    subject_.clear();
    start_ = at_;
    GgufTensor tensor;
    tensor.name = std::string(string("a tensor's name"));
    if (tensor.name.size() > kMaxNameBytes) fail("a tensor's name is longer than 65535 bytes");
    subject_ = fmt::format("tensor '{}'", tensor.name);
    const uint32_t rank = number<uint32_t>("a tensor's rank");
    if (rank > kMaxDims) fail(fmt::format("the tensor has {} dimensions, expected at most 4", rank));
    uint64_t count = 1;
    for (uint32_t i = 0; i < rank; ++i) {
      const uint64_t dim = number<uint64_t>("a tensor's shape");
      if (dim == 0 || dim > (uint64_t{1} << 48) / count) {
        fail(fmt::format("dimension {} is {}: the tensor is empty or larger than 2^48 elements", i, dim));
      }
      count *= dim;
      tensor.dims.push_back(static_cast<int64_t>(dim));
    }
    read_layout(tensor, count);
    if (!file_.by_name_.emplace(tensor.name, file_.tensors_.size()).second) fail("the tensor appears twice");
    file_.tensors_.push_back(std::move(tensor));
  }

  void read_layout(GgufTensor& tensor, uint64_t count) {
    const uint32_t number_of_type = number<uint32_t>("a tensor's type");
    const GgmlTypeInfo* info = find_ggml_type(number_of_type);
    if (!info) {
      fail(fmt::format("the tensor's type is {} ({}), expected F32, F16, BF16, Q2_K to Q6_K, Q4_0, Q4_1, Q5_0, Q5_1 or "
                       "Q8_0",
                       name_of_unread_ggml_type(number_of_type), number_of_type),
           Code::unsupported, "use the model in one of these quantizations");
    }
    tensor.type = info->type;
    const uint64_t block = static_cast<uint64_t>(info->block_elements);
    if (static_cast<uint64_t>(tensor.columns()) % block != 0) {
      fail(fmt::format("rows have {} elements, expected a multiple of {} for {}", tensor.columns(), block, info->name));
    }
    places_.push_back(
        {number<uint64_t>("a tensor's offset"), count / block * static_cast<uint64_t>(info->block_bytes)});
  }

  void place_tensors() {
    const uint64_t begin = (at_ + alignment_ - 1) / alignment_ * alignment_;
    for (size_t i = 0; i < file_.tensors_.size(); ++i) {
      subject_ = fmt::format("tensor '{}'", file_.tensors_[i].name);
      const auto [offset, size] = places_[i];
      start_ = begin;
      if (offset % alignment_ != 0) fail(fmt::format("the data offset {} is no multiple of {}", offset, alignment_));
      const uint64_t room = bytes_.size() > begin ? bytes_.size() - begin : 0;
      if (offset > room || size > room - offset) {
        fail(fmt::format("the data needs bytes {} to {}, the file ends at {}", begin + offset, begin + offset + size,
                         bytes_.size()),
             Code::corrupt, "the file is incomplete or damaged: get it again");
      }
      file_.tensors_[i].data = bytes_.subspan(begin + offset, size);
    }
  }

  std::span<const std::byte> bytes_;
  GgufFile& file_;
  uint64_t at_ = 0, start_ = 0;  // the next byte; where the present subject began
  std::string subject_;          // "key 'k'", for errors
  uint64_t tensor_count_ = 0, value_count_ = 0, alignment_ = 32;
  std::vector<std::pair<uint64_t, uint64_t>> places_;  // offset, bytes
};

std::shared_ptr<const GgufFile> GgufFile::parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                                const std::string& where) {
  auto file = std::make_shared<GgufFile>();
  file->where_ = where;
  file->bytes_ = static_cast<int64_t>(bytes.size());
  file->owner_ = std::move(owner);
  GgufParser(bytes, *file).parse();
  return file;
}

}  // namespace genai
