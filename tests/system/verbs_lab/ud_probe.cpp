// Measures round trips between two verbs devices of this machine, one JSON object as a result.
//
//   lab_ud_probe SOURCE_DEVICE TARGET_DEVICE COUNT|- [SOURCE_QPS]
//   lab_ud_probe listen DEVICE
//
// With "-" the counts come from standard input, one a line, and each gets a result: the QPs, and so
// the UDP source ports, stay the same between them.  "listen" says its QPN and queue key, then for
// each number of milliseconds on standard input what message came meanwhile, for frames that
// somebody else made.
// The lab's own yardstick: it shares no code with the product, so it tells whether the lab or the
// product is at fault. 64-byte UD messages, one at a time, in turn from each of the source's QPs;
// the target answers each. Both sleep on completion channels, since there are few cores.
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::uint32_t kQKey = 0x1eab;
constexpr int kReceives = 32;
constexpr std::size_t kSlotSize = 256;
constexpr std::uint32_t kGrhSize = 40;  // what UD puts in front of every message
constexpr std::uint32_t kMessageSize = 64;
constexpr milliseconds kTimeout{200};

template <auto kDestroy>
struct Destroy {
  template <typename T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
template <typename T, auto kDestroy>
using Handle = std::unique_ptr<T, Destroy<kDestroy>>;

template <typename T>
T* made(T* object, const char* what) {
  if (object == nullptr) {
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  }
  return object;
}

void done(int status, const char* what) {
  if (status != 0) {
    throw std::runtime_error(std::string(what) + ": " + std::strerror(status > 0 ? status : errno));
  }
}

ibv_context* open_device(const std::string& name) {
  const Handle<ibv_device*, ibv_free_device_list> devices(
      made(ibv_get_device_list(nullptr), "device list"));
  for (ibv_device** device = devices.get(); *device != nullptr; ++device) {
    if (name == ibv_get_device_name(*device)) {
      return made(ibv_open_device(*device), "open");
    }
  }
  throw std::runtime_error("no device " + name);
}

struct Message {
  std::uint32_t qpn;       ///< the sender
  std::uint32_t sequence;  ///< its number of the probe
};

/// A message as the completion and the memory show it.
struct Arrival {
  std::uint32_t source_qpn = 0;
  std::vector<std::uint8_t> payload;
};

/// One device with its QPs, which share a completion queue.
class Endpoint final {
 public:
  Endpoint(const std::string& name, int qps) : context_(open_device(name)) {
    pd_.reset(made(ibv_alloc_pd(context_.get()), "protection domain"));
    memory_.resize((kReceives + 1) * kSlotSize);
    mr_.reset(made(ibv_reg_mr(pd_.get(), memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE),
                   "memory"));
    channel_.reset(made(ibv_create_comp_channel(context_.get()), "channel"));
    cq_.reset(made(ibv_create_cq(context_.get(), 2 * kReceives, nullptr, channel_.get(), 0), "CQ"));
    find_gid();
    for (int i = 0; i < qps; ++i) {
      add_qp();
    }
    for (int slot = 0; slot < kReceives; ++slot) {
      post_receive(static_cast<std::uint64_t>(slot));
    }
  }

  const ibv_gid& gid() const { return gid_; }
  std::uint32_t qpn(std::size_t i) const { return qps_[i]->qp_num; }
  std::size_t qp_count() const { return qps_.size(); }

  /// From here on, messages go there.
  void connect(const Endpoint& peer) {
    ibv_ah_attr attributes{};
    attributes.is_global = 1;
    attributes.grh.dgid = peer.gid();
    attributes.grh.sgid_index = gid_index_;
    attributes.grh.hop_limit = 64;
    attributes.port_num = 1;
    ah_.reset(made(ibv_create_ah(pd_.get(), &attributes), "address handle"));
  }

  void send(std::size_t from, std::uint32_t to_qpn, std::uint32_t sequence) {
    const Message message{qpn(from), sequence};
    std::uint8_t* const at = slot(kReceives);
    std::memcpy(at, &message, sizeof(message));
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(at), kMessageSize, mr_->lkey};
    ibv_send_wr request{};
    request.wr_id = kReceives;
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.ud = {ah_.get(), to_qpn, kQKey};
    ibv_send_wr* bad = nullptr;
    done(ibv_post_send(qps_[from].get(), &request, &bad), "send");
  }

