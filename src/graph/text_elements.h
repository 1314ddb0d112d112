// Tensor elements as text: `1`, `-0.5`, `inf`. Types without a usual notation (complex, 8- and 4-bit floats) are
// written as the unsigned integers of their storage bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace nxrt {

// How many numbers the braces of a tensor hold, one per element or one per storage byte.
int64_t written_elements(DType dtype, const Shape& shape);
std::string element_text(const Tensor& tensor, int64_t i);
// The inverse, number by number.
class ElementParser {
 public:
  ElementParser(DType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {}
  bool add(const std::string& text);  // false: no number of this type
  void repeat_last(int64_t times);
  int64_t count() const { return static_cast<int64_t>(bits_.size()); }
  Tensor finish() const;  // count() must be written_elements()

 private:
  DType dtype_;
  Shape shape_;
  std::vector<uint64_t> bits_;  // little-endian storage of each
};
std::string float_text(double value, bool single);  // shortest that reads back, always recognisable as a float

}  // namespace nxrt
