// What all parts of the reader share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "onnx/external_files.h"
#include "onnx/reader.h"
#include "onnx/wire.h"

namespace nxrt::onnx {

// Keeps memory proportional to the file, whatever counts and dims its bytes claim.
class MemoryBudget {
 public:
  MemoryBudget(std::string where, int64_t bytes) : where_(std::move(where)), left_(bytes) {}
  void charge(int64_t bytes) {
    if (bytes < 0 || bytes > left_) refuse(bytes);
    left_ -= bytes;
  }
  void release(int64_t bytes) { left_ += bytes; }

 private:
  [[noreturn]] void refuse(int64_t bytes) const;
  std::string where_;
  int64_t left_;
};

// A model-local function, its body still as bytes.
struct Function {
  std::string name;
  std::vector<std::string_view> inputs, outputs;
  std::map<std::string_view, Bytes> defaults;  // attributes with a default value
  std::map<std::string, int> opsets;
  std::vector<Bytes> nodes;  // in topological order
};
using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

inline constexpr const char* kDamaged = "the file is damaged: copy or export it again";  // an error's usual remedy

struct ReadContext {
  WireSource source;
  std::shared_ptr<const void> owner;  // of the bytes
  ReadLimits limits;
  MemoryBudget budget;
  ExternalFiles external;
  std::map<FunctionKey, Function> functions;
  int64_t nodes = 0;  // so far

  [[noreturn]] void fail(Code code, const std::string& what, const std::string& at,
                         const std::string& fix = kDamaged) const {
    throw Error(code, what, place(source.where, at), fix);
  }
};

// "ai.onnx" is another spelling of the default domain.
inline std::string canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : std::string(domain); }

}  // namespace nxrt::onnx
