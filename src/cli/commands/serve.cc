// onnx-genai serve: the OpenAI-compatible server.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/cpu.h"
#include "cli/command.h"
#include "cli/serve_models.h"
#include "cli/size_text.h"
#include "serve/http_server.h"

namespace genai::cli {
namespace {

using serve::HttpOptions;
using serve::ServerOptions;
constexpr int kStopSeconds = 2;  // to let go of everything once the answers have ended

struct Flags {
  ServedModelFlags models;
  HttpOptions http;
  ServerOptions server;
  std::string session_dir, api_key_file, body_limit = "32MiB", ready_file;
  std::vector<std::string> origins;
  int header_timeout = 30, idle_timeout = 120, drain = 10, request_timeout = 0;
  int max_output_tokens = 0;
  bool insecure = false, session_sync = true;
};

void add_network(CLI::App& app, Flags& flags) {
  const std::string group = "Network";
  app.add_option("--host", flags.http.host, "Address to listen on")->capture_default_str()->group(group);
  app.add_option("--port", flags.http.port, "Port; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str()
      ->group(group);
  app.add_option("--tls-cert", flags.http.tls_cert, "Certificate chain (PEM)")->group(group);
  app.add_option("--tls-key", flags.http.tls_key, "Private key (PEM)")->group(group);
  app.add_option("--cors-allow-origin", flags.origins, "Origin whose pages may use this server (repeatable; * for any)")
      ->group(group);
  app.add_option("--body-limit", flags.body_limit, "Largest request body")->capture_default_str()->group(group);
  app.add_option("--max-connections", flags.http.max_connections, "Open connections")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--header-timeout", flags.header_timeout, "Seconds for a request's headers to arrive")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str()
      ->group(group);
  app.add_option("--idle-timeout", flags.idle_timeout, "Seconds a connection may be silent between requests")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str()
      ->group(group);
  app.add_option("--request-timeout", flags.request_timeout, "Seconds for one answer; 0: no limit")
      ->check(CLI::Range(0, 86400))
      ->group(group);
  app.add_option("--drain-seconds", flags.drain, "Seconds that running answers get when the server stops")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str()
      ->group(group);
  app.add_option("--ready-file", flags.ready_file, "Write the server's URL into this file once it answers")
      ->group(group);
}

void add_rules(CLI::App& app, Flags& flags) {
  const std::string group = "Rules";
  app.add_option("--api-key-file", flags.api_key_file, "File of API keys, one a line")->group(group);
  app.add_option("--max-key-requests", flags.server.max_key_requests, "Requests of one API key at a time; 0: no limit")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_flag("--insecure", flags.insecure, "Listen beyond this machine without API keys")->group(group);
  app.add_option("--max-output-tokens", flags.max_output_tokens, "Most tokens of an answer; 0: what the context holds")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_flag("--strict", flags.server.limits.strict, "Refuse unknown fields instead of ignoring them")->group(group);
  app.add_option("--max-sessions", flags.server.sessions.most, "Live sessions")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--session-ttl", flags.server.sessions.ttl_s, "Seconds until an unused session is closed; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--session-dir", flags.session_dir, "Keep sessions in this folder: they survive restarts")
      ->group(group);
  app.add_flag("--session-sync,!--no-session-sync", flags.session_sync,
               "Show a session's turn as ended only once the disk has it: it then survives a power failure")
      ->group(group);
  app.add_flag("--metrics,!--no-metrics", flags.server.metrics, "Offer /metrics")->group(group);
}

void check(const Flags& flags) {
  if (!serve::is_loopback(flags.http.host) && flags.api_key_file.empty() && !flags.insecure) {
    throw CLI::ValidationError("--host",
                               "'" + flags.http.host +
                                   "' is reachable from other machines: give --api-key-file, or --insecure if "
                                   "everyone may use this server");
  }
  if (flags.server.max_key_requests > 0 && flags.api_key_file.empty()) {
    throw CLI::ValidationError("--max-key-requests", "there are no keys to count by: give --api-key-file");
  }
  if (flags.http.tls_cert.empty() != flags.http.tls_key.empty()) {
    throw CLI::ValidationError("--tls-cert", "--tls-cert and --tls-key belong together");
  }
}

ServerOptions server_options(const Flags& flags) {
  ServerOptions options = flags.server;
  options.models = flags.models.names();
  options.hub.most_loaded = flags.models.max_loaded;
  options.hub.load_wait = std::chrono::seconds(flags.models.load_seconds);
  options.limits.max_output_tokens = flags.max_output_tokens;
  if (!flags.session_dir.empty()) options.sessions.directory = flags.session_dir;
  if (!flags.session_sync) options.sessions.force = nullptr;
  if (!flags.api_key_file.empty()) options.keys = serve::ApiKeys(flags.api_key_file);
  options.origins = serve::Origins(flags.origins);
  options.log = [](const std::string& line) { std::fprintf(stderr, "error: %s\n", line.c_str()); };
  return options;
}

HttpOptions http_options(const Flags& flags) {
  HttpOptions options = flags.http;
  const std::optional<int64_t> limit = parse_size(flags.body_limit, nxrt::allowed_memory());
  if (!limit) throw CLI::ValidationError("--body-limit", "'" + flags.body_limit + "' is not a size: 512KiB, 32MiB");
  options.body_limit = static_cast<size_t>(*limit);
  options.header_timeout = std::chrono::seconds(flags.header_timeout);
  options.idle_timeout = std::chrono::seconds(flags.idle_timeout);
  options.request_timeout = std::chrono::seconds(flags.request_timeout);
  options.drain = std::chrono::seconds(flags.drain);
  options.signals = true;
  options.second_signal = [] { ::_exit(kInterrupted); };
  options.drained = [] {  // an engine that stands still must not keep the process
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(kStopSeconds));
      ::_exit(kRuntimeError);
    }).detach();
  };
  return options;
}

void write_ready_file(const std::string& path, const std::string& url) {
  if (path.empty()) return;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw Error(Code::io, "the ready file can't be written", path, "check --ready-file");
  std::fprintf(file, "%s\n", url.c_str());
  std::fclose(file);
}

int run(const Flags& flags) {
  check(flags);
  serve::Server server(server_options(flags), [&](const std::string& name) { return flags.models.load(name); });
  server.models().load({});  // the default model: a fault shows now, not at the first request
  serve::HttpServer http(server, http_options(flags));
  const std::string url = std::string(flags.http.tls_cert.empty() ? "http" : "https") + "://" + flags.http.host + ":" +
                          std::to_string(http.port());
  std::printf("listening on %s\n", url.c_str());
  std::fflush(stdout);
  write_ready_file(flags.ready_file, url);
  http.run();
  std::fprintf(stderr, "stopped\n");
  return kOk;
}

}  // namespace

Command serve() {
  return {"serve", "Serve the OpenAI-compatible HTTP API", "onnx-genai serve models/smollm2 --port 8080",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            flags->models.add(app);
            add_network(app, *flags);
            add_rules(app, *flags);
            return [flags] { return run(*flags); };
          }};
}

}  // namespace genai::cli
