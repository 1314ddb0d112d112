// Must not compile: where a session lives is not the right to run on it.
#include "serve/driver.h"

void run(genai::serve::Driver& driver, const genai::serve::SessionPlacement& placement) {
#ifdef MUST_FAIL
  driver.generate(placement, genai::Request{});
#else
  genai::serve::SessionLeases leases;
  driver.generate(leases.acquire(placement), genai::Request{});
#endif
}
