#include "net/tls_client.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>

#include "base/check.h"
#include "base/ip_address.h"

namespace ratel {
namespace {

Error failed(const char* field, const std::string& file) {
  return {ErrorCode::kConfiguration, std::string(field) + ": `" + file + "`: " + tls_error("cannot be used")};
}

}  // namespace

std::string tls_error(std::string_view otherwise) {
  const unsigned long code = ::ERR_peek_last_error();
  ::ERR_clear_error();
  if (code == 0) return std::string(otherwise);
  std::array<char, 256> text{};
  ::ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

TlsClient::TlsClient(std::string server_name)
    : context_(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free), server_name_(std::move(server_name)) {
  CHECK(context_ != nullptr);
}

Result<TlsClient> TlsClient::make(const TlsClientOptions& options) {
  ::ERR_clear_error();
  TlsClient client(options.server_name);
  SSL_CTX* context = client.context_.get();
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
  if (options.ca_file.empty()) {
    ::SSL_CTX_set_default_verify_paths(context);
  } else if (::SSL_CTX_load_verify_locations(context, options.ca_file.c_str(), nullptr) != 1) {
    return failed("CA certificates", options.ca_file);
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return Error{ErrorCode::kConfiguration, "a client certificate and its key come together"};
  }
  if (options.cert_file.empty()) return client;
  if (::SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1) {
    return failed("client certificate", options.cert_file);
  }
  if (::SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return failed("key of the client certificate", options.key_file);
  }
  return client;
}

TlsClient::Connection TlsClient::begin(int fd, const std::string& host) const {
  Connection connection(::SSL_new(context_.get()), &::SSL_free);
  CHECK(connection != nullptr);
  const std::string& name = server_name_.empty() ? host : server_name_;
  if (is_ip_address(name)) {
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(connection.get()), name.c_str());
  } else {
    ::SSL_set1_host(connection.get(), name.c_str());
    ::SSL_ctrl(connection.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(name.c_str()));  // SSL_set_tlsext_host_name, without its C cast
  }
  ::SSL_set_fd(connection.get(), fd);
  ::SSL_set_connect_state(connection.get());
  return connection;
}

}  // namespace ratel
