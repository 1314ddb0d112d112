#include "cli/report.h"

#include <CLI/Error.hpp>
#include <cstdio>
#include <new>

#include "base/error.h"
#include "cli/command.h"

namespace genai::cli {
namespace {

int report(const nxrt::Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return error.code() == nxrt::Code::cancelled ? kInterrupted : kRuntimeError;
}

}  // namespace

int report_errors(const std::function<int()>& action) {
  using nxrt::Code;
  try {
    return action();
  } catch (const CLI::ParseError& error) {
    report({Code::invalid_argument, error.what(), "the command line",
            "see onnx-genai --help and onnx-genai SUBCOMMAND --help"});
    return kUsageError;
  } catch (const nxrt::Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report({Code::out_of_capacity, "out of memory", "", "use a smaller model, context or --kv-memory"});
  } catch (const std::exception& error) {
    return report({Code::internal, error.what(), "", "this is a bug of onnx-genai: please report it"});
  }
}

}  // namespace genai::cli
