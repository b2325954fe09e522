#include "detectors/backend_verbs/ibverbs_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>

namespace bonescan::verbs {
namespace {

constexpr std::uint64_t kReceiveTag = std::uint64_t{1} << 32;
constexpr std::size_t kPageSize = 4096;

std::string_view advice(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return " (read and write permission on /dev/infiniband/uverbs* is needed)";
    case ENOMEM:
      return " (a higher limit of locked memory may be needed, see `ulimit -l`)";
    default:
      return "";
  }
}

}  // namespace

Error verbs_error(std::string_view device, std::string_view what, int error_number) {
  return {
      .code = ErrorCode::kIo,
      .detail = fmt::format(
          "{}: cannot {}: {}{}", device, what, std::strerror(error_number), advice(error_number))};
}

std::uint64_t stamp_flag(const DeviceClock& clock) {
  const bool nanoseconds_of_day = clock.khz == 1'000'000 && clock.mask == ~std::uint64_t{0};
  return nanoseconds_of_day ? IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK
                            : IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
}

Expected<std::unique_ptr<Queues>> IbverbsQueues::create(ibv_pd* pd,
                                                        std::uint8_t port,
                                                        const DeviceInfo& info,
                                                        AddressHandles& addresses,
                                                        const HostClock& clock,
                                                        const QueueOptions& options) {
  if (options.gid_index > std::numeric_limits<std::uint8_t>::max()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: GID index {} is beyond the 255 that verbs can address",
                            info.name,
                            options.gid_index));
  }
  addresses.use_gid(options.gid_index, options.gid);
  std::unique_ptr<IbverbsQueues> queues(new IbverbsQueues(info, addresses, clock, options));
  if (const auto done = queues->create_memory(pd); !done.has_value()) {
    return tl::unexpected<Error>(done.error());
  }
  if (const auto done = queues->create_completion_queue(pd->context); !done.has_value()) {
    return tl::unexpected<Error>(done.error());
  }
  for (std::uint16_t i = 0; i < options.queue_pairs; ++i) {
    if (const auto done = queues->create_queue_pair(pd, port); !done.has_value()) {
      return tl::unexpected<Error>(done.error());
    }
  }
  for (std::size_t buffer = 0; buffer < queues->receive_count(); ++buffer) {
    const auto posted = queues->post_receive(static_cast<std::uint16_t>(buffer));
    if (!posted.has_value()) {
      return tl::unexpected<Error>(posted.error());
    }
  }
  return queues;
}

std::size_t IbverbsQueues::receive_count() const {
  return std::size_t{options_.queue_pairs} * options_.receives_per_queue_pair;
}

std::size_t IbverbsQueues::send_size() const {
  return std::size_t{options_.send_buffers} * options_.payload_bytes;
}

Expected<void> IbverbsQueues::create_memory(ibv_pd* pd) {
  const std::size_t wanted = send_size() + receive_count() * (kGrhSize + options_.payload_bytes);
  const std::size_t size = (wanted + kPageSize - 1) / kPageSize * kPageSize;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPageSize, size)));
  if (!memory_) {
    return tl::unexpected<Error>(verbs_error(info_.name, "allocate buffers", ENOMEM));
  }
  std::memset(memory_.get(), 0, size);
  region_.reset(ibv_reg_mr(pd, memory_.get(), size, static_cast<int>(IBV_ACCESS_LOCAL_WRITE)));
  if (!region_) {
    return tl::unexpected<Error>(verbs_error(info_.name, "register buffers", errno));
  }
  return {};
}

Expected<void> IbverbsQueues::create_completion_queue(ibv_context* context) {
  channel_.reset(ibv_create_comp_channel(context));
  if (!channel_) {
    return tl::unexpected<Error>(verbs_error(info_.name, "create a completion channel", errno));
  }
  const int flags = fcntl(channel_->fd, F_GETFL);
  if (flags < 0 || fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    return tl::unexpected<Error>(verbs_error(info_.name, "set up a completion channel", errno));
  }
  // Room for everything that can be under way at once: a full queue is a fatal error.
  const std::size_t entries = receive_count() + options_.send_buffers;
  if (info_.clock.device) {
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = static_cast<std::uint32_t>(entries);
    attributes.channel = channel_.get();
    attributes.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_SRC_QP | stamp_flag(info_.clock);
    stamped_cq_ = ibv_create_cq_ex(context, &attributes);
    cq_.reset(stamped_cq_ == nullptr ? nullptr : ibv_cq_ex_to_cq(stamped_cq_));
  } else {
    cq_.reset(ibv_create_cq(context, static_cast<int>(entries), nullptr, channel_.get(), 0));
  }
  if (!cq_) {
    return tl::unexpected<Error>(verbs_error(info_.name, "create a completion queue", errno));
  }
  return {};
}

