// Skeleton inference by itself: what rival_skeleton.py runs beside scipy and scikit-learn on the
// same input, and a cluster of many tasks.
//
//   skeleton_speed MATRIX HOSTS STAGES SECONDS LABELS
//       MATRIX: float32 rows, host by host, eight rails a host.  Writes one label an RNIC for each
//       of "host" (rails averaged) and "rail" (each rail alone) as int32 to LABELS; prints CPU
//       milliseconds (best of three) of both, and of everything with the stage count not given.
//   skeleton_speed --tasks RNICS TASKS
//       Many small tasks and a few big ones, 300 s each, on two threads; prints wall seconds.
#include "skeleton/burst_features.h"
#include "skeleton/low_rank.h"
#include "skeleton/skeleton_inference.h"
#include "skeleton/stage_grouping.h"
#include "tests/support/burst_job.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kRails = 8;

std::vector<std::uint32_t> grouped(const FloatMatrix& series, std::size_t stages) {
  const StftOptions options{};
  const BurstFeatures features = burst_features(series, Stft(options), options);
  DoubleMatrix gram(series.rows, series.rows);
  add_gram(features.rows, 0, features.rows.columns, gram);
  const DoubleMatrix points = principal_coordinates(gram, stages - 1);
  return group_stages(points, average_linkage(points), stages, {}).labels;
}

/// The rows of one rail, or of all rails averaged.
FloatMatrix picked(const FloatMatrix& all, std::size_t rail) {
  FloatMatrix series(all.rows / kRails, all.columns);
  for (std::size_t host = 0; host < series.rows; ++host) {
    const auto to = series.row(host);
    for (std::size_t r = 0; r < kRails; ++r) {
      if (rail == r || rail == kRails) {
        const auto from = all.row(host * kRails + r);
        for (std::size_t t = 0; t < to.size(); ++t) {
          to[t] += from[t];
        }
      }
    }
  }
  return series;
}

template <typename Work>
double best_cpu_ms(const Work& work) {
  double best = 1e18;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t begin = std::clock();
    work();
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

TrafficRecord record_of(const FloatMatrix& all) {
  TrafficRecord record;
  record.columns = all.columns;
  record.rates = all.values;
  for (std::uint32_t member = 0; member < all.rows; ++member) {
    record.members.push_back(EndpointId(member));
    record.hosts.push_back(member / kRails);
    record.rails.push_back(static_cast<std::uint16_t>(member % kRails));
  }
  return record;
}

int compare(const std::vector<std::string>& arguments) {
  const std::size_t hosts = std::stoul(arguments[1]);
  const std::size_t stages = std::stoul(arguments[2]);
  FloatMatrix all(hosts * kRails, std::stoul(arguments[3]));
  std::ifstream file(arguments[0], std::ios::binary);
  file.read(reinterpret_cast<char*>(all.values.data()),
            static_cast<std::streamsize>(all.values.size() * sizeof(float)));
  if (!file) {
    std::fputs("skeleton_speed: the matrix is too short\n", stderr);
    return 2;
  }
  std::vector<std::uint32_t> by_host(all.rows);
  std::vector<std::uint32_t> by_rail(all.rows);
  const double host_ms = best_cpu_ms([&] {
    const auto labels = grouped(picked(all, kRails), stages);
    for (std::size_t i = 0; i < all.rows; ++i) {
      by_host[i] = labels[i / kRails];
    }
  });
  const double rail_ms = best_cpu_ms([&] {
    for (std::size_t rail = 0; rail < kRails; ++rail) {
      const auto labels = grouped(picked(all, rail), stages);
      for (std::size_t host = 0; host < hosts; ++host) {
        by_rail[host * kRails + rail] = labels[host];
      }
    }
  });
  const TrafficRecord record = record_of(all);
  const SkeletonInference inference{InferenceOptions{}};
  const double all_ms = best_cpu_ms([&] { static_cast<void>(inference.infer(record, 0.99)); });
  std::ofstream out(arguments[4], std::ios::binary);
  for (const auto* labels : {&by_host, &by_rail}) {
    out.write(reinterpret_cast<const char*>(labels->data()),
              static_cast<std::streamsize>(labels->size() * sizeof(std::uint32_t)));
  }
  std::printf(
      "{\"host_ms\": %.2f, \"rail_ms\": %.2f, \"infer_ms\": %.2f}\n", host_ms, rail_ms, all_ms);
  return out ? 0 : 2;
}

int run_tasks(std::size_t rnics, std::size_t tasks) {
  // Shapes from the largest down; the rest are single hosts and pairs of hosts.
  constexpr std::array<std::array<std::uint32_t, 3>, 6> kShapes = {{
      {16, 16, 2},  // 2,048 RNICs, twice
      {8, 16, 4},
      {8, 8, 8},
      {4, 8, 16},
      {4, 4, 32},
      {2, 2, 64},
  }};
  std::vector<BurstJobOptions> jobs;
  std::size_t used = 0;
  for (const auto& [stages, replicas, count] : kShapes) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t size = std::size_t{stages} * replicas * kRails;
      if (used + size + (tasks - jobs.size() - 1) * kRails > rnics) {
        break;
      }
      jobs.push_back({.seed = jobs.size(), .stages = stages, .replicas = replicas});
      used += size;
    }
  }
  while (jobs.size() < tasks && used + kRails <= rnics) {
    jobs.push_back({.seed = jobs.size(), .stages = 1, .replicas = 1});
    used += kRails;
  }
  std::vector<TrafficRecord> records;
  for (const BurstJobOptions& job : jobs) {
    records.push_back(burst_job(job).record);
  }
  const SkeletonInference inference{InferenceOptions{}};
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> staged{0};
  const auto begin = std::chrono::steady_clock::now();
  const auto work = [&] {
    for (std::size_t i = next++; i < records.size(); i = next++) {
      staged += inference.infer(records[i], 0.99).stage_count > 1 ? 1U : 0U;
    }
  };
  std::thread other(work);
  work();
  other.join();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf("{\"rnics\": %zu, \"tasks\": %zu, \"with_stages\": %zu, \"wall_s\": %.2f}\n",
              used,
              records.size(),
              staged.load(),
              wall.count());
  return 0;
}

}  // namespace
}  // namespace bonescan

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  if (arguments.size() == 3 && arguments[0] == "--tasks") {
    return bonescan::run_tasks(std::stoul(arguments[1]), std::stoul(arguments[2]));
  }
  if (arguments.size() == 5) {
    return bonescan::compare(arguments);
  }
  std::fputs("usage: skeleton_speed MATRIX HOSTS STAGES SECONDS LABELS | --tasks RNICS TASKS\n",
             stderr);
  return 2;
}
