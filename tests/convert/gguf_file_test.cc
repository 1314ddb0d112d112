#include "convert/gguf_file.h"

#include <cstring>
#include <limits>

#include "convert/fixtures.h"

namespace genai {
namespace {

using nxrt::Code;
using nxrt::Error;
using test::error_of;
using test::to_bytes;

// Bytes of a GGUF file, written piece by piece.
class Writer {
 public:
  Writer& raw(const void* data, size_t size) {
    text_.append(static_cast<const char*>(data), size);
    return *this;
  }
  template <class T>
  Writer& number(T value) {
    return raw(&value, sizeof value);
  }
  Writer& string(const std::string& text) { return number<uint64_t>(text.size()).raw(text.data(), text.size()); }
  Writer& header(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
    return raw("GGUF", 4).number(version).number(tensors).number(keys);
  }
  Writer& tensor(const std::string& name, std::vector<uint64_t> dims, uint32_t type, uint64_t offset) {
    string(name).number<uint32_t>(static_cast<uint32_t>(dims.size()));
    for (const uint64_t dim : dims) number(dim);
    return number(type).number(offset);
  }
  Writer& pad(size_t alignment, size_t data) {
    text_.resize((text_.size() + alignment - 1) / alignment * alignment + data);
    return *this;
  }
  std::shared_ptr<const GgufFile> parse() const {
    auto bytes = std::make_shared<std::vector<std::byte>>(to_bytes(text_));
    return GgufFile::parse(*bytes, bytes, "t.gguf");
  }
  Error error() const {
    return error_of([&] { parse(); });
  }

