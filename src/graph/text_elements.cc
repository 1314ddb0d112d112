#include "graph/text_elements.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/half.h"

namespace nxrt {
namespace {

bool is_small_integer(DType dtype) {
  return dtype == DType::u4 || dtype == DType::i4 || dtype == DType::u2 || dtype == DType::i2;
}

bool is_signed(DType dtype) {
  return dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64 ||
         dtype == DType::i4 || dtype == DType::i2;
}

bool by_element(DType dtype) {
  return is_float(dtype) || is_integer(dtype) || is_small_integer(dtype) || dtype == DType::boolean;
}

int width_of(DType dtype) { return by_element(dtype) ? bits_of(dtype) : 8; }

uint64_t bits_at(const Tensor& tensor, int64_t i, int width) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
  if (width < 8) return (bytes[i * width / 8] >> (i * width % 8)) & ((1u << width) - 1u);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes + i * (width / 8), static_cast<size_t>(width / 8));
  return bits;
}

int64_t sign_extend(uint64_t bits, int width) { return static_cast<int64_t>(bits << (64 - width)) >> (64 - width); }

template <class T>
std::optional<T> number_in(const std::string& text) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return {};
  return value;
}

std::optional<uint64_t> float_bits_in(DType dtype, const std::string& text) {
  if (dtype == DType::f64) {
    const auto value = number_in<double>(text);
    return value ? std::optional(std::bit_cast<uint64_t>(*value)) : std::nullopt;
  }
  const auto value = number_in<float>(text);
  if (!value) return {};
  if (dtype == DType::f16) return to_half(*value).bits;
  if (dtype == DType::bf16) return to_bfloat16(*value).bits;
  return float_bits(*value);
}

std::optional<uint64_t> integer_bits_in(DType dtype, const std::string& text) {
  const int width = width_of(dtype);
  if (!is_signed(dtype)) {
    const auto value = number_in<uint64_t>(text);
    return value && (width == 64 || *value >> width == 0) ? value : std::nullopt;
  }
  const auto value = number_in<int64_t>(text);
  if (!value || sign_extend(static_cast<uint64_t>(*value), width) != *value) return {};
  return width == 64 ? static_cast<uint64_t>(*value) : static_cast<uint64_t>(*value) & ((uint64_t{1} << width) - 1);
}

}  // namespace

std::string float_text(double value, bool single) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

int64_t written_elements(DType dtype, const Shape& shape) {
  return by_element(dtype) ? shape.count() : bytes_of(dtype, shape.count());
}

std::string element_text(const Tensor& tensor, int64_t i) {
  const DType dtype = tensor.dtype();
  const int width = width_of(dtype);
  const uint64_t bits = bits_at(tensor, i, width);
  switch (dtype) {
    case DType::f32: return float_text(float_from(static_cast<uint32_t>(bits)), true);
    case DType::f16: return float_text(to_float(Half{static_cast<uint16_t>(bits)}), true);
    case DType::bf16: return float_text(to_float(BFloat16{static_cast<uint16_t>(bits)}), true);
    case DType::f64: return float_text(std::bit_cast<double>(bits), false);
    default: return is_signed(dtype) ? fmt::format("{}", sign_extend(bits, width)) : fmt::format("{}", bits);
  }
}

bool ElementParser::add(const std::string& text) {
  const auto bits = is_float(dtype_) ? float_bits_in(dtype_, text) : integer_bits_in(dtype_, text);
  if (!bits || (dtype_ == DType::boolean && *bits > 1)) return false;
  bits_.push_back(*bits);
  return true;
}

void ElementParser::repeat_last(int64_t times) {
  const uint64_t last = bits_.back();
  bits_.insert(bits_.end(), static_cast<size_t>(times), last);
}

Tensor ElementParser::finish() const {
  Tensor tensor = Tensor::zeros(dtype_, shape_);
  auto* bytes = static_cast<uint8_t*>(tensor.raw_mutable());
  const size_t width = static_cast<size_t>(width_of(dtype_));
  for (size_t i = 0; i < bits_.size(); ++i) {
    if (width < 8) {
      bytes[i * width / 8] = static_cast<uint8_t>(bytes[i * width / 8] | bits_[i] << (i * width % 8));
    } else {
      std::memcpy(bytes + i * (width / 8), &bits_[i], width / 8);
    }
  }
  return tensor;
}

}  // namespace nxrt
