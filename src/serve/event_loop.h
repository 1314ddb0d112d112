// What connections share with the HTTP server; only connection.cc and http_server.cc know Boost.
//
// Threads: the event loop's, except ring().
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <set>

#include "serve/api_error.h"
#include "serve/http_server.h"

namespace genai::serve {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

// Wakes a coroutine of the loop from any thread. Nothing may ring once the loop is gone: the engines go first.
class LoopWakeup : public Wakeup, public std::enable_shared_from_this<LoopWakeup> {
 public:
  explicit LoopWakeup(asio::io_context& io) : io_(io), timer_(io) {}
  void ring() noexcept override;
  asio::awaitable<void> wait(std::chrono::milliseconds limit);

 private:
  asio::io_context& io_;
  asio::steady_timer timer_;
  std::atomic<bool> posted_{false};
  bool rung_ = false;
};

class ConnectionHandle {
 public:
  virtual ~ConnectionHandle() = default;
  virtual void close_if_idle() = 0;
  // Since when it has been silent between two requests; empty: it is in the middle of one.
  virtual std::optional<std::chrono::steady_clock::time_point> idle_since() const = 0;
  virtual void give_up(const ApiError& reason) = 0;  // its answer ends with this
};

struct EventLoop {
  Server& server;
  const HttpOptions options;
  asio::thread_pool handlers{static_cast<size_t>(options.handler_threads)};
  std::optional<asio::ssl::context> tls;
  std::set<ConnectionHandle*> connections;
  bool draining = false;
  asio::io_context io{1};  // last: it destroys the coroutines, which use the rest
};

asio::awaitable<void> serve_connection(EventLoop& loop, tcp::socket socket);

}  // namespace genai::serve
