#include "onnx/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace nxrt::onnx {
namespace {

// Field numbers of TensorProto's typed data.
constexpr uint32_t kFloatData = 4, kInt32Data = 5, kInt64Data = 7, kRawData = 9, kDoubleData = 10, kUint64Data = 11;

struct TensorFields {
  std::vector<int64_t> dims;
  int32_t data_type = 0;
  std::string name;
  std::optional<Bytes> raw;
  std::map<std::string, std::string> external;
  bool is_external = false, has_typed = false, is_segment = false;
};

void read_external_entry(ReadContext& context, Bytes message, TensorFields& tensor) {
  context.budget.charge(160);
  std::string key, value;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    if (field->number == 1) key = field->text();
    if (field->number == 2) value = field->text();
  }
  tensor.external[key] = value;
}

TensorFields read_fields(ReadContext& context, Bytes message) {
  TensorFields tensor;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    switch (field->number) {
      case 1:
        each_scalar(*field, WireType::varint, [&](uint64_t dim) {
          context.budget.charge(sizeof dim);
          tensor.dims.push_back(static_cast<int64_t>(dim));
        });
        break;
      case 2: tensor.data_type = field->i32(); break;
      case 3: tensor.is_segment = true; break;
      case 8: tensor.name = field->text(); break;
      case kRawData: tensor.raw = field->bytes(); break;
      case 13: read_external_entry(context, field->bytes(), tensor); break;
      case 14: tensor.is_external = field->i32() == 1; break;
      case kFloatData:
      case kInt32Data:
      case kInt64Data:
      case kDoubleData:
      case kUint64Data: tensor.has_typed = true; break;
      default: break;
    }
  }
  return tensor;
}

// Where values of this type are stored when they are not raw.
uint32_t typed_field(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::c64: return kFloatData;
    case DType::i64: return kInt64Data;
    case DType::f64:
    case DType::c128: return kDoubleData;
    case DType::u32:
    case DType::u64: return kUint64Data;
    default: return kInt32Data;
  }
}

// Bytes of one stored scalar: half a complex number, a pair of 4-bit integers.
int stored_width(DType dtype) {
  if (dtype == DType::c64) return 4;
  if (dtype == DType::c128) return 8;
  return std::max(bits_of(dtype) / 8, 1);
}

WireType element_type(uint32_t field) {
  if (field == kFloatData) return WireType::fixed32;
  return field == kDoubleData ? WireType::fixed64 : WireType::varint;
}

class TensorReader {
 public:
  TensorReader(ReadContext& context, Bytes message, const std::string& at)
      : context_(context), message_(message), fields_(read_fields(context, message)) {
    at_ = place(at, fmt::format("tensor '{}'", fields_.name));
  }

  NamedTensor read() {
    check_kind();
    const Shape shape = checked_shape(context_, fields_.dims, at_);
    const auto dtype = static_cast<DType>(fields_.data_type);
    const int64_t bytes = bytes_of(dtype, shape.count());
    if (bytes < 0) fail(Code::corrupt, fmt::format("shape {} is too large", shape.text()));
    Tensor tensor;
    if (fields_.is_external) {
      tensor = context_.external.tensor(dtype, shape, fields_.external, place(context_.source.where, at_));
    } else {
      tensor = fields_.raw ? raw_tensor(dtype, shape, bytes) : typed_tensor(dtype, shape, bytes);
    }
    if (dtype == DType::boolean) check_booleans(tensor);
    return {fields_.name, std::move(tensor)};
  }

  static Shape checked_shape(const ReadContext& context, const std::vector<int64_t>& dims, const std::string& at) {
    if (dims.size() > Shape::kMaxRank) {
      context.fail(Code::unsupported, fmt::format("rank is {}, expected at most {}", dims.size(), Shape::kMaxRank), at);
    }
    int64_t product = 1;
    for (const int64_t dim : dims) {
      if (dim < 0) context.fail(Code::corrupt, fmt::format("dim {} is negative", dim), at);
      // Zeros are left out of the product so that no order of dims hides an overflow.
      if (dim != 0 && __builtin_mul_overflow(product, dim, &product)) {
        context.fail(Code::corrupt, "the number of elements does not fit 63 bits", at);
      }
    }
    return Shape(std::span<const int64_t>(dims));
  }

 private:
  void check_kind() const {
    if (fields_.is_segment) fail(Code::unsupported, "the tensor is stored in segments");
    if (!is_known(fields_.data_type)) {
      fail(Code::unsupported, fmt::format("element type {} is not known", fields_.data_type));
    }
    if (fields_.data_type == static_cast<int>(DType::string)) {
      fail(Code::unsupported, "string tensors stored in the model are not supported",
           "keep texts outside the graph, or feed them as an input");
    }
    if (fields_.raw && fields_.has_typed) fail(Code::corrupt, "the tensor has raw data and typed data");
  }

  Tensor raw_tensor(DType dtype, const Shape& shape, int64_t bytes) {
    if (static_cast<int64_t>(fields_.raw->size()) != bytes) {
      fail(Code::corrupt, fmt::format("raw data has {} bytes, but {}{} needs {}", fields_.raw->size(), name_of(dtype),
                                      shape.text(), bytes));
    }
    if (!is_aligned_for(dtype, fields_.raw->data())) context_.budget.charge(bytes);
    return share_or_copy(dtype, shape, fields_.raw->data(), context_.owner);
  }

