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

}  // namespace

void install_interrupt_handler() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);  // no SA_RESTART: a read at the prompt returns
  ::sigaction(SIGTERM, &action, nullptr);
}

CooperativeInterrupt::CooperativeInterrupt() {
  raised.store(false);
  cooperative.store(true);
}

CooperativeInterrupt::~CooperativeInterrupt() { cooperative.store(false); }

bool CooperativeInterrupt::pending() const { return raised.load(); }

}  // namespace genai::cli