  /// The next message, or nothing by then.
  std::optional<Message> receive(Clock::time_point until) {
    const auto arrival = receive_any(until);
    if (!arrival) {
      return std::nullopt;
    }
    Message message{};
    std::memcpy(&message, arrival->payload.data(), sizeof(message));
    return message;
  }

  std::optional<Arrival> receive_any(Clock::time_point until) {
    for (;;) {
      if (auto arrival = poll_once()) {
        return arrival;
      }
      done(ibv_req_notify_cq(cq_.get(), 0), "notify");
      if (auto arrival = poll_once()) {
        return arrival;
      }
      const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
      pollfd wanted{channel_->fd, POLLIN, 0};
      if (left.count() <= 0 || poll(&wanted, 1, static_cast<int>(left.count())) <= 0) {
        return std::nullopt;
      }
      ibv_cq* cq = nullptr;
      void* user = nullptr;
      done(ibv_get_cq_event(channel_.get(), &cq, &user), "event");
      ibv_ack_cq_events(cq, 1);
    }
  }

 private:
  std::uint8_t* slot(std::uint64_t i) { return memory_.data() + i * kSlotSize; }

  /// The first RoCE v2 GID that holds an IPv4 address.
  void find_gid() {
    std::array<ibv_gid_entry, 64> entries{};
    const ssize_t count = ibv_query_gid_table(context_.get(), entries.data(), entries.size(), 0);
    for (ssize_t i = 0; i < count; ++i) {
      const ibv_gid_entry& entry = entries[static_cast<std::size_t>(i)];
      constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
      if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 &&
          std::equal(kMapped.begin(), kMapped.end(), std::begin(entry.gid.raw))) {
        gid_ = entry.gid;
        gid_index_ = static_cast<std::uint8_t>(entry.gid_index);
        return;
      }
    }
    throw std::runtime_error("no RoCE v2 GID with an IPv4 address");
  }

  void add_qp() {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = cq_.get();
    wanted.recv_cq = cq_.get();
    wanted.cap = {kReceives, kReceives, 1, 1, 0};
    wanted.qp_type = IBV_QPT_UD;
    qps_.emplace_back(made(ibv_create_qp(pd_.get(), &wanted), "QP"));
    ibv_qp* const qp = qps_.back().get();
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = 1;
    attributes.qkey = kQKey;
    done(ibv_modify_qp(
             qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
         "QP to INIT");
    attributes.qp_state = IBV_QPS_RTR;
    done(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), "QP to RTR");
    attributes.qp_state = IBV_QPS_RTS;
    done(ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN), "QP to RTS");
  }

  /// Slots are dealt out to the QPs in turn, and stay with them.
  void post_receive(std::uint64_t i) {
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(slot(i)), kSlotSize, mr_->lkey};
    ibv_recv_wr request{};
    request.wr_id = i;
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    done(ibv_post_recv(qps_[i % qps_.size()].get(), &request, &bad), "receive");
  }

  std::optional<Arrival> poll_once() {
    ibv_wc completion{};
    while (ibv_poll_cq(cq_.get(), 1, &completion) > 0) {
      if (completion.wr_id == kReceives) {
        continue;
      }
      const bool good = completion.status == IBV_WC_SUCCESS &&
                        completion.byte_len >= kGrhSize + sizeof(Message) &&
                        completion.byte_len <= kSlotSize;
      Arrival arrival;
      if (good) {
        const std::uint8_t* const at = slot(completion.wr_id);
        arrival = {completion.src_qp, {at + kGrhSize, at + completion.byte_len}};
      }
      post_receive(completion.wr_id);
      if (good) {
        return arrival;
      }
    }
    return std::nullopt;
  }

  Handle<ibv_context, ibv_close_device> context_;
  std::vector<std::uint8_t> memory_;
  Handle<ibv_pd, ibv_dealloc_pd> pd_;
  Handle<ibv_mr, ibv_dereg_mr> mr_;
  Handle<ibv_comp_channel, ibv_destroy_comp_channel> channel_;
  Handle<ibv_cq, ibv_destroy_cq> cq_;
  Handle<ibv_ah, ibv_destroy_ah> ah_;
  std::vector<Handle<ibv_qp, ibv_destroy_qp>> qps_;
  ibv_gid gid_{};
  std::uint8_t gid_index_ = 0;
};

