// Ctrl-C. Outside a CooperativeInterrupt it ends the program at once (exit code 130). Inside one the first Ctrl-C only
// raises a flag, so that an answer stops or a half-made folder is removed; the second ends the program at once.
// SIGTERM, and SIGHUP of a closed terminal, count as Ctrl-C. A reader of our output that went away (SIGPIPE) stops an
// answer like the first Ctrl-C. A file that hits its size limit is an error of the write, not a signal.
//
// Threads: one scope at a time; the flag may be read from any thread.
#pragma once

namespace genai::cli {

void install_interrupt_handler();

class CooperativeInterrupt {
 public:
  CooperativeInterrupt();
  ~CooperativeInterrupt();
  CooperativeInterrupt(const CooperativeInterrupt&) = delete;
  CooperativeInterrupt& operator=(const CooperativeInterrupt&) = delete;
  static bool pending();
};

}  // namespace genai::cli
