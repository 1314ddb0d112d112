#include "convert/gguf_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/half.h"
#include "convert/ggml_blocks.h"

namespace genai {

using nxrt::Code;
using nxrt::DType;
using nxrt::Error;
using nxrt::Shape;
using nxrt::ValueId;

namespace {

constexpr int64_t kTransposeBytes = int64_t{1} << 26;

struct Storage {
  bool quantized = false, carried = false;
  NBitsForm form;
  DType dense = DType::f32;
};

// What `precision` makes of a tensor: blocks already narrow enough are carried over as they are.
Storage storage_for(const GgufTensor& tensor, Precision precision, MatrixUse use) {
  const bool blocks = is_quantized(tensor.type);
  if (precision == Precision::f32) return {.dense = DType::f32};
  if (precision == Precision::f16) return {.dense = DType::f16};
  if (precision == Precision::keep && !blocks) {
    constexpr std::pair<GgmlType, DType> kDense[] = {{GgmlType::f16, DType::f16}, {GgmlType::bf16, DType::bf16}};
    for (const auto& [type, dtype] : kDense) {
      if (tensor.type == type) return {.dense = dtype};
    }
    return {.dense = DType::f32};
  }
  // A table of tokens suffers most from 4 bits and costs little: 8.
  const int widest = precision == Precision::int4 && use == MatrixUse::linear ? 4 : 8;
  if (blocks) {
    const ChosenForm chosen = form_for(tensor.type, use == MatrixUse::gathered);
    if (chosen.form.bits <= widest) return {true, chosen.exact, chosen.form};
  }
  const NBitsForm form{widest, 32, ZeroPoints::implied};
  if (tensor.columns() % form.block != 0) return {.dense = DType::f32};
  return {true, false, form};
}

// Converts in place from f32 to the narrower type, low addresses first.
void narrow(float* values, int64_t count, DType dtype) {
  auto* halves = reinterpret_cast<char*>(values);
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t bits = dtype == DType::f16 ? nxrt::to_half(values[i]).bits : nxrt::to_bfloat16(values[i]).bits;
    std::memcpy(halves + i * 2, &bits, 2);
  }
}

}  // namespace

// Rows of a tensor in the order they are to be stored.
struct GgufWeights::Source {
  const GgufTensor& tensor;
  int64_t interleaved_head;

  int64_t row_bytes() const { return static_cast<int64_t>(tensor.data.size()) / tensor.rows(); }
  int64_t chunk_rows() const { return std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, row_bytes())); }
  // Stored row (head, half, pair) is the file's row (head, pair, half).
  int64_t file_row(int64_t row) const {
    if (interleaved_head == 0) return row;
    const int64_t head = row / interleaved_head, within = row % interleaved_head, pairs = interleaved_head / 2;
    return head * interleaved_head + within % pairs * 2 + within / pairs;
  }
  const std::byte* row(int64_t row) const { return tensor.data.data() + file_row(row) * row_bytes(); }
  void read(int64_t row_index, int64_t from, int64_t count, float* out) const {
    const GgmlTypeInfo& info = info_of(tensor.type);
    dequantize(tensor.type, row(row_index) + from / info.block_elements * info.block_bytes, count, out);
  }
};

GgufWeights::GgufWeights(const GgufFile& file, const std::filesystem::path& folder, Precision precision,
                         std::function<void(int64_t)> advance)
    : WeightStore(folder, std::move(advance)), file_(file), precision_(precision) {}

bool GgufWeights::has(const std::string& tensor) const { return file_.find(tensor) != nullptr; }

const GgufTensor& GgufWeights::checked(const std::string& name, const MatrixRequest& request) const {
  const GgufTensor& tensor = file_.require(name);
  const std::vector<int64_t> expected =
      request.columns == 0 ? std::vector{request.rows} : std::vector{request.columns, request.rows};
  if (tensor.dims == expected) return tensor;
  throw Error(Code::corrupt,
              fmt::format("the tensor has dimensions [{}], expected [{}]", fmt::join(tensor.dims, ", "),
                          fmt::join(expected, ", ")),
              file_.place_of_tensor(name));
}

ValueId GgufWeights::vector(const std::string& tensor_name, const std::string& name, const MatrixRequest& request) {
  const GgufTensor& tensor = checked(tensor_name, {.rows = request.rows});
  std::vector<float> in_file(static_cast<size_t>(request.rows)), values(in_file.size());
  dequantize(tensor.type, tensor.data.data(), request.rows, in_file.data());
  const Source order{tensor, request.interleaved_head};
  for (int64_t i = 0; i < request.rows; ++i)
    values[static_cast<size_t>(i)] = in_file[static_cast<size_t>(order.file_row(i))];
  advance_(static_cast<int64_t>(tensor.data.size()));
  const ValueId value = place(name, DType::f32, {request.rows});
  data_.write(offset_of(value), values.data(), request.rows * 4);
  return value;
}

