// Precompiled for tests where NXRT_PCH is on.
#include <gtest/gtest.h>

#include "common_headers.h"
