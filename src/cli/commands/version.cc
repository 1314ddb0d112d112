// onnx-genai version
#include <cstdio>

#include "base/cpu.h"
#include "base/version.h"
#include "cli/command.h"

namespace genai::cli {

Command version() {
  return {"version", "Version and what this machine offers", "onnx-genai version",
          [](CLI::App&) -> std::function<int()> {
            return [] {
              std::printf("onnx-genai %s\n", nxrt::kVersion);
              std::printf("cpu   %s, %d allowed, kernels: %s\n", nxrt::cpu_model().c_str(), nxrt::allowed_cpus(),
                          std::string(name_of(nxrt::best_isa())).c_str());
              return kOk;
            };
          }};
}

}  // namespace genai::cli
