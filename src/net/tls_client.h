#pragma once
// TLS as a client: what is trusted, who we are. Immutable once made; any thread may begin connections with it.

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "ratel/result.h"

namespace ratel {

struct TlsClientOptions {
  std::string ca_file;      // PEM; empty: what the system trusts
  std::string cert_file;    // PEM, our certificate with its chain; empty: none
  std::string key_file;     // PEM
  std::string server_name;  // what the server's certificate is for; empty: the host that is dialled
};

class TlsClient {
 public:
  /// The error names the file, and what OpenSSL says of it.
  static Result<TlsClient> make(const TlsClientOptions& options);

  using Connection = std::unique_ptr<SSL, decltype(&::SSL_free)>;
  /// On a connected, non-blocking socket; the server's certificate is checked against `host` or the option.
  Connection begin(int fd, const std::string& host) const;

 private:
  explicit TlsClient(std::string server_name);

  std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context_;
  std::string server_name_;
};

/// What OpenSSL complained of last on this thread, or `otherwise`.
std::string tls_error(std::string_view otherwise);

}  // namespace ratel
