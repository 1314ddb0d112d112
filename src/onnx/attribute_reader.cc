#include "onnx/attribute_reader.h"

#include <fmt/format.h>

#include <bit>

#include "onnx/tensor_reader.h"

namespace nxrt::onnx {
namespace {

// AttributeProto.AttributeType.
enum Type { kUndefined, kFloat, kInt, kString, kTensor, kGraph, kFloats, kInts, kStrings, kSparse = 11 };

std::string raw_string(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class AttributeReader {
 public:
  AttributeReader(ReadContext& context, const std::string& at) : context_(context), outer_at_(at) {}

  AttributeFields read(Bytes message) {
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number == 1) fields_.name = field->text();
    }
    at_ = place(outer_at_, fmt::format("attribute '{}'", fields_.name));
    if (fields_.name.empty()) context_.fail(Code::corrupt, "an attribute has no name", outer_at_);
    for (WireReader in(context_.source, message); const auto field = in.next();) take(*field);
    if (fields_.reference.empty()) choose();
    return std::move(fields_);
  }

 private:
  void take(const Field& field) {
    switch (field.number) {
      case 2: saw(kFloat), real_ = field.f32(); break;
      case 3: saw(kInt), integer_ = field.i64(); break;
      case 4: saw(kString), string_ = raw_string(field.bytes()); break;
      case 5: saw(kTensor), tensor_ = read_tensor(context_, field.bytes(), at_).tensor; break;
      case 6: saw(kGraph), fields_.body = field.bytes(); break;
      case 7: saw(kFloats), take_floats(field); break;
      case 8: saw(kInts), take_ints(field); break;
      case 9: saw(kStrings), take_string(field); break;
      case 20: type_ = field.i32(); break;
      case 21: fields_.reference = field.text(); break;
      case 22: saw(kSparse), tensor_ = read_sparse_tensor(context_, field.bytes(), at_).tensor; break;
      default: break;
    }
  }

  void saw(Type type) { seen_ = type; }

  void take_floats(const Field& field) {
    each_scalar(field, WireType::fixed32, [&](uint64_t bits) {
      context_.budget.charge(sizeof(float));
      reals_.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    });
  }

  void take_ints(const Field& field) {
    each_scalar(field, WireType::varint, [&](uint64_t bits) {
      context_.budget.charge(sizeof bits);
      integers_.push_back(static_cast<int64_t>(bits));
    });
  }

  void take_string(const Field& field) {
    context_.budget.charge(static_cast<int64_t>(sizeof(std::string) + field.bytes().size()));
    strings_.push_back(raw_string(field.bytes()));
  }

  // Files of the first format version have no type: the field that is there tells it.
  void choose() {
    switch (type_ == kUndefined ? seen_ : type_) {
      case kFloat: fields_.value = real_; break;
      case kInt: fields_.value = integer_; break;
      case kString: fields_.value = std::move(string_); break;
      case kTensor:
      case kSparse:
        if (!tensor_) context_.fail(Code::corrupt, "the tensor is missing", at_);
        fields_.value = std::move(tensor_);
        break;
      case kGraph:
        if (!fields_.body) context_.fail(Code::corrupt, "the graph is missing", at_);
        return;
      case kFloats: fields_.value = std::move(reals_); break;
      case kInts: fields_.value = std::move(integers_); break;
      case kStrings: fields_.value = std::move(strings_); break;
      case kUndefined: context_.fail(Code::corrupt, "the attribute has no value", at_);
      default: context_.fail(Code::unsupported, fmt::format("attributes of type {} are not supported", type_), at_);
    }
    fields_.body.reset();
  }

  ReadContext& context_;
  const std::string& outer_at_;
  std::string at_;
  AttributeFields fields_;
  int type_ = kUndefined, seen_ = kUndefined;
  float real_ = 0;
  int64_t integer_ = 0;
  std::string string_;
  Tensor tensor_;
  std::vector<float> reals_;
  std::vector<int64_t> integers_;
  std::vector<std::string> strings_;
};

}  // namespace

AttributeFields read_attribute(ReadContext& context, Bytes message, const std::string& at) {
  return AttributeReader(context, at).read(message);
}

}  // namespace nxrt::onnx