  Tensor typed_tensor(DType dtype, const Shape& shape, int64_t bytes) {
    context_.budget.charge(bytes);
    Tensor tensor = Tensor::zeros(dtype, shape);
    const int width = stored_width(dtype);
    const int64_t wanted = bytes / width;
    const uint32_t number = typed_field(dtype);
    auto* out = static_cast<std::byte*>(tensor.raw_mutable());
    int64_t count = 0;
    for (WireReader in(context_.source, message_); const auto field = in.next();) {
      if (field->number != number) continue;
      each_scalar(*field, element_type(number), [&](uint64_t bits) {
        if (count < wanted) std::memcpy(out + count * width, &bits, static_cast<size_t>(width));
        if (element_type(number) == WireType::varint) check_range(bits, width);
        ++count;
      });
    }
    if (count != wanted) {
      fail(Code::corrupt,
           fmt::format("found {} stored values, but {}{} needs {}", count, name_of(dtype), shape.text(), wanted));
    }
    return tensor;
  }

  // Kernels read C++ bools, which have no third value.
  void check_booleans(const Tensor& tensor) const {
    const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
    if (std::any_of(bytes, bytes + tensor.count(), [](uint8_t byte) { return byte > 1; })) {
      fail(Code::corrupt, "a bool is neither 0 nor 1");
    }
  }

  // Bit patterns and numbers of either sign are stored; bits beyond the width must only repeat the sign.
  void check_range(uint64_t bits, int width) const {
    const int shift = 8 * width;
    if (width == 8 || bits >> shift == 0) return;
    const auto value = static_cast<int64_t>(bits);
    if (value < 0 && value >= -(int64_t{1} << (shift - 1))) return;
    fail(Code::corrupt, fmt::format("the stored value {} does not fit {} bits", value, shift));
  }

  [[noreturn]] void fail(Code code, const std::string& what, const std::string& fix = kDamaged) const {
    context_.fail(code, what, at_, fix);
  }

  ReadContext& context_;
  Bytes message_;
  TensorFields fields_;
  std::string at_;
};

// Row-major positions of a sparse tensor's values: given directly as [n], or as coordinates [n, rank].
std::vector<int64_t> positions(const ReadContext& context, const Tensor& indices, const Shape& shape, int64_t n,
                               const std::string& at) {
  const bool linear = indices.shape().rank() == 1;
  const int columns = linear ? 1 : shape.rank();
  if (indices.dtype() != DType::i64 || indices.shape() != (linear ? Shape{n} : Shape{n, columns})) {
    context.fail(Code::corrupt,
                 fmt::format("sparse indices are {}{}, expected i64[{}] or i64[{}, {}]", name_of(indices.dtype()),
                             indices.shape().text(), n, n, shape.rank()),
                 at);
  }
  std::vector<int64_t> all(static_cast<size_t>(n));
  const int64_t* index = indices.data<int64_t>();
  for (int64_t& position : all) {
    for (int k = 0; k < columns; ++k, ++index) {
      const int64_t size = linear ? shape.count() : shape[k];
      if (*index < 0 || *index >= size) {
        context.fail(Code::corrupt, fmt::format("sparse index {} is outside [0, {})", *index, size), at);
      }
      position = position * size + *index;
    }
  }
  return all;
}

}  // namespace

NamedTensor read_tensor(ReadContext& context, Bytes message, const std::string& at) {
  return TensorReader(context, message, at).read();
}

NamedTensor read_sparse_tensor(ReadContext& context, Bytes message, const std::string& at) {
  NamedTensor values, indices;
  std::vector<int64_t> dims;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    if (field->number == 1) values = read_tensor(context, field->bytes(), at);
    if (field->number == 2) indices = read_tensor(context, field->bytes(), at);
    if (field->number != 3) continue;
    each_scalar(*field, WireType::varint, [&](uint64_t dim) {
      context.budget.charge(sizeof dim);
      dims.push_back(static_cast<int64_t>(dim));
    });
  }
  const std::string place_of_tensor = place(at, fmt::format("sparse tensor '{}'", values.name));
  const Shape shape = TensorReader::checked_shape(context, dims, place_of_tensor);
  const int width = bits_of(values.tensor.dtype()) / 8;
  if (width == 0 || !indices.tensor || values.tensor.shape().rank() != 1) {
    context.fail(Code::corrupt, "a sparse tensor needs values [n] of whole bytes and indices", place_of_tensor);
  }
  const int64_t n = values.tensor.count();
  context.budget.charge(bytes_of(values.tensor.dtype(), shape.count()));
  context.budget.charge(n * 8);
  Tensor dense = Tensor::zeros(values.tensor.dtype(), shape);
  const auto where = positions(context, indices.tensor, shape, n, place_of_tensor);
  for (size_t i = 0; i < where.size(); ++i) {
    std::memcpy(static_cast<std::byte*>(dense.raw_mutable()) + where[i] * width,
                static_cast<const std::byte*>(values.tensor.raw()) + static_cast<int64_t>(i) * width,
                static_cast<size_t>(width));
  }
  return {values.name, dense};
}

}  // namespace nxrt::onnx
