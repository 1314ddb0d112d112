// The network side: connections, limits, timeouts, TLS, shutdown. Routes run behind dispatch().
//
//   HttpServer http(server, {.port = 8080});
//   http.run();                        // until stop() or SIGTERM, and the drain
//
// One event-loop thread (the caller of run) does all input and output and answers instant routes itself; a few handler
// threads run the others, which may wait for an engine between two of its steps.
// Shutdown: accepts nobody, lets running answers end for `drain`, ends the rest with an error event, keeps durable
// sessions, lets go of the models.
// Threads: stop() from any. Errors: the constructor throws Error{io | invalid_argument} for address, certificate or
// key. Memory:  per connection one read buffer and one frame of output; a reader that doesn't drain costs no more.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "serve/server.h"

namespace genai::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any free one
  std::string tls_cert, tls_key;
  size_t body_limit = size_t{32} << 20, header_limit = 16 << 10;
  int max_connections = 4096;
  int handler_threads = 8;
  std::chrono::seconds header_timeout{30}, body_timeout{60}, idle_timeout{120}, write_timeout{60};
  std::chrono::seconds request_timeout{0};  // of one answer; 0: none
  std::chrono::milliseconds ping{10'000};   // comment lines while a stream is silent
  std::chrono::seconds drain{10};
  bool signals = false;                 // SIGINT and SIGTERM stop it
  std::function<void()> second_signal;  // while it stops
  std::function<void()> drained;        // the answers have ended; what is left to do waits for the engines
};

class HttpServer {
 public:
  HttpServer(Server& server, HttpOptions options);
  ~HttpServer();

  int port() const;
  void run();
  void stop();

 private:
  class Loop;
  std::shared_ptr<Loop> loop_;
};

}  // namespace genai::serve
