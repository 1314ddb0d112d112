// The one exception type, thrown while loading, preparing and parsing; never by a running kernel.
//
//   throw Error(Code::invalid_argument, "block_size is 24, expected 16, 32, 64 or 128",
//               "model.onnx > node '/layers.0/mlp/down_proj' (MatMulNBits)", "export the model again with block_size
//               32");
//
// Threads: a value; no shared state.
// Errors:  `what` says what is and what was expected; `at` where in the user's file or request; `fix` what to do next.
#pragma once

#include <exception>
#include <string>

namespace nxrt {

enum class Code {
  invalid_argument,  // the caller's request or the file's content is wrong
  not_found,         // a file, a name or an id that does not exist
  unsupported,       // valid, but this build cannot do it
  corrupt,           // bytes that contradict their own format
  out_of_capacity,   // a limit of memory, length or count; numbers are in `what`
  io,                // the operating system refused
  cancelled,         // the user or the client asked to stop
  internal,          // a bug of ours
};

const char* name_of(Code code);

class Error : public std::exception {
 public:
  Error(Code code, std::string what, std::string at = {}, std::string fix = {});
  Code code() const noexcept { return code_; }
  const char* what() const noexcept override { return what_.c_str(); }
  const std::string& message() const noexcept { return what_; }
  const std::string& at() const noexcept { return at_; }
  const std::string& fix() const noexcept { return fix_; }
  // "error: …\n  at   …\n  fix  …", without a final newline; empty parts are left out.
  std::string text() const;

 private:
  Code code_;
  std::string what_, at_, fix_;
};

// Joins two places from the outside in: "model.onnx" and "node 'x'" give "model.onnx > node 'x'".
std::string place(const std::string& outer, const std::string& inner);

}  // namespace nxrt
