#include "net/server.h"

#include <unistd.h>

#include <utility>

#include "base/check.h"

namespace ratel {

Server::Server(const Clock& clock, int workers, const std::function<Worker::Options(int worker)>& worker_options) {
  for (int i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>(clock, worker_options(i), totals_));
}

Server::~Server() {
  stop();
}

Result<std::vector<std::string>> Server::listen(const Address& address, bool beyond_loopback,
                                                const std::vector<SessionFactory*>& factories, ListenerCounts& counts) {
  CHECK(threads_.empty() && factories.size() == workers_.size());
  auto opened = listen_on(address, {.sockets = workers(), .beyond_loopback = beyond_loopback});
  if (!opened.ok()) return opened.error();
  if (address.is_unix()) socket_files_.push_back(address.path);
  std::vector<std::string> names;
  for (Listening& one : *opened) {
    names.push_back(std::move(one.address));
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i]->listen(std::move(one.sockets[i]), *factories[i], counts);
    }
  }
  return names;
}

void Server::start() {
  running_ = workers();
  for (const auto& worker : workers_) {
    threads_.emplace_back([this, &worker] {
      worker->run();
      running_.fetch_sub(1, std::memory_order_release);
    });
  }
}

void Server::post(const std::function<void(int worker)>& work) {
  for (int i = 0; i < workers(); ++i) workers_[static_cast<std::size_t>(i)]->loop().post([work, i] { work(i); });
}

void Server::drain() {
  unlink_sockets();  // whoever comes now is told that nobody is here
  post([this](int i) { workers_[static_cast<std::size_t>(i)]->drain(); });
}

void Server::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Server::stop() {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    workers_[i]->loop().post([worker = workers_[i].get()] { worker->loop().stop(); });
  }
  join();
  for (const auto& worker : workers_) worker->close();
  unlink_sockets();
}

void Server::unlink_sockets() {
  for (const std::string& path : socket_files_) unlink(path.c_str());
  socket_files_.clear();
}

}  // namespace ratel