StoredMatrix GgufWeights::matrix(const std::string& tensor_name, const std::string& name,
                                 const MatrixRequest& request) {
  const GgufTensor& tensor = checked(tensor_name, request);
  const Source source{tensor, request.interleaved_head};
  const Storage storage = storage_for(tensor, precision_, request.use);
  StoredMatrix to{request.rows, request.columns, storage.quantized, storage.form};
  if (!storage.quantized) {
    const bool linear = request.use == MatrixUse::linear;
    to.dense = place(name, storage.dense, linear ? Shape{to.columns, to.rows} : Shape{to.rows, to.columns});
    linear ? write_transposed(source, to.dense) : write_rows(source, to.dense);
    return to;
  }
  place_nbits(to, name, request.use);
  write_nbits(source, to, storage.carried);
  if (precision_ == Precision::keep && !storage.carried) ++rounded_;
  return to;
}

void GgufWeights::write_nbits(const Source& source, const StoredMatrix& to, bool carried) {
  const int64_t k = to.columns, row_bytes = to.form.row_bytes(k), row_blocks = to.form.row_blocks(k);
  const int64_t chunk = std::min(source.chunk_rows(), to.rows);
  std::vector<uint8_t> q(static_cast<size_t>(chunk * row_bytes)), byte_zeros(static_cast<size_t>(chunk * row_blocks));
  std::vector<float> scales(byte_zeros.size()), float_zeros(byte_zeros.size()), row(static_cast<size_t>(k));
  for (int64_t begin = 0; begin < to.rows; begin += chunk) {
    const int64_t rows = std::min(chunk, to.rows - begin);
    for (int64_t r = 0; r < rows; ++r) {
      const NBitsRow out{q.data() + r * row_bytes, scales.data() + r * row_blocks, float_zeros.data() + r * row_blocks,
                         byte_zeros.data() + r * row_blocks};
      if (carried) {
        carry_row(source.tensor.type, source.row(begin + r), k, to.form, out);
      } else {
        source.read(begin + r, 0, k, row.data());
        quantize_row(row.data(), k, to.form, out);
      }
    }
    const int64_t first = begin * row_blocks, blocks = rows * row_blocks;
    data_.write(offset_of(to.q) + begin * row_bytes, q.data(), rows * row_bytes);
    data_.write(offset_of(to.scales) + first * 4, scales.data(), blocks * 4);
    if (to.form.zeros == ZeroPoints::floats)
      data_.write(offset_of(to.zeros) + first * 4, float_zeros.data(), blocks * 4);
    if (to.form.zeros == ZeroPoints::bytes) data_.write(offset_of(to.zeros) + first, byte_zeros.data(), blocks);
    advance_(rows * source.row_bytes());
  }
}

void GgufWeights::write_rows(const Source& source, ValueId to) {
  const DType dtype = graph_.value(to).constant->dtype();
  const int64_t k = source.tensor.columns(), total = source.tensor.rows(), element = nxrt::bytes_of(dtype, 1);
  const int64_t chunk = std::min(source.chunk_rows(), total);
  std::vector<float> values(static_cast<size_t>(chunk * k));
  for (int64_t begin = 0; begin < total; begin += chunk) {
    const int64_t rows = std::min(chunk, total - begin);
    for (int64_t r = 0; r < rows; ++r) source.read(begin + r, 0, k, values.data() + r * k);
    if (dtype != DType::f32) narrow(values.data(), rows * k, dtype);
    data_.write(offset_of(to) + begin * k * element, values.data(), rows * k * element);
    advance_(rows * source.row_bytes());
  }
}

void GgufWeights::write_transposed(const Source& source, ValueId to) {
  const DType dtype = graph_.value(to).constant->dtype();
  const int64_t k = source.tensor.columns(), n = source.tensor.rows(), element = nxrt::bytes_of(dtype, 1);
  // Whole blocks of every format: 256 columns at least.
  const int64_t panel = std::min(k, std::max<int64_t>(256, kTransposeBytes / 4 / n / 256 * 256));
  std::vector<float> values(static_cast<size_t>(panel * n)), row(static_cast<size_t>(panel));
  int64_t done = 0;
  for (int64_t begin = 0; begin < k; begin += panel) {
    const int64_t columns = std::min(panel, k - begin);
    for (int64_t r = 0; r < n; ++r) {
      source.read(r, begin, columns, row.data());
      for (int64_t c = 0; c < columns; ++c) values[static_cast<size_t>(c * n + r)] = row[static_cast<size_t>(c)];
    }
    if (dtype != DType::f32) narrow(values.data(), columns * n, dtype);
    data_.write(offset_of(to) + begin * n * element, values.data(), columns * n * element);
    const int64_t reached = n * source.row_bytes() * (begin + columns) / k;
    advance_(reached - std::exchange(done, reached));
  }
}

}  // namespace genai
