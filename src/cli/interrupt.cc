#include "cli/interrupt.h"

#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/command.h"

namespace genai::cli {
namespace {

std::atomic<int> scopes{0};
std::atomic<bool> raised{false}, end_wanted{false}, modes_kept{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "read and written in a signal handler");
termios modes;

[[noreturn]] void end(int code) {
  if (modes_kept.load()) ::tcsetattr(STDIN_FILENO, TCSANOW, &modes);
  ::_exit(code);
}

void on_interrupt(int number) {
  if (number != SIGINT) end_wanted.store(true);
  if (scopes.load() == 0 || raised.exchange(true)) end(kInterrupted);
}

// Never ends the program inside a scope: cleaning up may write to the same broken pipe again.
void on_broken_pipe(int number) {
  if (scopes.load() == 0) end(128 + number);
  raised.store(true);
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
  if (scopes.load() == 0) clear();
  ++scopes;
}

CooperativeInterrupt::~CooperativeInterrupt() { --scopes; }

bool CooperativeInterrupt::pending() { return raised.load(); }
bool CooperativeInterrupt::wants_end() { return end_wanted.load(); }
void CooperativeInterrupt::clear() { raised.store(false); }

RestoredTerminal::RestoredTerminal() { modes_kept.store(::tcgetattr(STDIN_FILENO, &modes) == 0); }

RestoredTerminal::~RestoredTerminal() {
  if (modes_kept.exchange(false)) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
}

}  // namespace genai::cli
