#include "tools/campaign/mpi_campaign.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace bonescan {
namespace {

std::optional<unsigned> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) {
    return std::nullopt;
  }
  const std::string_view digits = text;
  unsigned value = 0;
  const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return status == std::errc() ? std::optional(value) : std::nullopt;
}

struct Launcher {
  const char* size;
  const char* rank;
};

// Open MPI's mpirun; MPICH's and Slurm's PMI; srun by itself.
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

}  // namespace

unsigned launched_ranks() {
  for (const Launcher& launcher : kLaunchers) {
    if (const auto size = number_in(launcher.size); size && number_in(launcher.rank)) {
      return *size;
    }
  }
  return 1;
}

bool is_first_rank() {
  for (const Launcher& launcher : kLaunchers) {
    if (const auto rank = number_in(launcher.rank); rank && number_in(launcher.size)) {
      return *rank == 0;
    }
  }
  return true;
}

}  // namespace bonescan
