// The chat page of GET /: web/chat.html, embedded by CMake.
#pragma once

#include <string_view>

namespace genai::serve {

extern const std::string_view kChatPage;

}  // namespace genai::serve
