// Local outlier factors by themselves: what rival_lof.py runs beside numpy on the same input.
//
//   lof_speed MATRIX PAIRS NEIGHBOURS FACTORS
//       MATRIX: float64, pair by pair ten history windows and the query, seven features each.
//       Writes one float64 factor a pair to FACTORS; prints pair evaluations per second of
//       processor time, best of five, with everything that takes a row-wise input to its factor.
#include "detectors/shortterm/lof_batch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <span>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kHistory = 10;
double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr std::size_t kRow = (kHistory + 1) * kFeatureCount;

void fill(LofBlock& block, std::span<const double> rows) {
  for (std::size_t lane = 0; lane < rows.size() / kRow; ++lane) {
    const double* value = &rows[lane * kRow];
    for (std::size_t w = 0; w < kHistory; ++w) {
      for (std::size_t f = 0; f < kFeatureCount; ++f) {
        block.history[w][f][lane] = *value++;
      }
    }
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      block.query[f][lane] = *value++;
    }
  }
}

void evaluate(std::span<const double> rows, std::size_t neighbours, std::span<double> factors) {
  const LofOptions options{.neighbours = neighbours, .distance_floor = 0.05};
  const LofKernel kernel = best_lof_kernel();
  static LofBlock block;
  for (std::size_t first = 0; first < factors.size(); first += kLofLanes) {
    const std::size_t lanes = std::min(kLofLanes, factors.size() - first);
    fill(block, rows.subspan(first * kRow, lanes * kRow));
    const LofLanes found = local_outlier_factors(block, kHistory, options, kernel);
    std::copy_n(found.begin(), lanes, &factors[first]);
  }
}

int run(const char* matrix, std::size_t pairs, std::size_t neighbours, const char* out) {
  std::vector<double> rows(pairs * kRow);
  std::ifstream in(matrix, std::ios::binary);
  in.read(reinterpret_cast<char*>(rows.data()),
          static_cast<std::streamsize>(rows.size() * sizeof(double)));
  if (!in || neighbours < 1 || neighbours >= kHistory) {
    std::fprintf(stderr, "lof_speed: cannot read %s, or too many neighbours\n", matrix);
    return 1;
  }
  std::vector<double> factors(pairs);
  double best_s = 1e9;
  for (int trial = 0; trial < 5; ++trial) {
    const double begin_s = thread_cpu_s();
    evaluate(rows, neighbours, factors);
    best_s = std::min(best_s, thread_cpu_s() - begin_s);
  }
  std::ofstream file(out, std::ios::binary);
  file.write(reinterpret_cast<const char*>(factors.data()),
             static_cast<std::streamsize>(factors.size() * sizeof(double)));
  std::printf("{\"factors_per_s\": %.0f, \"kernel\": \"%s\"}\n",
              static_cast<double>(pairs) / best_s,
              best_lof_kernel() == LofKernel::kAvx2 ? "avx2" : "portable");
  return file ? 0 : 1;
}

}  // namespace
}  // namespace bonescan

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: lof_speed MATRIX PAIRS NEIGHBOURS FACTORS\n");
    return 2;
  }
  return bonescan::run(
      argv[1], std::strtoul(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10), argv[4]);
}
