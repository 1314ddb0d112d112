// Must not compile: nobody closes a session without the proof that no turn runs on it.
#include "serve/driver.h"

void close(genai::serve::Driver& driver, const genai::serve::SessionPlacement& placement) {
#ifdef MUST_FAIL
  driver.close_session(placement);
#else
  genai::serve::SessionLeases leases;
  driver.close_session(std::move(*leases.acquire(placement)));
#endif
}
