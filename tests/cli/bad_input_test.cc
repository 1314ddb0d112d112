// What a hostile or clumsy user gives: one clear error, the right exit code, nothing half-written.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "cli/command.h"
#include "cli/program.h"

namespace genai::cli {
namespace {

namespace fs = std::filesystem;

const std::string kModel = fixture("builder_llama_fp32");
const std::string kGguf = fixture("gguf/qwen3.gguf");

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

void replace_in(const fs::path& path, const std::string& from, const std::string& to) {
  std::string bytes = bytes_of(path);
  size_t found = 0;
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + to.size()), ++found)
    bytes.replace(at, from.size(), to);
  ASSERT_GT(found, 0u) << from;
  put(path, bytes);
}

void expect_one_error(const Outcome& outcome, int exit_code, const std::string& says) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(outcome.err.find("error: "), 0u) << outcome.err;
  EXPECT_EQ(outcome.err.find("error: ", 1), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(says), std::string::npos) << "expected: " << says << "\n" << outcome.err;
  EXPECT_NE(outcome.err.find("\n  at   "), std::string::npos) << outcome.err;
  // Only the template's author can say what to do about its errors.
  const bool of_template = outcome.err.find("at   chat template") != std::string::npos;
  EXPECT_TRUE(of_template || outcome.err.find("\n  fix  ") != std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("bug of onnx-genai"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

// ---- A model folder in which one thing is wrong.

struct Harm {
  const char* name;
  std::function<void(const fs::path& folder)> to;
  std::string says;
};

void PrintTo(const Harm& harm, std::ostream* out) { *out << harm.name; }

Harm text_in(const char* name, const char* file, const std::string& text, const std::string& says) {
  return {name, [=](const fs::path& folder) { put(folder / file, text); }, says};
}

Harm config(const char* name, const std::string& text, const std::string& says) {
  return text_in(name, "genai_config.json", text, says);
}

const std::vector<Harm> kHarms = {
    text_in("model_empty", "model.onnx", "", "holds no graph"),
    text_in("model_text", "model.onnx", "this is no model", "model.onnx"),
    {"model_truncated", [](const fs::path& f) { fs::resize_file(f / "model.onnx", 5000); }, "are left"},
    {"model_missing", [](const fs::path& f) { fs::remove(f / "model.onnx"); }, "does not exist"},
    {"operator_unknown", [](const fs::path& f) { replace_in(f / "model.onnx", "MatMul", "MatMux"); }, "MatMux"},
    {"data_missing", [](const fs::path& f) { fs::remove(f / "model.onnx.data"); }, "'model.onnx.data' does not exist"},
    {"data_short", [](const fs::path& f) { fs::resize_file(f / "model.onnx.data", 100); }, "which has 100"},
    {"data_outside", [](const fs::path& f) { replace_in(f / "model.onnx", "model.onnx.data", "../../../passwd"); },
     "'../../../passwd' does not stay inside"},
    {"data_absolute", [](const fs::path& f) { replace_in(f / "model.onnx", "model.onnx.data", "/etc/./././shad"); },
     "does not stay inside"},
    {"data_symlink",
     [](const fs::path& f) {
       fs::rename(f / "model.onnx.data", f.parent_path() / "elsewhere");
       fs::create_symlink(f.parent_path() / "elsewhere", f / "model.onnx.data");
     },
     "does not stay inside"},
    {"data_pipe",
     [](const fs::path& f) {
       fs::remove(f / "model.onnx.data");
       ASSERT_EQ(::mkfifo((f / "model.onnx.data").c_str(), 0600), 0);
     },
     "not a regular file"},
    {"tokenizer_missing", [](const fs::path& f) { fs::remove(f / "tokenizer.json"); }, "no tokenizer.json"},
    {"tokenizer_folder",
     [](const fs::path& f) {
       fs::remove(f / "tokenizer.json");
       fs::create_directory(f / "tokenizer.json");
     },
     "this is a folder"},
    {"tokenizer_cut", [](const fs::path& f) { fs::resize_file(f / "tokenizer.json", 3000); }, "tokenizer.json"},
    text_in("tokenizer_empty", "tokenizer.json", "{}", "'model' is missing"),
    text_in("tokenizer_list", "tokenizer.json", "[]", "tokenizer.json"),
    text_in("tokenizer_kind", "tokenizer.json", R"({"model":{"type":"Weird","vocab":{}}})", "'Weird' is not supported"),
    text_in("tokenizer_deep", "tokenizer.json", repeated("{\"a\":", 100000), "tokenizer.json"),
    config("config_cut", R"({"model":)", "not valid JSON"),
    config("config_null", "null", "expected a section 'model'"),
    config("config_text", R"({"model":{"context_length":"x"}})", "\"x\", expected an integer"),
    config("config_negative", R"({"model":{"context_length":-5}})", "-5, expected an integer"),
    config("config_huge", R"({"model":{"context_length":99999999999999999999}})", "expected an integer"),
    config("config_fraction", R"({"model":{"vocab_size":1.5}})", "1.5, expected an integer"),
    config("config_list", R"({"model":{"decoder":[]}})", "expected an object"),
    config("config_deep", R"({"model":{"context_length":)" + repeated("[", 300000) + repeated("]", 300000) + "}}",
           "expected an integer"),
    config("config_outside", R"({"model":{"decoder":{"filename":"../../../etc/passwd"}}})", "does not stay inside"),
    text_in("yaml_bomb", "inference_metadata.yaml",
            "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
            "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n"
            "g: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
            "inference_metadata.yaml"),
    text_in("template_syntax", "chat_template.jinja", "{% if %}", "chat template"),
    text_in("template_deep", "chat_template.jinja", "{{" + repeated("-", 100000) + "1}}", "nested"),
    text_in("template_endless", "chat_template.jinja", "{% for i in range(1000000000) %}x{% endfor %}", "range"),
    text_in("template_huge", "chat_template.jinja", "{{ 'x' * 1000000000000 }}", "too large"),
    text_in("template_recursion", "chat_template.jinja", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "deep"),
    text_in("template_refuses", "chat_template.jinja", "{{ raise_exception('one at a time') }}", "one at a time"),
};

class DamagedFolder : public testing::TestWithParam<Harm> {};

TEST_P(DamagedFolder, IsRefusedWithOneClearError) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path / "m";
  fs::copy(kModel, folder);
  ASSERT_NO_FATAL_FAILURE(GetParam().to(folder));
  expect_one_error(run_program({"generate", folder.string(), "--chat", "-p", "x", "--max-tokens", "1", "-q"}),
                   kRuntimeError, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(BadInput, DamagedFolder, testing::ValuesIn(kHarms),
                         [](const auto& row) { return std::string(row.param.name); });

// A configuration that promises more positions than the rotary tables have rows doesn't make the model longer.
TEST(BadInput, TheContextEndsWithTheRotaryTables) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path / "m";
  fs::copy(kModel, folder);
  replace_in(folder / "genai_config.json", "\"context_length\": 128", "\"context_length\": 100000");
  replace_in(folder / "genai_config.json", "\"max_length\": 128", "\"max_length\": 100000");
  expect_one_error(run_program({"generate", folder.string(), "-p", std::string(400, 'x')}), kRuntimeError,
                   "context length 128");
  const Outcome most = run_program({"generate", folder.string(), "-q", "-p", "x", "--ignore-eos", "--json"});
  EXPECT_NE(most.out.find("\"completion_tokens\": 127"), std::string::npos) << most.out;
}

// Dimensions and offsets no memory can hold, in a graph written as text.
TEST(BadInput, AbsurdDimensionsAreRefusedBeforeAnyAllocation) {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path / "m";
  fs::create_directory(folder);
  fs::copy(kModel + "/tokenizer.json", folder / "tokenizer.json");
  const auto model = [](const std::string& tensor) {
    return "ir_version: 8 opset_import { version: 17 } graph { name: \"g\" initializer { name: \"w\" data_type: 1 " +
           tensor + " } output { name: \"w\" type { tensor_type { elem_type: 1 } } } }";
  };
  for (const char* tensor :
       {"dims: 9223372036854775807 dims: 2", "dims: -1", "dims: 1000000000000 raw_data: \"abcd\"",
        "dims: 4294967296 dims: 4294967296", "dims: 2 raw_data: \"abcd\"",
        "dims: 1 data_location: EXTERNAL external_data { key: \"location\" value: \"tokenizer.json\" } "
        "external_data { key: \"offset\" value: \"9223372036854775807\" }",
        "dims: 1 data_location: EXTERNAL external_data { key: \"location\" value: \"tokenizer.json\" } "
        "external_data { key: \"offset\" value: \"-4\" }",
        "dims: 1 data_location: EXTERNAL external_data { key: \"location\" value: \"tokenizer.json\" } "
        "external_data { key: \"length\" value: \"3\" }"}) {
    SCOPED_TRACE(tensor);
    put(folder / "decoder.onnx.textproto", model(tensor));
    expect_one_error(run_program({"inspect", folder.string()}), kRuntimeError, "decoder.onnx.textproto");
  }
}

// ---- Requests that can't be met.

struct Refused {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  std::string says;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

const std::vector<Refused> kRefused = {
    {"no_subcommand", {}, kUsageError, "subcommand is required"},
    {"unknown_subcommand", {"chat"}, kUsageError, "no subcommand 'chat'"},
    {"no_model", {"generate"}, kUsageError, "MODEL is required"},
    {"unknown_flag", {"inspect", kModel, "--fast"}, kUsageError, "--fast"},
    {"missing_path", {"inspect", "/no/such/folder"}, kRuntimeError, "no such file or folder"},
    {"device", {"inspect", "/dev/null"}, kRuntimeError, "neither a model folder nor an .onnx file"},
    {"gguf_as_model", {"generate", kGguf, "-p", "x"}, kRuntimeError, "onnx-genai import"},
    {"max_tokens", {"generate", kModel, "-p", "x", "--max-tokens", "0"}, kUsageError, "'0' is not a number above 0"},
    {"temperature", {"generate", kModel, "-p", "x", "--temperature", "nan"}, kUsageError, "'nan' is not a number"},
    {"top_p", {"generate", kModel, "-p", "x", "--top-p", "1.5"}, kUsageError, "--top-p"},
    {"top_k", {"generate", kModel, "-p", "x", "--top-k", "99999999999"}, kUsageError, "--top-k"},
    {"seed", {"generate", kModel, "-p", "x", "--seed", "-1"}, kUsageError, "'-1' is not an integer from 0"},
    {"seed_big", {"generate", kModel, "-p", "x", "--seed", "99999999999999999999"}, kUsageError, "--seed"},
    {"threads", {"generate", kModel, "-p", "x", "--threads", "100000"}, kUsageError, "--threads"},
    {"isa", {"generate", kModel, "-p", "x", "--isa", "sse9"}, kUsageError, "'sse9' is not one"},
    {"kv_memory", {"generate", kModel, "-p", "x", "--kv-memory", "lots"}, kUsageError, "'lots' is not a size"},
    {"kv_none", {"generate", kModel, "-p", "x", "--kv-memory", "0"}, kRuntimeError, "KV memory is 0 bytes"},
    {"kv_more_than_there_is", {"generate", kModel, "-p", "x", "--kv-memory", "9999TiB"}, kRuntimeError, "may use"},
    {"kv_too_small",
     {"generate", kModel, "-p", std::string(60, 'x'), "--max-tokens", "60", "--kv-memory", "17KiB"},
     kRuntimeError,
     "the KV cache holds"},
    {"two_prompts", {"generate", kModel, "-p", "x", "-f", "y"}, kUsageError, "at most 1"},
    {"prompt_folder", {"generate", kModel, "-f", "/proc"}, kRuntimeError, "this is a folder"},
    {"prompt_endless", {"generate", kModel, "-f", "/dev/zero"}, kRuntimeError, "not a regular file"},
    {"prompt_utf8", {"generate", kModel, "-p", "ab\xff"}, kRuntimeError, "not valid UTF-8 at byte 2"},
    {"system_utf8", {"run", kModel, "--system", "\xc3"}, kRuntimeError, "not valid UTF-8 at byte 0"},
    {"prompt_long", {"generate", kModel, "-p", std::string(90000, 'x')}, kRuntimeError, "context length 128"},
    {"stop_empty", {"generate", kModel, "-p", "x", "--stop", ""}, kRuntimeError, "a stop string is empty"},
    {"precision", {"import", kGguf, "-o", "/proc/x", "--precision", "int5"}, kUsageError, "int5"},
    {"no_target", {"import", kGguf}, kUsageError, "--output is required"},
    {"target_empty", {"import", kGguf, "-o", ""}, kRuntimeError, "the path is empty"},
    {"target_exists", {"import", kGguf, "-o", kModel}, kRuntimeError, "the target exists already"},
    {"target_unwritable", {"import", kGguf, "-o", "/proc/x"}, kRuntimeError, "/proc/x"},
    {"source_device", {"import", "/dev/zero", "-o", "/proc/x"}, kRuntimeError, "not a regular file"},
    {"config_missing",
     {"generate", kModel, "-p", "x", "--config", "/no/such"},
     kUsageError,
     "'/no/such' does not exist"},
    {"config_endless", {"generate", kModel, "-p", "x", "--config", "/dev/zero"}, kUsageError, "is not a file"},
};

class RefusedRequest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedRequest, SaysWhatWhereAndWhatToDo) {
  expect_one_error(run_program(GetParam().arguments), GetParam().exit_code, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(BadInput, RefusedRequest, testing::ValuesIn(kRefused),
                         [](const auto& row) { return std::string(row.param.name); });

// ---- GGUF files.

TEST(BadInput, DamagedGgufLeavesNothingBehind) {
  const std::string whole = bytes_of(kGguf);
  const auto with_count = [&](size_t at, uint64_t count) {
    std::string bytes = whole;
    bytes.replace(at, 8, reinterpret_cast<const char*>(&count), 8);
    return bytes;
  };
  const std::vector<std::string> files = {"",
                                          "GGUF",
                                          whole.substr(0, 20),
                                          whole.substr(0, whole.size() / 2),
                                          whole.substr(0, whole.size() - 1),
                                          with_count(8, ~uint64_t{0}),
                                          with_count(8, uint64_t{1} << 40),
                                          with_count(16, ~uint64_t{0}),
                                          with_count(16, uint64_t{1} << 40),
                                          with_count(24, uint64_t{1} << 60),
                                          with_count(0, 0)};
  const ScratchFolder scratch;
  const fs::path source = scratch.path / "x.gguf";
  for (size_t i = 0; i < files.size(); ++i) {
    SCOPED_TRACE(i);
    put(source, files[i]);
    const Outcome outcome = run_program({"import", source.string(), "-o", (scratch.path / "m").string()});
    EXPECT_EQ(outcome.exit_code, kRuntimeError) << outcome.err;
    EXPECT_NE(outcome.err.find("error: "), std::string::npos);
    EXPECT_NE(outcome.err.find("x.gguf"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path), {}), 1);
  }
}

// The file size limit stands for a full disk: a write that ends too early.
TEST(BadInput, AFullDiskDuringImportLeavesNothing) {
  const ScratchFolder scratch;
  const std::string target = (scratch.path / "m").string();
  for (const char* blocks : {"0", "16", "40"}) {
    const Outcome outcome =
        run_shell(std::string("ulimit -f ") + blocks + "; exec \"$0\" import " + kGguf + " -o " + target);
    EXPECT_EQ(outcome.exit_code, kRuntimeError) << outcome.err;
    EXPECT_NE(outcome.err.find("free space"), std::string::npos) << outcome.err;
    EXPECT_TRUE(fs::is_empty(scratch.path));
  }
}

TEST(BadInput, OutputThatCantBeWrittenIsAnError) {
  for (const std::string& command : {"inspect " + kModel, "generate " + kModel + " -q -p x --max-tokens 2"}) {
    const Outcome outcome = run_shell("exec \"$0\" " + command + " >/dev/full");
    EXPECT_EQ(outcome.exit_code, kRuntimeError);
    EXPECT_NE(outcome.err.find("the output can't be written"), std::string::npos) << outcome.err;
  }
}

TEST(BadInput, AReaderThatLeavesEndsTheProgram) {
  const Outcome outcome = run_shell("{ \"$0\" generate " + kModel +
                                    " -q -p x --ignore-eos --max-tokens 100; echo $? >&2; } | head -c 1 >/dev/null");
  EXPECT_TRUE(outcome.err == "130\n" || outcome.err == "141\n" || outcome.err == "0\n") << outcome.err;
}

// ---- Ctrl-C.

TEST(BadInput, CtrlCWhileImportingLeavesNothing) {
  for (const int times : {1, 2}) {
    const ScratchFolder scratch;
    const Outcome outcome = interrupt_program({"import", kGguf, "-o", (scratch.path / "m").string()}, "weights", times);
    EXPECT_TRUE(outcome.exit_code == kInterrupted || outcome.exit_code == kOk) << outcome.err;
    if (times == 2) continue;  // ended at once: the next import removes what is left
    EXPECT_EQ(fs::is_empty(scratch.path), outcome.exit_code == kInterrupted);
    EXPECT_EQ(fs::exists(scratch.path / "m"), outcome.exit_code == kOk);
  }
}

TEST(BadInput, CtrlCWhileLoadingOrAnswering) {
  for (const std::string until : {"", "\n"}) {  // an early newline: never; the answer's text: from its first line on
    const Outcome outcome = interrupt_program(
        {"generate", kModel, "-p", "hello", "--max-tokens", "110", "--ignore-eos", "--threads", "1"}, until, 2);
    EXPECT_TRUE(outcome.exit_code == kInterrupted || outcome.exit_code == kOk) << outcome.exit_code << outcome.err;
  }
}

TEST(BadInput, AFailingPipedTurnIsReportedAndTheOthersAnswered) {
  const Outcome outcome = run_program({"run", kModel, "--max-tokens", "2", "--stats", "--ignore-eos"},
                                      std::string(400, 'x') + "\nab\xff\nhello\n");
  EXPECT_EQ(outcome.exit_code, kRuntimeError);
  EXPECT_NE(outcome.err.find("context length 128"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("not valid UTF-8 at byte 2"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("answer 2 tokens"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace genai::cli
