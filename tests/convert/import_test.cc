#include "convert/import.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include "convert/fixtures.h"
#include "graph/graph.h"
#include "graph/verifier.h"
#include "onnx/reader.h"
#include "package/model_spec.h"

namespace genai {
namespace {

namespace fs = std::filesystem;
using nxrt::DType;
using nxrt::Graph;
using nxrt::Shape;
using nxrt::Tensor;
using test::error_of;
using test::TemporaryFolder;
using test::tiny_gguf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const Tensor& constant(const Graph& graph, const std::string& name) {
  const nxrt::ValueId id = graph.find_value(name);
  EXPECT_TRUE(id.valid()) << name;
  return *graph.value(id).constant;
}

bool has(const Graph& graph, const std::string& name) { return graph.find_value(name).valid(); }

class Import : public testing::TestWithParam<const char*> {
 protected:
  fs::path target() const { return top_.path() / "m"; }
  ImportReport import(const std::string& name, Precision precision = Precision::keep) {
    return import_model({.source = tiny_gguf(name), .target = target(), .precision = precision}, nullptr);
  }
  std::unique_ptr<Graph> graph() const { return nxrt::read_model(target() / "model.onnx"); }

  TemporaryFolder top_;
};

TEST_P(Import, MakesAFolderThatOpens) {
  const ImportReport report = import(GetParam());
  EXPECT_EQ(report.name, std::string("tiny ") + GetParam());
  EXPECT_EQ(report.license, "apache-2.0");
  EXPECT_GT(report.parameters, 10000);
  EXPECT_EQ(report.source_bytes, static_cast<int64_t>(fs::file_size(tiny_gguf(GetParam()))));
  EXPECT_EQ(top_.entries(), 1u);
  const ModelSpec spec = open_model_folder(target());
  EXPECT_EQ(spec.context_length, 128);
  EXPECT_EQ(spec.vocab_size, 320);
  EXPECT_EQ(spec.model_type, report.architecture);
  EXPECT_THAT(spec.generation.eos, ElementsAre(TokenId(1)));
  EXPECT_EQ(spec.bos_token, "<|begin|>");
  EXPECT_THAT(spec.chat_templates, SizeIs(1));
  const auto made = graph();
  nxrt::verify(*made, "model.onnx");
  EXPECT_THAT(made->inputs(), SizeIs(made->outputs().size() + 1));
  EXPECT_THAT(test::read_file(target() / "LICENSE"), HasSubstr("apache-2.0"));
}

INSTANTIATE_TEST_SUITE_P(, Import, testing::Values("q4_1", "mixed", "k", "qwen3"),
                         [](const auto& param) { return std::string(param.param); });

using ImportOne = Import;

TEST_F(ImportOne, CarriesQuantizationOver) {
  import("q4_1");
  const auto made = graph();
  const std::string q = "model.layers.0.attn.q_proj.MatMul.weight";
  EXPECT_EQ(constant(*made, q + "_Q4").shape(), (Shape{64, 2, 16}));
  EXPECT_EQ(constant(*made, q + "_scales").shape(), (Shape{64, 2}));
  EXPECT_EQ(constant(*made, q + "_zero_points").dtype(), DType::f32);
  EXPECT_EQ(constant(*made, "model.embed_tokens.weight_Q8").shape(), (Shape{320, 64}));
  EXPECT_EQ(constant(*made, "model.layers.0.input_layernorm.weight").dtype(), DType::f32);
  EXPECT_EQ(constant(*made, "cos_cache").shape(), (Shape{128, 8}));
}

TEST_F(ImportOne, TiedTablesAreStoredOnce) {
  import("q4_1");
  const auto made = graph();
  const Tensor& table = constant(*made, "model.embed_tokens.weight_Q8");
  const Tensor& head = constant(*made, "lm_head.MatMul.weight_Q8");
  EXPECT_EQ(head.shape(), (Shape{320, 2, 32}));
  EXPECT_EQ(table.raw(), head.raw());
}

TEST_F(ImportOne, EveryTypeFindsItsForm) {
  const ImportReport report = import("mixed");
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("3 tensors")));  // the Q4_1 table, two Q5_1 matrices
  const auto made = graph();
  const auto name = [](const char* part) { return std::string("model.layers.0.") + part + ".MatMul.weight"; };
  EXPECT_FALSE(has(*made, name("attn.q_proj") + "_zero_points"));
  EXPECT_EQ(constant(*made, name("attn.v_proj") + "_Q8").shape(), (Shape{32, 2, 32}));
  EXPECT_EQ(constant(*made, name("attn.o_proj") + "_zero_points").dtype(), DType::u8);
  EXPECT_EQ(constant(*made, name("mlp.up_proj")).dtype(), DType::f16);
  EXPECT_EQ(constant(*made, name("mlp.up_proj")).shape(), (Shape{64, 96}));
  EXPECT_EQ(constant(*made, name("mlp.down_proj")).dtype(), DType::bf16);
  EXPECT_EQ(constant(*made, "model.layers.1.attn.q_proj.MatMul.weight").dtype(), DType::f32);
}