Expected<void> IbverbsQueues::create_queue_pair(ibv_pd* pd, std::uint8_t port) {
  ibv_qp_init_attr attributes{};
  attributes.send_cq = cq_.get();
  attributes.recv_cq = cq_.get();
  attributes.cap.max_send_wr = options_.send_buffers;
  attributes.cap.max_recv_wr = options_.receives_per_queue_pair;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_UD;
  attributes.sq_sig_all = 1;
  QpHandle queue_pair(ibv_create_qp(pd, &attributes));
  if (!queue_pair) {
    return tl::unexpected<Error>(verbs_error(info_.name, "create a queue pair", errno));
  }
  struct Step {
    ibv_qp_state state;
    int mask;
  };
  const std::array<Step, 3> steps = {
      {{IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
       {IBV_QPS_RTR, IBV_QP_STATE},
       {IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_SQ_PSN}}};
  for (const Step& step : steps) {
    ibv_qp_attr change{};
    change.qp_state = step.state;
    change.port_num = port;
    change.qkey = options_.q_key;
    if (const int error = ibv_modify_qp(queue_pair.get(), &change, step.mask); error != 0) {
      return tl::unexpected<Error>(verbs_error(info_.name, "start a queue pair", error));
    }
  }
  qpns_.push_back(queue_pair->qp_num);
  queue_pairs_.push_back(std::move(queue_pair));
  return {};
}

Queues::View IbverbsQueues::view() const {
  return {.qpns = qpns_,
          .completion_fd = channel_->fd,
          .sends = {memory_.get(), send_size()},
          .receives = {memory_.get() + send_size(),
                       receive_count() * (kGrhSize + options_.payload_bytes)}};
}

tl::expected<Time, SendRefusal> IbverbsQueues::post_send(const SendOrder& order) {
  const auto handle = addresses_.get(order.to);
  if (!handle.has_value()) {
    return tl::unexpected<SendRefusal>(handle.error());
  }
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory_.get()) +
               std::size_t{order.buffer} * options_.payload_bytes;
  piece.length = order.payload_bytes;
  piece.lkey = region_->lkey;
  ibv_send_wr request{};
  request.wr_id = order.buffer;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.ud.ah = *handle;
  request.wr.ud.remote_qpn = order.qpn;
  request.wr.ud.remote_qkey = order.q_key;
  ibv_send_wr* refused = nullptr;
  const Time posted = clock_.now();
  const int error = ibv_post_send(queue_pairs_[order.queue_pair].get(), &request, &refused);
  if (error != 0) {
    return tl::unexpected<SendRefusal>(
        {.error = error == ENOMEM ? LocalError::kQueueFull : LocalError::kSendFailed,
         .detail = std::strerror(error)});
  }
  return posted;
}

Expected<void> IbverbsQueues::post_receive(std::uint16_t buffer) {
  const std::size_t size = kGrhSize + options_.payload_bytes;
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory_.get()) + send_size() + buffer * size;
  piece.length = static_cast<std::uint32_t>(size);
  piece.lkey = region_->lkey;
  ibv_recv_wr request{};
  request.wr_id = kReceiveTag | buffer;
  request.sg_list = &piece;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  ibv_qp* queue_pair = queue_pairs_[buffer / options_.receives_per_queue_pair].get();
  if (const int error = ibv_post_recv(queue_pair, &request, &refused); error != 0) {
    return tl::unexpected<Error>(verbs_error(info_.name, "post a receive buffer", error));
  }
  return {};
}

Completion IbverbsQueues::completion_of(std::uint64_t wr_id, std::uint32_t qpn, bool ok) const {
  const auto queue_pair = std::find(qpns_.begin(), qpns_.end(), qpn);
  return {.kind = (wr_id & kReceiveTag) != 0 ? CompletionKind::kReceived : CompletionKind::kSent,
          .ok = ok && queue_pair != qpns_.end(),
          .buffer = static_cast<std::uint16_t>(wr_id),
          .queue_pair = static_cast<std::uint16_t>(queue_pair - qpns_.begin()),
          .seen = {}};
}

std::size_t IbverbsQueues::poll(std::span<Completion> out) {
  return stamped_cq_ != nullptr ? poll_stamped(out) : poll_plain(out);
}

std::size_t IbverbsQueues::poll_plain(std::span<Completion> out) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only written places are read.
  std::array<ibv_wc, 16> taken;
  const int wanted = static_cast<int>(std::min(taken.size(), out.size()));
  const int count = ibv_poll_cq(cq_.get(), wanted, taken.data());
  const Time seen = clock_.now();
  for (int i = 0; i < count; ++i) {
    const ibv_wc& work = taken[static_cast<std::size_t>(i)];
    Completion& completion = out[static_cast<std::size_t>(i)];
    completion = completion_of(work.wr_id, work.qp_num, work.status == IBV_WC_SUCCESS);
    completion.bytes = work.byte_len;
    completion.source_qpn = work.src_qp;
    completion.stamp = static_cast<std::uint64_t>(nanoseconds(seen));
    completion.seen = seen;
  }
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

std::size_t IbverbsQueues::poll_stamped(std::span<Completion> out) {
  ibv_poll_cq_attr attributes{};
  if (out.empty() || ibv_start_poll(stamped_cq_, &attributes) != 0) {
    return 0;
  }
  std::size_t count = 0;
  do {
    Completion& completion = out[count++];
    completion = completion_of(
        stamped_cq_->wr_id, ibv_wc_read_qp_num(stamped_cq_), stamped_cq_->status == IBV_WC_SUCCESS);
    completion.seen = clock_.now();
    if (!completion.ok) {
      continue;
    }
    completion.stamp = stamp_flag(info_.clock) == IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
                           ? ibv_wc_read_completion_ts(stamped_cq_)
                           : ibv_wc_read_completion_wallclock_ns(stamped_cq_);
    if (completion.kind == CompletionKind::kReceived) {
      completion.bytes = ibv_wc_read_byte_len(stamped_cq_);
      completion.source_qpn = ibv_wc_read_src_qp(stamped_cq_);
    }
  } while (count < out.size() && ibv_next_poll(stamped_cq_) == 0);
  ibv_end_poll(stamped_cq_);
  return count;
}

Expected<void> IbverbsQueues::arm() {
  unsigned int events = 0;
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_.get(), &queue, &context) == 0) {
    ++events;
  }
  if (events > 0) {
    ibv_ack_cq_events(cq_.get(), events);
  }
  if (const int error = ibv_req_notify_cq(cq_.get(), 0); error != 0) {
    return tl::unexpected<Error>(verbs_error(info_.name, "wait for completions", error));
  }
  return {};
}

}  // namespace bonescan::verbs