 private:
  std::string text_;
};

TEST(GgufFile, ReadsEveryKindOfKey) {
  const auto file = GgufFile::open(test::tiny_gguf("mixed"));
  EXPECT_EQ(file->text("general.architecture"), "llama");
  EXPECT_EQ(file->integer("llama.block_count"), 2);
  EXPECT_EQ(file->integer("test.small"), -7);
  EXPECT_EQ(file->integer("test.large"), int64_t{1} << 40);
  EXPECT_EQ(file->real("test.real"), 0.25);
  EXPECT_EQ(file->real("llama.block_count"), 2.0);
  EXPECT_EQ(file->boolean("test.yes"), true);
  EXPECT_EQ(file->integers("test.integers"), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(file->reals("test.floats"), (std::vector<float>{0.5f, -1.5f}));
  EXPECT_EQ(file->texts("test.texts"), (std::vector<std::string_view>{"a", "", "ü"}));
  EXPECT_EQ(file->integer("absent"), std::nullopt);
  EXPECT_TRUE(file->texts("absent").empty());
}

TEST(GgufFile, ReadsTensors) {
  const auto file = GgufFile::open(test::tiny_gguf("mixed"));
  const GgufTensor& down = file->require("blk.0.ffn_down.weight");
  EXPECT_EQ(down.type, GgmlType::bf16);
  EXPECT_EQ(down.columns(), 96);
  EXPECT_EQ(down.rows(), 64);
  EXPECT_EQ(down.data.size(), 96u * 64 * 2);
  EXPECT_EQ(file->find("nothing"), nullptr);
  EXPECT_EQ(error_of([&] { file->require("nothing"); }).at(), "mixed.gguf > tensor 'nothing'");
}

TEST(GgufFile, SaysWhatAKeyIsInsteadOfWhatWasExpected) {
  const auto file = GgufFile::open(test::tiny_gguf("mixed"));
  const Error error = error_of([&] { file->integer("general.architecture"); });
  EXPECT_EQ(error.message(), "the value is string, expected an integer");
  EXPECT_TRUE(error.at().starts_with("mixed.gguf > key 'general.architecture' (byte ")) << error.at();
  EXPECT_EQ(error_of([&] { file->text("test.texts"); }).message(),
            "the value is an array of string, expected a string");
  EXPECT_EQ(error_of([&] { file->require_integer("llama.block_count", 3, 9); }).message(),
            "the value is 2, expected 3 to 9");
}

TEST(GgufFile, RefusesOtherFilesAndVersions) {
  EXPECT_EQ(Writer().raw("PK\3\4....", 8).error().message(), "the file does not begin with 'GGUF'");
  EXPECT_EQ(Writer().header(0, 0, 1).error().code(), Code::unsupported);
  EXPECT_EQ(Writer().header(0, 0, 0x03000000).error().message(), "the file is big-endian, expected little-endian");
  EXPECT_EQ(Writer().error().code(), Code::corrupt);
  EXPECT_EQ(Writer().header(0, 0, 2).parse()->tensors().size(), 0u);
}

TEST(GgufFile, RefusesCountsAndLengthsThatDoNotFit) {
  constexpr uint64_t huge = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(Writer().header(huge, 0).error().code(), Code::corrupt);
  EXPECT_EQ(Writer().header(0, huge).error().code(), Code::corrupt);
  EXPECT_EQ(Writer().header(0, 1).number(huge).pad(1, 32).error().code(), Code::corrupt);
  // arrays: u32 of huge length (its bytes would overflow), strings, nested
  for (const uint32_t type : {4u, 8u, 9u, 99u}) {
    Writer w;
    w.header(0, 1).string("k").number<uint32_t>(9).number(type).number(huge / 4 + 2).pad(1, 64);
    EXPECT_EQ(w.error().code(), Code::corrupt) << type;
  }
}

TEST(GgufFile, RefusesKeysAndTensorsThatRepeat) {
  Writer keys;
  for (keys.header(0, 2); const char* key : {"k", "k"}) keys.string(key).number<uint32_t>(7).number<uint8_t>(1);
  EXPECT_EQ(keys.error().message(), "the key appears twice");
  Writer tensors;
  for (tensors.header(2, 0); const char* name : {"x", "x"}) tensors.tensor(name, {8}, 0, 0);
  EXPECT_EQ(tensors.pad(32, 64).error().message(), "the tensor appears twice");
}

TEST(GgufFile, RefusesShapesTypesAndPlacesThatCannotBe) {
  const auto error = [](std::vector<uint64_t> dims, uint32_t type, uint64_t offset) {
    return Writer().header(1, 0).tensor("x", std::move(dims), type, offset).pad(32, 64).error();
  };
  EXPECT_EQ(error({1, 1, 1, 1, 1}, 0, 0).message(), "the tensor has 5 dimensions, expected at most 4");
  EXPECT_EQ(error({0}, 0, 0).code(), Code::corrupt);
  EXPECT_EQ(error({uint64_t{1} << 40, uint64_t{1} << 40}, 0, 0).code(), Code::corrupt);
  EXPECT_EQ(error({33}, 2, 0).message(), "rows have 33 elements, expected a multiple of 32 for Q4_0");
  EXPECT_EQ(error({8}, 20, 0).code(), Code::unsupported);
  EXPECT_EQ(error({8}, 1234, 0).code(), Code::unsupported);
  EXPECT_EQ(error({8}, 0, 4).message(), "the data offset 4 is no multiple of 32");
  EXPECT_EQ(error({8}, 0, 64).code(), Code::corrupt);
  EXPECT_EQ(error({8}, 0, std::numeric_limits<uint64_t>::max() - 31).code(), Code::corrupt);
  EXPECT_EQ(error({17}, 0, 0).at(), "t.gguf > tensor 'x' (byte 64)");
}

TEST(GgufFile, HonoursTheAlignmentKey) {
  const auto with = [](uint32_t alignment) {
    Writer w;
    w.header(1, 1).string("general.alignment").number<uint32_t>(4).number(alignment).tensor("x", {2}, 0, 0);
    return w.pad(alignment == 256 ? 256 : 1, 8);
  };
  EXPECT_EQ(with(256).parse()->require("x").data.size(), 8u);
  EXPECT_EQ(with(0).error().code(), Code::corrupt);
  EXPECT_EQ(with(48).error().code(), Code::corrupt);
}

// Every prefix of a header is an Error that names the file; none reads past its end (the sanitizers watch).
TEST(GgufFile, TruncatedFilesAreErrors) {
  const std::vector<std::byte> whole = to_bytes(test::read_file(test::tiny_gguf("q4_1")));
  for (size_t size = 0; size < whole.size(); size += 97) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Error error = error_of([&] { GgufFile::parse(part, nullptr, "t.gguf"); });
    ASSERT_TRUE(error.at().starts_with("t.gguf > ")) << size;
  }
}

}  // namespace
}  // namespace genai
