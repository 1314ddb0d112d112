// Numbers of the generation side. A token is text's; a block and a sequence are ours.
#pragma once

#include "base/error.h"
#include "base/ids.h"
#include "text/tokenizer.h"

namespace genai {

using BlockId = nxrt::Id<struct BlockTag>;                 // a block of the pool
using SequenceId = nxrt::Id<struct SequenceTag, int64_t>;  // never reused while the engine lives

}  // namespace genai
