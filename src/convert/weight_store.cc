#include "convert/weight_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph/verifier.h"

namespace genai {

using nxrt::DType;
using nxrt::Shape;
using nxrt::Tensor;
using nxrt::ValueId;

namespace {

constexpr const char* kDataFile = "model.onnx.data";

Shape q_shape(const StoredMatrix& matrix, MatrixUse use) {
  const NBitsForm& form = matrix.form;
  if (use == MatrixUse::gathered) return {matrix.rows, form.row_bytes(matrix.columns)};
  return {matrix.rows, form.row_blocks(matrix.columns), form.row_bytes(form.block)};
}

std::string q_name(const StoredMatrix& matrix, const std::string& name) {
  return fmt::format("{}_Q{}", name, matrix.form.bits);
}

}  // namespace

WeightStore::WeightStore(const std::filesystem::path& folder, std::function<void(int64_t)> advance)
    : data_(folder / kDataFile), advance_(std::move(advance)), folder_(folder) {}

void WeightStore::write_model(const std::string& where) {
  data_.finish();
  nxrt::verify(graph_, where);
  nxrt::write_model(graph_, folder_ / "model.onnx", {.already_external = std::move(external_)});
}

ValueId WeightStore::place(const std::string& name, DType dtype, const Shape& shape) {
  const int64_t bytes = nxrt::bytes_of(dtype, shape.count());
  external_[name] = {kDataFile, data_.reserve(bytes), bytes};
  return graph_.add_constant(name, Tensor::borrow(dtype, shape, nullptr, nullptr));
}

void WeightStore::place_nbits(StoredMatrix& matrix, const std::string& name, MatrixUse use) {
  const Shape blocks{matrix.rows, matrix.form.row_blocks(matrix.columns)};
  matrix.q = place(q_name(matrix, name), DType::u8, q_shape(matrix, use));
  matrix.scales = place(name + "_scales", DType::f32, blocks);
  if (matrix.form.zeros == ZeroPoints::implied) return;
  matrix.zeros = place(name + "_zero_points", matrix.form.zeros == ZeroPoints::floats ? DType::f32 : DType::u8, blocks);
}

int64_t WeightStore::offset_of(ValueId value) const { return external_.at(graph_.value(value).name).offset; }

ValueId WeightStore::floats(const std::string& name, int64_t rows, int64_t columns,
                            const std::function<void(int64_t, float*)>& fill) {
  const ValueId value = place(name, DType::f32, {rows, columns});
  const int64_t chunk = std::min(rows, std::max<int64_t>(1, kChunkBytes / 4 / columns));
  std::vector<float> values(static_cast<size_t>(chunk * columns));
  for (int64_t begin = 0; begin < rows; begin += chunk) {
    const int64_t count = std::min(chunk, rows - begin);
    for (int64_t r = 0; r < count; ++r) fill(begin + r, values.data() + r * columns);
    data_.write(offset_of(value) + begin * columns * 4, values.data(), count * columns * 4);
    advance_(0);
  }
  return value;
}

StoredMatrix WeightStore::as_linear(const StoredMatrix& table, const std::string& name) {
  StoredMatrix to = table;
  if (!table.quantized) return to;
  external_[q_name(table, name)] = external_.at(graph_.value(table.q).name);
  to.q = graph_.add_constant(q_name(table, name),
                             Tensor::borrow(DType::u8, q_shape(table, MatrixUse::linear), nullptr, nullptr));
  return to;
}

}  // namespace genai
