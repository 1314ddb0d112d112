#include "onnx/type_reader.h"

#include <fmt/format.h>

namespace nxrt::onnx {
namespace {

class TypeReader {
 public:
  TypeReader(ReadContext& context, std::string at) : context_(context), at_(std::move(at)) {}

  void type(Bytes message, NamedType& into) {
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      switch (field->number) {
        case 1:
          into.kind = "tensor";
          tensor_type(field->bytes(), into.type);
          break;
        case 4: into.kind = "sequence"; break;
        case 5: into.kind = "map"; break;
        case 8: into.kind = "sparse tensor"; break;
        case 9: into.kind = "optional"; break;
        default: break;
      }
    }
  }

 private:
  void tensor_type(Bytes message, TensorType& type) {
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number == 1) type.dtype = dtype(field->i32());
      if (field->number == 2) type.shape = shape(field->bytes());
    }
  }

  DType dtype(int32_t number) const {
    if (number == 0) return DType::none;
    if (!is_known(number)) context_.fail(Code::unsupported, fmt::format("element type {} is not known", number), at_);
    return static_cast<DType>(number);
  }

  SymShape shape(Bytes message) {
    std::vector<Dim> dims;
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number != 1) continue;
      if (dims.size() == Shape::kMaxRank) {
        context_.fail(Code::unsupported, fmt::format("the rank is above {}", Shape::kMaxRank), at_);
      }
      dims.push_back(dim(field->bytes()));
    }
    return SymShape(std::move(dims));
  }

  Dim dim(Bytes message) {
    context_.budget.charge(kDimBytes);
    Dim dim;
    for (WireReader in(context_.source, message); const auto field = in.next();) {
      if (field->number == 1) {
        if (field->i64() < 0) {
          context_.fail(Code::corrupt, fmt::format("dim {} is negative", field->i64()), at_,
                        "name an unknown dim (dim_param) or leave it out");
        }
        dim = field->i64();
      }
      if (field->number == 2) dim = dim_of_param(field->text());
    }
    return dim;
  }

  static constexpr int64_t kDimBytes = 160;
  ReadContext& context_;
  std::string at_;
};

// Quoted names excepted.
bool has_unspaced_minus(std::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    quoted ^= text[i] == '\'';
    if (!quoted && text[i] == '-' && i > 0 && text[i - 1] != ' ') return true;
  }
  return false;
}

}  // namespace

Dim dim_of_param(std::string_view param) {
  constexpr size_t kLongestExpression = 4096;
  if (param.empty()) return Dim::unknown();
  if (param.size() > kLongestExpression || has_unspaced_minus(param)) return Dim::symbol(std::string(param));
  const auto parsed = Dim::parse(std::string(param));
  return parsed ? *parsed : Dim::symbol(std::string(param));
}

NamedType read_value_info(ReadContext& context, Bytes message, const std::string& at) {
  NamedType value;
  std::optional<Bytes> type;
  for (WireReader in(context.source, message); const auto field = in.next();) {
    if (field->number == 1) value.name = field->text();
    if (field->number == 2) type = field->bytes();
  }
  if (type) TypeReader(context, place(at, fmt::format("value '{}'", value.name))).type(*type, value);
  return value;
}

}  // namespace nxrt::onnx
