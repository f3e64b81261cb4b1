#include "serve/http_page.h"

namespace ratel {

std::string_view http_page() {
  return R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ratel</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
  h1 { margin-bottom: 0; }
  pre { padding: .75rem 1rem; overflow-x: auto; background: color-mix(in srgb, currentColor 8%, transparent); }
  td { padding: .15rem 1.5rem .15rem 0; vertical-align: top; }
  td:first-child { white-space: nowrap; }
  code, pre { font: .875rem/1.5 ui-monospace, monospace; }
</style>
</head>
<body>
<h1>ratel</h1>
<p>A rate limiter that all your servers share. This is its HTTP side; it is up.</p>

<h2>Ask it</h2>
<pre>curl --json '{"limit": "5/min burst 10", "key": "user:42"}' \
     http://localhost:8080/v1/allow</pre>
<p><code>allowed</code> says whether <code>user:42</code> may go ahead, <code>remaining</code> how much is left, and
<code>retry_after_ms</code> how long to wait otherwise. With a rules file, name a rule instead of a limit.</p>

<h2>What is here</h2>
<table>
<tr><td><code>POST /v1/allow</code></td><td>may this key spend this cost? <code>/v1/peek</code> asks without spending,
<code>/v1/reserve</code> books ahead</td></tr>
<tr><td><code>POST /v1/refund</code></td><td>gives back; <code>/v1/reset</code> forgets a key</td></tr>
<tr><td><code>POST /v1/acquire</code></td><td>takes a slot of a concurrency limit; <code>/v1/renew</code>,
<code>/v1/release</code></td></tr>
<tr><td><code>GET /v1/auth</code></td><td>for proxies: nginx auth_request, Caddy forward_auth,
Traefik ForwardAuth</td></tr>
<tr><td><a href="/metrics">/metrics</a></td><td>for Prometheus</td></tr>
<tr><td><a href="/healthz">/healthz</a></td><td>whether it runs; <a href="/readyz">/readyz</a>: whether its answers are
exact</td></tr>
</table>
<p>All of it is described in <code>docs/http.md</code> and <code>docs/proxies.md</code>, which come with ratel.</p>
</body>
</html>
)";
}

std::string_view http_page_headers() {
  return "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n";
}

}  // namespace ratel
