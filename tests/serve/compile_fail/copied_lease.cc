// Must not compile: a lease can't be kept while it is given away.
#include "serve/driver.h"

void close(genai::serve::Driver& driver, genai::serve::SessionLease lease) {
#ifdef MUST_FAIL
  driver.close_session(lease);
#else
  driver.close_session(std::move(lease));
#endif
}
