#include "serve/http_server.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "serve/event_loop.h"

namespace genai::serve {
namespace {
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kTick(250);
constexpr std::chrono::seconds kAfterDrain(1);  // for error events to reach their readers

[[noreturn]] void refuse(const std::string& what, const std::string& at, const std::string& fix) {
  throw nxrt::Error(nxrt::Code::io, what, at, fix);
}

asio::ssl::context tls_context(const HttpOptions& options) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
  boost::system::error_code error;
  context.use_certificate_chain_file(options.tls_cert, error);
  if (error) refuse("the TLS certificate can't be read: " + error.message(), options.tls_cert, "check --tls-cert");
  context.use_private_key_file(options.tls_key, asio::ssl::context::pem, error);
  if (error) refuse("the TLS key can't be read: " + error.message(), options.tls_key, "check --tls-key");
  return context;
}
}  // namespace

class HttpServer::Loop : public std::enable_shared_from_this<Loop> {
 public:
  Loop(Server& server, HttpOptions options)
      : loop_{.server = server, .options = std::move(options)},
        acceptor_(loop_.io),
        signals_(loop_.io),
        tick_(loop_.io),
        deadline_(loop_.io) {
    if (!loop_.options.tls_cert.empty() || !loop_.options.tls_key.empty()) loop_.tls = tls_context(loop_.options);
    listen();
  }

  int port() const { return acceptor_.local_endpoint().port(); }

  void run() {
    if (loop_.options.signals) {
      signals_.add(SIGINT);
      signals_.add(SIGTERM);
      asio::co_spawn(loop_.io, watch_signals(), asio::detached);
    }
    asio::co_spawn(loop_.io, accept(), asio::detached);
    asio::co_spawn(loop_.io, tick(), asio::detached);
    loop_.io.run();
    if (loop_.options.drained) loop_.options.drained();
    loop_.handlers.join();
    loop_.server.stop();  // the engines go while what they wake still exists
  }

  void stop() {
    asio::post(loop_.io, [self = shared_from_this()] { self->begin_stop(); });
  }

 private:
  void listen() {
    const HttpOptions& options = loop_.options;
    const std::string where = options.host + ":" + std::to_string(options.port);
    boost::system::error_code error;
    tcp::resolver resolver(loop_.io);
    const auto found = resolver.resolve(options.host, std::to_string(options.port), error);
    if (error || found.empty()) refuse("the address isn't one: " + error.message(), where, "check --host");
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) refuse("the address can't be listened on: " + error.message(), where, "choose another --port or --host");
  }

  asio::awaitable<void> accept() {
    while (acceptor_.is_open()) {
      const auto [stopped] = co_await acceptor_.async_wait(tcp::acceptor::wait_read, kTuple);
      if (stopped) co_return;
      co_await wait_for_room();
      auto [error, socket] = co_await acceptor_.async_accept(kTuple);
      if (error == asio::error::operation_aborted) co_return;
      if (error) {  // out of descriptors: those that are here go first
        asio::steady_timer pause(loop_.io, std::chrono::milliseconds(100));
        co_await pause.async_wait(kTuple);
        continue;
      }
      // What a connection couldn't handle ends that connection alone.
      asio::co_spawn(loop_.io, serve_connection(loop_, std::move(socket)), [](const std::exception_ptr&) {});
    }
  }

  // The newcomer waits in the kernel's queue while the house is full, and whoever has been silent the longest between
  // two requests makes room: connections that are merely kept open keep nobody out.
  asio::awaitable<void> wait_for_room() {
    while (acceptor_.is_open() && static_cast<int>(loop_.connections.size()) >= loop_.options.max_connections) {
      const auto longest = std::ranges::min_element(loop_.connections, {}, [](const ConnectionHandle* connection) {
        return connection->idle_since().value_or(std::chrono::steady_clock::time_point::max());
      });
      (*longest)->close_if_idle();
      asio::steady_timer pause(loop_.io, std::chrono::milliseconds(10));
      co_await pause.async_wait(kTuple);
    }
  }

  asio::awaitable<void> tick() {
    for (int64_t count = 0; !loop_.draining; ++count) {
      loop_.server.tick();
      if (count % 20 == 0) {
        asio::post(loop_.handlers, [&server = loop_.server] { server.look_after(); });
      }
      tick_.expires_after(kTick);
      co_await tick_.async_wait(kTuple);
    }
  }

  asio::awaitable<void> watch_signals() {
    const auto [error, number] = co_await signals_.async_wait(kTuple);
    if (error) co_return;
    begin_stop();
    const auto [again, second] = co_await signals_.async_wait(kTuple);
    if (!again && loop_.options.second_signal) loop_.options.second_signal();
  }

  void begin_stop() {
    if (loop_.draining) return;
    loop_.draining = true;
    loop_.server.begin_stop();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    tick_.cancel();
    for (ConnectionHandle* connection : loop_.connections) connection->close_if_idle();
    asio::co_spawn(loop_.io, drain(), asio::detached);
  }

  asio::awaitable<void> drain() {
    co_await until_empty(loop_.options.drain);
    const ApiError reason = ApiError::unavailable("stopping", "the server is stopping and ended this answer");
    for (ConnectionHandle* connection : loop_.connections) connection->give_up(reason);
    co_await until_empty(kAfterDrain);
    loop_.io.stop();
  }

  asio::awaitable<void> until_empty(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!loop_.connections.empty() && std::chrono::steady_clock::now() < end) {
      deadline_.expires_after(std::chrono::milliseconds(20));
      co_await deadline_.async_wait(kTuple);
    }
  }

  EventLoop loop_;
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  asio::steady_timer tick_, deadline_;
};

HttpServer::HttpServer(Server& server, HttpOptions options)
    : loop_(std::make_shared<Loop>(server, std::move(options))) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return loop_->port(); }
void HttpServer::run() { loop_->run(); }
void HttpServer::stop() { loop_->stop(); }

}  // namespace genai::serve
