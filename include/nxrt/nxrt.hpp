// nxrt.h with C++ types.
//
//   nxrt::Model model("model.onnx");
//   const auto x = nxrt::HostTensor::of<float>({1, 3}, {1, 2, 3});
//   std::vector<nxrt::HostTensor> y = model.run({{"x", &x}});   // outputs in the model's order
//
// Threads: as nxrt.h. Errors: every failure throws nxrt::Failure. Memory: objects own what they name; move only.
#pragma once

#include <nxrt/nxrt.h>

#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nxrt {
inline namespace api {

class Failure : public std::exception {
 public:
  Failure() : code_(nxrt_error_code()), text_(nxrt_error_text()) {}
  nxrt_code code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  nxrt_code code_;
  std::string text_;
};

template <class T>
struct Element;
template <>
struct Element<float> {
  static constexpr int dtype = NXRT_F32;
};
template <>
struct Element<double> {
  static constexpr int dtype = NXRT_F64;
};
template <>
struct Element<int32_t> {
  static constexpr int dtype = NXRT_I32;
};
template <>
struct Element<int64_t> {
  static constexpr int dtype = NXRT_I64;
};
template <>
struct Element<uint8_t> {
  static constexpr int dtype = NXRT_U8;
};

class HostTensor {
 public:
  explicit HostTensor(nxrt_tensor* tensor) : tensor_(tensor) {
    if (!tensor) throw Failure();
  }
  HostTensor(int dtype, const std::vector<int64_t>& shape)
      : HostTensor(nxrt_tensor_create(dtype, shape.data(), static_cast<int>(shape.size()))) {}
  // Copies the values; their number must be the shape's.
  template <class T>
  static HostTensor of(const std::vector<int64_t>& shape, const std::vector<T>& values) {
    HostTensor tensor(Element<T>::dtype, shape);
    if (nxrt_tensor_bytes(tensor.get()) != values.size() * sizeof(T))
      throw std::invalid_argument("values don't fill the shape");
    if (!values.empty()) std::memcpy(nxrt_tensor_data(tensor.get()), values.data(), values.size() * sizeof(T));
    return tensor;
  }

  nxrt_tensor* get() const { return tensor_.get(); }
  int dtype() const { return nxrt_tensor_dtype(get()); }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> dims;
    for (int axis = 0; axis < nxrt_tensor_rank(get()); ++axis) dims.push_back(nxrt_tensor_dim(get(), axis));
    return dims;
  }
  // T must be the element type.
  template <class T>
  std::vector<T> values() const {
    if (dtype() != Element<T>::dtype) throw std::invalid_argument("the tensor has another element type");
    const T* data = static_cast<const T*>(nxrt_tensor_data(get()));
    return std::vector<T>(data, data + nxrt_tensor_bytes(get()) / sizeof(T));
  }

 private:
  struct Free {
    void operator()(nxrt_tensor* tensor) const { nxrt_tensor_free(tensor); }
  };
  std::unique_ptr<nxrt_tensor, Free> tensor_;
};

class Model {
 public:
  explicit Model(const std::string& path, int threads = 0) {
    const nxrt_options options = {sizeof(nxrt_options), nullptr, threads};
    session_.reset(nxrt_session_open(path.c_str(), &options));
    if (!session_) throw Failure();
  }

  std::vector<HostTensor> run(const std::vector<std::pair<std::string, const HostTensor*>>& inputs) {
    std::vector<const char*> names;
    std::vector<nxrt_tensor*> tensors;
    for (const auto& [name, tensor] : inputs) {
      names.push_back(name.c_str());
      tensors.push_back(tensor->get());
    }
    std::vector<nxrt_tensor*> results(static_cast<size_t>(nxrt_output_count(get())));
    const int count = static_cast<int>(results.size());
    const nxrt_code code =
        nxrt_run(get(), names.data(), tensors.data(), static_cast<int>(names.size()), results.data(), count);
    if (code != NXRT_OK) throw Failure();
    std::vector<HostTensor> outputs;
    for (nxrt_tensor* result : results) outputs.emplace_back(result);
    return outputs;
  }

  nxrt_session* get() const { return session_.get(); }

 private:
  struct Close {
    void operator()(nxrt_session* session) const { nxrt_session_close(session); }
  };
  std::unique_ptr<nxrt_session, Close> session_;
};

}  // namespace api
}  // namespace nxrt