TEST_F(ImportOne, PrecisionNarrowsWhatIsWider) {
  import("mixed", Precision::int4);
  const auto made = graph();
  EXPECT_TRUE(has(*made, "model.layers.0.mlp.gate_proj.MatMul.weight_Q4"));                                // was Q8_0
  EXPECT_EQ(constant(*made, "model.layers.0.attn.k_proj.MatMul.weight_zero_points").dtype(), DType::f32);  // Q4_1 stays
  EXPECT_TRUE(has(*made, "model.embed_tokens.weight_Q8"));
}

TEST_F(ImportOne, CancellingLeavesNothing) {
  for (const int after : {1, 5, 20}) {
    int calls = 0;
    int64_t done = 0;
    const auto stop = [&](const ImportProgress& p) { return done = p.done_bytes, ++calls < after; };
    const ImportOptions options{.source = tiny_gguf("q4_1"), .target = target()};
    EXPECT_EQ(error_of([&] { import_model(options, stop); }).code(), Code::cancelled);
    EXPECT_EQ(calls, after);
    EXPECT_EQ(top_.entries(), 0u);
  }
}

TEST_F(ImportOne, ProgressEndsAtTheTotal) {
  ImportProgress last;
  import_model({.source = tiny_gguf("k"), .target = target()}, [&](const ImportProgress& p) {
    EXPECT_GE(p.done_bytes, last.done_bytes);
    last = p;
    return true;
  });
  EXPECT_EQ(last.stage, "weights");
  EXPECT_GT(last.total_bytes, 0);
  // The rotary divisors (128 bytes) go into the tables, not into the stream.
  EXPECT_EQ(last.done_bytes, last.total_bytes - 128);
}

// A limit on file sizes fails writes as a full disk does.
TEST_F(ImportOne, AFullDiskLeavesNothing) {
  struct rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t bytes : {0u, 1000u, 60000u}) {
    struct rlimit limited = before;
    limited.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limited);
    const nxrt::Error error = error_of([&] { import("q4_1"); });
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(error.code(), Code::out_of_capacity) << bytes;
    EXPECT_THAT(error.at(), HasSubstr("model.onnx.data"));
    EXPECT_EQ(top_.entries(), 0u);
  }
  ::signal(SIGXFSZ, handler);
}

TEST_F(ImportOne, ExistingTargetsStayUnlessOverwritten) {
  import("q4_1");
  const std::string config = test::read_file(target() / "genai_config.json");
  EXPECT_EQ(error_of([&] { import("qwen3"); }).message(), "the target exists already");
  EXPECT_EQ(test::read_file(target() / "genai_config.json"), config);
  import_model({.source = tiny_gguf("qwen3"), .target = target(), .overwrite = true}, nullptr);
  EXPECT_EQ(open_model_folder(target()).model_type, "qwen3");
  EXPECT_EQ(top_.entries(), 1u);
}

TEST_F(ImportOne, SaysWhyItCannot) {
  const auto error = [&](const fs::path& source) {
    return error_of([&] { import_model({.source = source, .target = target()}, nullptr); });
  };
  EXPECT_EQ(error(top_.path()).code(), Code::unsupported);
  EXPECT_EQ(error(top_.path() / "absent.gguf").code(), Code::not_found);
  EXPECT_EQ(error(NXRT_SOURCE_DIR "/LICENSE").message(), "the file does not begin with 'GGUF'");
}

// One byte of the metadata or the tensor list wrong: an Error or a package, never a crash, never half a package.
TEST_F(ImportOne, DamagedFilesNeverCrash) {
  const std::string whole = test::read_file(tiny_gguf("q4_1"));
  const std::vector<std::byte> parsed = test::to_bytes(whole);
  const auto file = GgufFile::parse(parsed, nullptr, "q4_1.gguf");
  const auto header = static_cast<size_t>(file->require("token_embd.weight").data.data() - parsed.data());
  const fs::path damaged = top_.path() / "damaged.gguf";
  int refused = 0;
  for (size_t at = 0; at < header; at += 97) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    std::ofstream(damaged, std::ios::binary) << bytes;
    std::error_code ignored;
    try {
      import_model({.source = damaged, .target = target()}, nullptr);
      fs::remove_all(target(), ignored);
    } catch (const nxrt::Error& error) {
      ++refused;
      ASSERT_FALSE(error.at().empty()) << at << error.text();
    }
    ASSERT_EQ(top_.entries(), 1u) << at;
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace genai
