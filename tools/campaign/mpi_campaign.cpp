#include "tools/campaign/mpi_campaign.h"

#include "tools/run/run_session.h"

#ifdef BONESCAN_MPI
#include "sim/base/check.h"
#include "tools/campaign/result_codec.h"

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <string>
#include <utility>
#endif

namespace bonescan {

#ifdef BONESCAN_MPI
namespace {

namespace mpi = boost::mpi;

enum Tag : int {
  kWanted,  ///< to rank 0: one more task
  kTask,    ///< from rank 0: the number of one
  kReport,  ///< to rank 0: what came of it
  kError,   ///< to rank 0: why this rank cannot go on
  kStop,    ///< from rank 0: no more tasks
  kBye      ///< to rank 0: the last message of a rank
};

void send_bytes(const mpi::communicator& world, int rank, Tag tag, const std::string& bytes) {
  world.send(rank, tag, bytes.data(), static_cast<int>(bytes.size()));
}

std::string receive_bytes(const mpi::communicator& world, const mpi::status& status) {
  std::string bytes(static_cast<std::size_t>(status.count<char>().value_or(0)), '\0');
  world.recv(status.source(), status.tag(), bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

/// Threads of rank 0, and the ranks that asked for work.
class RankCrew final : public Crew {
 public:
  RankCrew(const mpi::communicator& world, unsigned threads, CampaignWork work)
      : world_(world), own_(threads, std::move(work)), serving_(world.size() - 1) {}

  ~RankCrew() override {
    for (int rank = 1; rank < world_.size(); ++rank) {
      world_.send(rank, kStop);
    }
    // A rank may be in the middle of a report, which somebody has to take.
    while (serving_ > 0) {
      hear(world_.probe());
    }
  }

  RankCrew(const RankCrew&) = delete;
  RankCrew& operator=(const RankCrew&) = delete;

  std::size_t idle() const override { return wanted_by_.size() + own_.idle(); }

  void assign(std::size_t task) override {
    if (wanted_by_.empty()) {
      own_.assign(task);
      return;
    }
    world_.send(wanted_by_.front(), kTask, static_cast<std::uint64_t>(task));
    wanted_by_.pop_front();
  }

  std::optional<CrewReport> take() override {
    while (const auto status = world_.iprobe()) {
      hear(*status);
    }
    if (!error_.empty()) {
      throw std::runtime_error(error_);
    }
    if (reports_.empty()) {
      return own_.take();
    }
    auto report = decode_report(reports_.front());
    reports_.pop_front();
    if (!report) {
      throw std::runtime_error(report.error().detail);
    }
    return std::move(*report);
  }

 private:
  void hear(const mpi::status& status) {
    switch (status.tag()) {
      case kReport:
        reports_.push_back(receive_bytes(world_, status));
        return;
      case kError:
        error_ = fmt::format("rank {}: {}", status.source(), receive_bytes(world_, status));
        return;
      case kWanted:
        world_.recv(status.source(), kWanted);
        wanted_by_.push_back(status.source());
        return;
      default:
        world_.recv(status.source(), kBye);
        --serving_;
        return;
    }
  }

  const mpi::communicator& world_;
  ThreadCrew own_;
  int serving_;                ///< other ranks that have not said good-bye
  std::deque<int> wanted_by_;  ///< ranks, once for every task
  std::deque<std::string> reports_;
  std::string error_;
};

/// Takes tasks from rank 0 until it says stop.
void serve(const mpi::communicator& world, ThreadCrew& crew) {
  std::size_t wanted = 0;
  for (;;) {
    for (; wanted < crew.idle(); ++wanted) {
      world.send(0, kWanted);
    }
    while (const auto status = world.iprobe(0)) {
      if (status->tag() == kStop) {
        return;
      }
      std::uint64_t task = 0;
      world.recv(0, kTask, task);
      crew.assign(static_cast<std::size_t>(task));
      --wanted;
    }
    if (const auto report = crew.take()) {
      send_bytes(world, 0, kReport, encode_report(*report));
    }
  }
}

void await_stop(const mpi::communicator& world) {
  for (;;) {
    if (world.probe(0).tag() == kStop) {
      return;
    }
    std::uint64_t task = 0;
    world.recv(0, kTask, task);
  }
}

}  // namespace

struct MpiSession::Implementation {
  // Our errors end every rank in order; aborting would lose their message.
  mpi::environment environment{mpi::threading::funneled, false};
  mpi::communicator world;
};

MpiSession::MpiSession() : implementation_(std::make_unique<Implementation>()) {}

MpiSession::~MpiSession() = default;

std::unique_ptr<Crew> MpiSession::lead(unsigned threads, CampaignWork work) {
  BONESCAN_CHECK(implementation_->world.rank() == 0);
  return std::make_unique<RankCrew>(implementation_->world, threads, std::move(work));
}

void MpiSession::follow(unsigned threads, const CampaignWork& work) {
  const mpi::communicator& world = implementation_->world;
  try {
    ThreadCrew crew(threads, work);
    serve(world, crew);
  } catch (const std::exception& error) {
    send_bytes(world, 0, kError, error.what());
    await_stop(world);
  }
  world.recv(0, kStop);
  world.send(0, kBye);
}

#else

struct MpiSession::Implementation {};

MpiSession::MpiSession() {
  throw EnvironmentError(
      "this process is one of several ranks, and this build of bonescan has no MPI; start it "
      "alone, with --jobs, or build with BONESCAN_MPI=ON");
}

MpiSession::~MpiSession() = default;

std::unique_ptr<Crew> MpiSession::lead(unsigned, CampaignWork) {
  return nullptr;
}

void MpiSession::follow(unsigned, const CampaignWork&) {}

#endif

}  // namespace bonescan
