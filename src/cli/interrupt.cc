#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/command.h"

namespace genai::cli {
namespace {

std::atomic<bool> cooperative{false};
std::atomic<bool> raised{false};
static_assert(std::atomic<bool>::is_always_lock_free, "read and written in a signal handler");

void on_interrupt(int) {
  if (!cooperative.load() || raised.exchange(true)) ::_exit(kInterrupted);
}

// Never ends the program inside a scope: cleaning up may write to the same broken pipe again.
void on_broken_pipe(int number) {
  if (cooperative.load()) {
    raised.store(true);
  } else {
    ::_exit(128 + number);
  }
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: a read at the prompt returns
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = on_broken_pipe;
  ::sigaction(SIGPIPE, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &action, nullptr);
}

CooperativeInterrupt::CooperativeInterrupt() {
  raised.store(false);
  cooperative.store(true);
}

CooperativeInterrupt::~CooperativeInterrupt() { cooperative.store(false); }

bool CooperativeInterrupt::pending() { return raised.load(); }

}  // namespace genai::cli
