#include "serve/attempt.h"

namespace genai::serve {

std::optional<nxrt::Error> attempt(const std::function<void()>& work) noexcept {
  try {
    work();
    return std::nullopt;
  } catch (const nxrt::Error& error) {
    return error;
  } catch (const std::exception& error) {
    return nxrt::Error(nxrt::Code::internal, error.what());
  }
}

}  // namespace genai::serve
