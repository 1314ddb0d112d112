#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nxrt/nxrt.h>
#include <nxrt/nxrt.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include "graph/text.h"
#include "onnx/writer.h"

extern "C" int c_program(const void* model, size_t size);

namespace nxrt {
namespace {

using ::testing::HasSubstr;

std::string model(const std::string& text) { return model_bytes(*parse_graph(text, "test")); }
const std::string& negation() {
  static const std::string bytes = model("(f32[N] x) => (f32[N] y) { y = Neg(x) }");
  return bytes;
}

struct Opened {
  nxrt_session* session;
  explicit Opened(const std::string& bytes) : session(nxrt_session_open_bytes(bytes.data(), bytes.size(), nullptr)) {}
  ~Opened() { nxrt_session_close(session); }
};

struct OneTensor {
  nxrt_tensor* tensor;
  OneTensor(std::vector<float>& values, int64_t n)
      : tensor(nxrt_tensor_borrow(NXRT_F32, &n, 1, values.data(), values.size() * sizeof(float))) {}
  ~OneTensor() { nxrt_tensor_free(tensor); }
};

nxrt_code run_one(nxrt_session* session, const char* name, nxrt_tensor* x, nxrt_tensor** y) {
  return nxrt_run(session, &name, &x, 1, y, 1);
}

TEST(CApi, WorksFromC) { EXPECT_EQ(c_program(negation().data(), negation().size()), 0) << nxrt_error_text(); }

TEST(CApi, SaysItsVersion) { EXPECT_STREQ(nxrt_version(), "0.1.0"); }

TEST(CApi, DescribesThePorts) {
  const Opened opened(negation());
  ASSERT_NE(opened.session, nullptr) << nxrt_error_text();
  EXPECT_EQ(nxrt_input_count(opened.session), 1);
  EXPECT_EQ(nxrt_output_count(opened.session), 1);
  EXPECT_STREQ(nxrt_output_name(opened.session, 0), "y");
  EXPECT_STREQ(nxrt_input_type(opened.session, 0), "f32[N]");
  EXPECT_EQ(nxrt_output_type(opened.session, 1), nullptr);
}

TEST(CApi, WritesBoundOutputsInPlace) {
  const Opened opened(negation());
  std::vector<float> in = {1, 2, 3}, out(3);
  const OneTensor x(in, 3), y(out, 3);
  nxrt_tensor* outputs[] = {y.tensor};
  ASSERT_EQ(run_one(opened.session, "x", x.tensor, outputs), NXRT_OK) << nxrt_error_text();
  EXPECT_EQ(out, (std::vector<float>{-1, -2, -3}));
}

TEST(CApi, RefusalsAreCodesWithAReason) {
  const Opened opened(negation());
  std::vector<float> in = {1, 2, 3};
  const OneTensor x(in, 3);
  nxrt_tensor* outputs[] = {nullptr};
  EXPECT_EQ(run_one(opened.session, "q", x.tensor, outputs), NXRT_NOT_FOUND);
  EXPECT_STREQ(nxrt_error_what(), "the model has no input 'q'");
  EXPECT_EQ(nxrt_run(opened.session, nullptr, nullptr, 0, outputs, 1), NXRT_INVALID_ARGUMENT);
  EXPECT_THAT(nxrt_error_what(), HasSubstr("input 'x' is missing"));
  EXPECT_STREQ(nxrt_error_at(), "bytes");
  EXPECT_THAT(nxrt_error_text(), HasSubstr("error: input 'x' is missing"));
  EXPECT_EQ(nxrt_run(nullptr, nullptr, nullptr, 0, nullptr, 0), NXRT_INVALID_ARGUMENT);
  EXPECT_EQ(run_one(opened.session, "x", nullptr, outputs), NXRT_INVALID_ARGUMENT);
  EXPECT_EQ(outputs[0], nullptr);
  EXPECT_EQ(nxrt_run(opened.session, nullptr, nullptr, 0, outputs, 7), NXRT_INVALID_ARGUMENT);
}

TEST(CApi, RefusesFilesAndOptions) {
  EXPECT_EQ(nxrt_session_open("/no/such/model.onnx", nullptr), nullptr);
  EXPECT_EQ(nxrt_error_code(), NXRT_NOT_FOUND);
  EXPECT_EQ(nxrt_session_open(nullptr, nullptr), nullptr);
  EXPECT_EQ(nxrt_session_open_bytes("garbage", 7, nullptr), nullptr);
  nxrt_options options = {sizeof(nxrt_options), "sse9", 0};
  EXPECT_EQ(nxrt_session_open_bytes(negation().data(), negation().size(), &options), nullptr);
  EXPECT_THAT(nxrt_error_what(), HasSubstr("isa is 'sse9', expected one of scalar"));
  options = {3, nullptr, 0};
  EXPECT_EQ(nxrt_session_open_bytes(negation().data(), negation().size(), &options), nullptr);
}

TEST(CApi, RefusesTensors) {
  const int64_t shape[] = {2, 3}, negative[] = {-1};
  float data[6] = {};
  EXPECT_EQ(nxrt_tensor_borrow(NXRT_F32, shape, 2, data, 23), nullptr);
  EXPECT_THAT(nxrt_error_what(), HasSubstr("the memory has 23 bytes, f32[2, 3] needs 24"));
  EXPECT_EQ(nxrt_tensor_create(NXRT_F32, negative, 1), nullptr);
  EXPECT_EQ(nxrt_tensor_create(99, shape, 2), nullptr);
  EXPECT_EQ(nxrt_tensor_create(NXRT_F32, shape, 9), nullptr);
  EXPECT_EQ(nxrt_tensor_create(NXRT_F32, nullptr, 2), nullptr);
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 20};
  EXPECT_EQ(nxrt_tensor_create(NXRT_F32, huge, 2), nullptr);
  nxrt_tensor_free(nullptr);
  EXPECT_EQ(nxrt_tensor_dim(nullptr, 0), -1);
}

TEST(CApi, ManyThreadsRunOneSession) {
  const Opened opened(negation());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        std::vector<float> in(static_cast<size_t>(1 + (t * 50 + i) % 7), static_cast<float>(t + 1));
        const OneTensor x(in, static_cast<int64_t>(in.size()));
        nxrt_tensor* outputs[] = {nullptr};
        const bool ok = run_one(opened.session, "x", x.tensor, outputs) == NXRT_OK &&
                        nxrt_tensor_bytes(outputs[0]) == in.size() * sizeof(float) &&
                        static_cast<float*>(nxrt_tensor_data(outputs[0]))[0] == -static_cast<float>(t + 1);
        wrong[static_cast<size_t>(t)] += ok ? 0 : 1;
        nxrt_tensor_free(outputs[0]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

TEST(CppApi, RunsAndThrows) {
  const auto path = std::filesystem::temp_directory_path() / "nxrt_cpp_api_test.onnx";
  std::ofstream(path, std::ios::binary) << negation();
  Model opened(path.string(), 1);
  const auto x = HostTensor::of<float>({2}, {4, 5});
  const auto y = opened.run({{"x", &x}});
  EXPECT_EQ(y.at(0).values<float>(), (std::vector<float>{-4, -5}));
  EXPECT_EQ(y.at(0).shape(), (std::vector<int64_t>{2}));
  EXPECT_THROW(opened.run({}), Failure);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace nxrt
