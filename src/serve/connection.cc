// One connection: requests in, replies out, one after another.
#include <fmt/format.h>
#include <poll.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "serve/dispatch.h"
#include "serve/event_loop.h"

namespace genai::serve {

void LoopWakeup::ring() noexcept {
  if (posted_.exchange(true)) return;
  asio::post(io_, [self = shared_from_this()] {
    self->posted_.store(false);
    self->rung_ = true;
    self->timer_.cancel();
  });
}

asio::awaitable<void> LoopWakeup::wait(std::chrono::milliseconds limit) {
  if (!rung_) {
    timer_.expires_after(limit);
    co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  rung_ = false;
}

namespace {
namespace beast = boost::beast;
namespace http = beast::http;
using Clock = std::chrono::steady_clock;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kLook(100);  // how often a silent connection is looked at for its client
constexpr std::chrono::seconds kLinger(1);

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    out += escape ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    i += escape ? 2 : 0;
  }
  return out;
}

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

const char* reason_of(int status) { return http::obsolete_reason(static_cast<http::status>(status)).data(); }

// What the client did wrong, or nullopt when there is nobody to tell.
std::optional<ApiError> error_of(const beast::error_code& error, const HttpOptions& options) {
  if (error == http::error::header_limit) {
    ApiError refusal = ApiError::bad_request(
        {}, fmt::format("the headers have more than {} bytes", options.header_limit), "headers_too_large");
    refusal.status = 431;
    return refusal;
  }
  if (error == http::error::body_limit) {
    ApiError refusal = ApiError::bad_request(
        {}, fmt::format("the body has more than {} bytes (--body-limit)", options.body_limit), "body_too_large");
    refusal.status = 413;
    return refusal;
  }
  const bool wrong_http = error.category() == http::make_error_code(http::error::bad_method).category();
  if (!wrong_http || error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
  return ApiError::bad_request({}, "this is not a valid HTTP request: " + error.message(), "invalid_http");
}

ApiError arrived_too_slowly() {
  ApiError refusal = ApiError::bad_request({}, "the request did not arrive in time", "request_timeout");
  refusal.status = 408;
  return refusal;
}

ApiError too_slow(std::chrono::seconds limit) {
  ApiError error = ApiError::unavailable(
      "request_timeout", fmt::format("the answer took longer than {} s (--request-timeout)", limit.count()));
  error.status = 504;
  return error;
}

template <class Stream>
class Connection : public ConnectionHandle {
 public:
  template <class... Args>
  explicit Connection(EventLoop& loop, Args&&... args) : loop_(loop), stream_(std::forward<Args>(args)...) {
    loop_.connections.insert(this);
    ++loop_.server.metrics().connections;
  }
  ~Connection() override {
    loop_.connections.erase(this);
    --loop_.server.metrics().connections;
  }

  asio::awaitable<void> run() {
    if constexpr (!std::is_same_v<Stream, beast::tcp_stream>) {
      tcp_layer().expires_after(loop_.options.header_timeout);
      const auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kTuple);
      if (error) co_return;
    }
    while (co_await exchange()) {
    }
    beast::error_code ignored;
    tcp_layer().socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  void close_if_idle() override {
    if (idle_since_) tcp_layer().cancel();
  }
  std::optional<Clock::time_point> idle_since() const override { return idle_since_; }

  void give_up(const ApiError& reason) override {
    if (pending_ != nullptr) pending_->give_up(reason);
    if (events_ != nullptr) events_->give_up(reason);
    if (wakeup_) wakeup_->ring();
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  beast::tcp_stream& tcp_layer() { return beast::get_lowest_layer(stream_); }

  // Ends what waits for the client after `limit`, with the socket still open: the client can be told. (The limits of
  // tcp_stream close it.)
  class Deadline {
   public:
    Deadline(Connection& connection, std::chrono::seconds limit) : timer_(connection.loop_.io, limit) {
      connection.tcp_layer().expires_never();
      timer_.async_wait([&connection, ended = std::weak_ptr<bool>(running_)](const beast::error_code& error) {
        if (error || ended.expired()) return;
        connection.timed_out_ = true;
        connection.tcp_layer().cancel();
      });
    }

   private:
    asio::steady_timer timer_;
    std::shared_ptr<bool> running_ = std::make_shared<bool>(true);
  };

  // One request and its reply; false: the connection is over.
  asio::awaitable<bool> exchange() {
    Parser parser;
    parser.header_limit(static_cast<uint32_t>(loop_.options.header_limit));
    parser.body_limit(loop_.options.body_limit);
    const bool whole = co_await read(parser);
    if (!whole) co_return false;
    HttpRequest request = request_of(parser);
    version_11_ = parser.get().version() >= 11;
    head_only_ = request.method == "HEAD";
    keep_alive_ = parser.get().keep_alive() && !loop_.draining;
    wakeup_ = std::make_shared<LoopWakeup>(loop_.io);
    request.wakeup = wakeup_;
    Reply reply;
    if (is_instant(request)) {
      reply = dispatch(loop_.server, request);
    } else {
      reply = co_await asio::co_spawn(
          loop_.handlers,
          [&server = loop_.server, &request]() -> asio::awaitable<Reply> { co_return dispatch(server, request); },
          asio::use_awaitable);
    }
    co_return co_await respond(std::move(reply));
  }

  asio::awaitable<bool> read(Parser& parser) {
    idle_since_ = Clock::now();
    tcp_layer().expires_after(buffer_.size() == 0 ? loop_.options.idle_timeout : loop_.options.header_timeout);
    beast::error_code error;
    if (loop_.draining) co_return false;
    if (buffer_.size() == 0) error = co_await first_bytes();
    idle_since_.reset();
    if (error) co_return false;
    {
      const Deadline deadline(*this, loop_.options.header_timeout);
      std::tie(error, std::ignore) = co_await http::async_read_header(stream_, buffer_, parser, kTuple);
    }
    if (!error && beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      co_await write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (!error && !parser.is_done()) {
      const Deadline deadline(*this, loop_.options.body_timeout);
      std::tie(error, std::ignore) = co_await http::async_read(stream_, buffer_, parser, kTuple);
    }
    if (!error) co_return true;
    const std::optional<ApiError> refusal = timed_out_ ? arrived_too_slowly() : error_of(error, loop_.options);
    if (refusal) co_await refuse(*refusal);
    co_return false;
  }

  // Waits for a request to begin: a client may be silent between two for longer than within one.
  asio::awaitable<beast::error_code> first_bytes() {
    auto space = buffer_.prepare(4096);
    const auto [error, count] = co_await stream_.async_read_some(space, kTuple);
    buffer_.commit(count);
    co_return error;
  }

  asio::awaitable<void> refuse(const ApiError& error) {
    loop_.server.metrics().refusal(error.code);
    loop_.server.metrics().request("unknown", error.status);
    keep_alive_ = false;
    co_await send_whole(error_reply(error));
    // The client may still be sending; a close now would take the reply from under its hands.
    beast::error_code ignored;
    tcp_layer().socket().shutdown(tcp::socket::shutdown_send, ignored);
    tcp_layer().expires_after(kLinger);
    char waste[16384];
    for (int reads = 0; reads < 256; ++reads) {
      const auto [end, count] = co_await stream_.async_read_some(asio::buffer(waste), kTuple);
      if (end || count == 0) break;
    }
  }

  static HttpRequest request_of(Parser& parser) {
    HttpRequest request;
    const auto& message = parser.get();
    request.method = text_of(message.method_string());
    const std::string_view target(message.target().data(), message.target().size());
    const size_t mark = target.find('?');
    request.path = percent_decoded(target.substr(0, mark));
    if (mark != std::string_view::npos) request.query = std::string(target.substr(mark + 1));
    for (const auto& field : message) {
      std::string name = text_of(field.name_string());
      for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      request.headers[name] = text_of(field.value());
    }
    request.body = std::move(parser.get().body());
    return request;
  }

  asio::awaitable<bool> respond(Reply reply) {
    if (reply.events) co_return co_await send_events(std::move(reply));
    if (reply.pending) {
      std::optional<Reply> made = co_await finished(std::move(reply.pending));
      if (!made) co_return false;
      for (auto& header : reply.headers) made->headers.push_back(std::move(header));
      co_return co_await send_whole(*made);
    }
    co_return co_await send_whole(reply);
  }

  // Empty: the client has gone, which drops the answer.
  asio::awaitable<std::optional<Reply>> finished(std::unique_ptr<PendingReply> pending) {
    pending_ = pending.get();
    const Clock::time_point began = Clock::now();
    std::optional<Reply> made;
    while (!(made = pending->poll())) {
      co_await wakeup_->wait(kLook);
      if (gone()) break;
      if (late(began)) pending->give_up(too_slow(loop_.options.request_timeout));
    }
    pending_ = nullptr;
    co_return made;
  }

  asio::awaitable<bool> send_events(Reply reply) {
    EventSource& source = *reply.events;
    events_ = &source;
    bool sent = co_await write(head_of(reply, std::nullopt));
    if (sent) sent = co_await pump(source);
    events_ = nullptr;
    if (!sent) co_return false;
    if (version_11_ && !co_await write("0\r\n\r\n")) co_return false;
    co_return keep_alive_&& version_11_;
  }

  // False: the client has gone.
  asio::awaitable<bool> pump(EventSource& source) {
    const Clock::time_point began = Clock::now();
    Clock::time_point last = began;
    while (!source.done()) {
      if (gone()) co_return false;
      if (const std::optional<std::string> frame = source.poll()) {
        const bool sent = co_await write(chunk(*frame));
        if (!sent) co_return false;
        last = Clock::now();
        continue;
      }
      if (late(began)) {
        source.give_up(too_slow(loop_.options.request_timeout));
        continue;
      }
      if (Clock::now() - last >= loop_.options.ping) {
        const bool sent = co_await write(chunk(": ping\n\n"));
        if (!sent) co_return false;
        last = Clock::now();
      }
      co_await wakeup_->wait(kLook);
    }
    co_return true;
  }

  bool late(Clock::time_point began) const {
    return loop_.options.request_timeout.count() > 0 && Clock::now() - began > loop_.options.request_timeout;
  }

  // Whether the client has closed its side, without reading what it may have sent.
  bool gone() {
    pollfd look{.fd = tcp_layer().socket().native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
  }

  std::string chunk(std::string_view frame) const {
    if (!version_11_) return std::string(frame);
    return fmt::format("{:x}\r\n{}\r\n", frame.size(), frame);
  }

  std::string head_of(const Reply& reply, std::optional<size_t> length) const {
    std::string head = fmt::format("HTTP/1.1 {} {}\r\nServer: onnx-genai\r\n", reply.status, reason_of(reply.status));
    if (!reply.content_type.empty()) head += "Content-Type: " + reply.content_type + "\r\n";
    if (length && reply.status != 204) head += fmt::format("Content-Length: {}\r\n", *length);
    if (!length && version_11_) head += "Transfer-Encoding: chunked\r\n";
    const bool keep = keep_alive_ && (length || version_11_);
    head += keep ? (version_11_ ? "" : "Connection: keep-alive\r\n") : "Connection: close\r\n";
    for (const auto& [name, value] : reply.headers) head += name + ": " + value + "\r\n";
    return head + "\r\n";
  }

  asio::awaitable<bool> send_whole(const Reply& reply) {
    std::string bytes = head_of(reply, reply.body.size());
    if (!head_only_) bytes += reply.body;
    const bool sent = co_await write(bytes);
    co_return sent&& keep_alive_;
  }

  asio::awaitable<bool> write(std::string_view bytes) {
    tcp_layer().expires_after(loop_.options.write_timeout);
    const auto [error, count] = co_await asio::async_write(stream_, asio::buffer(bytes.data(), bytes.size()), kTuple);
    tcp_layer().expires_never();
    co_return !error;
  }

  EventLoop& loop_;
  Stream stream_;
  beast::flat_buffer buffer_;
  std::shared_ptr<LoopWakeup> wakeup_;
  PendingReply* pending_ = nullptr;
  EventSource* events_ = nullptr;
  std::optional<Clock::time_point> idle_since_ = Clock::now();
  bool keep_alive_ = true, version_11_ = true, head_only_ = false, timed_out_ = false;
};
}  // namespace

asio::awaitable<void> serve_connection(EventLoop& loop, tcp::socket socket) {
  constexpr int kSendBuffer = 128 << 10;  // what a slow reader may leave in the kernel
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::send_buffer_size(kSendBuffer), ignored);
  beast::tcp_stream plain(std::move(socket));
  if (loop.tls) {
    Connection<beast::ssl_stream<beast::tcp_stream>> connection(loop, std::move(plain), *loop.tls);
    co_await connection.run();
  } else {
    Connection<beast::tcp_stream> connection(loop, std::move(plain));
    co_await connection.run();
  }
}

}  // namespace genai::serve