void answer(Endpoint& target, const std::atomic<bool>& stop) {
  while (!stop) {
    if (const auto message = target.receive(Clock::now() + milliseconds(50))) {
      target.send(0, message->qpn, message->sequence);
    }
  }
}

/// Round trips in us, sorted; those that were lost are not there.
std::vector<double> measure(Endpoint& source, std::uint32_t target_qpn, int count) {
  static std::uint32_t i = 0;
  std::vector<double> round_trips_us;
  for (int probe = 0; probe < count; ++probe, ++i) {
    const Clock::time_point sent = Clock::now();
    source.send(i % source.qp_count(), target_qpn, i);
    auto reply = source.receive(sent + kTimeout);
    while (reply && reply->sequence != i) {  // late answer to an earlier probe
      reply = source.receive(sent + kTimeout);
    }
    if (reply) {
      const std::chrono::duration<double, std::micro> round_trip = Clock::now() - sent;
      round_trips_us.push_back(round_trip.count());
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  std::sort(round_trips_us.begin(), round_trips_us.end());
  return round_trips_us;
}

void print(int count, const std::vector<double>& us) {
  const auto quantile = [&us](double q) {
    return us.empty() ? -1.0 : us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1))];
  };
  std::printf(
      "{\"sent\": %d, \"lost\": %zu, \"rtt_us\": {\"p10\": %.0f, \"p50\": %.0f, \"p90\": %.0f}}\n",
      count,
      static_cast<std::size_t>(count) - us.size(),
      quantile(0.1),
      quantile(0.5),
      quantile(0.9));
  std::fflush(stdout);
}

/// The next number on standard input; 0 at its end.
int next_count() {
  int count = 0;
  return std::scanf("%d", &count) == 1 ? count : 0;
}

void listen(const std::string& name) {
  Endpoint endpoint(name, 1);
  std::printf("{\"qpn\": %u, \"queue_key\": %u}\n", endpoint.qpn(0), kQKey);
  std::fflush(stdout);
  for (int wait_ms = next_count(); wait_ms > 0; wait_ms = next_count()) {
    if (const auto arrival = endpoint.receive_any(Clock::now() + milliseconds(wait_ms))) {
      std::printf("{\"source_qpn\": %u, \"payload\": \"", arrival->source_qpn);
      for (const std::uint8_t byte : arrival->payload) {
        std::printf("%02x", byte);
      }
      std::printf("\"}\n");
    } else {
      std::printf("null\n");
    }
    std::fflush(stdout);
  }
}

void run(const std::string& source_name, const std::string& target_name, int count, int qps) {
  Endpoint source(source_name, qps);
  Endpoint target(target_name, 1);
  source.connect(target);
  target.connect(source);
  std::atomic<bool> stop = false;
  std::thread answering([&] { answer(target, stop); });
  const bool interactive = count == 0;
  for (int now = interactive ? next_count() : count; now > 0;
       now = interactive ? next_count() : 0) {
    print(now, measure(source, target.qpn(0), now));
  }
  stop = true;
  answering.join();
}

}  // namespace

int main(int argc, char** argv) {
  const bool listens = argc == 3 && std::string(argv[1]) == "listen";
  if (!listens && (argc < 4 || argc > 5)) {
    std::fputs(
        "usage: lab_ud_probe SOURCE_DEVICE TARGET_DEVICE COUNT|- [SOURCE_QPS]\n"
        "       lab_ud_probe listen DEVICE\n",
        stderr);
    return 2;
  }
  try {
    if (listens) {
      listen(argv[2]);
      return 0;
    }
    run(argv[1], argv[2], std::atoi(argv[3]), argc > 4 ? std::atoi(argv[4]) : 1);
    return 0;
  } catch (const std::exception& error) {
    std::printf("{\"error\": \"%s\"}\n", error.what());
    return 3;
  }
}
