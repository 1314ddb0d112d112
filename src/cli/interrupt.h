// Ctrl-C. Outside a CooperativeInterrupt it ends the program at once (exit code 130). Inside one the first Ctrl-C only
// raises a flag, so that an answer stops or a half-made folder is removed; the second ends the program at once.
// SIGTERM, and SIGHUP of a closed terminal, count as a Ctrl-C that wants the program to end. A reader of our output
// that went away (SIGPIPE) stops an answer like the first Ctrl-C. A file that hits its size limit is an error of the
// write, not a signal.
//
// Threads: scopes are opened and closed by one thread and may lie in each other; the flag may be read from any thread.
#pragma once

namespace genai::cli {

void install_interrupt_handler();

class CooperativeInterrupt {
 public:
  CooperativeInterrupt();  // the outermost one starts with nothing pending
  ~CooperativeInterrupt();
  CooperativeInterrupt(const CooperativeInterrupt&) = delete;
  CooperativeInterrupt& operator=(const CooperativeInterrupt&) = delete;
  static bool pending();
  static bool wants_end();
  static void clear();  // what was pending is dealt with: the next one is a first one again
};

// The modes of the terminal on standard input, put back at the end, also when a Ctrl-C ends the program at once.
class RestoredTerminal {
 public:
  RestoredTerminal();
  ~RestoredTerminal();
  RestoredTerminal(const RestoredTerminal&) = delete;
  RestoredTerminal& operator=(const RestoredTerminal&) = delete;
};

}  // namespace genai::cli
