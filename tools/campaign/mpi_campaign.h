// A campaign spread over the ranks of an MPI job: `mpirun -np 8 bonescan campaign FILE`.
//
// Rank 0 plans, writes and works; the others work.  A rank asks for as many tasks as it has threads
// and a few more, so that a slow host gets fewer and nobody waits for a message.  Tasks travel as
// numbers, since all ranks read the same files; results as bytes (result_codec.h).
// MPI is initialised only here, and only if the environment says that there are ranks: no other
// command pays for it.  A build without MPI (BONESCAN_MPI=OFF) has the functions all the same.
// Invariants: 1. every rank takes part in an orderly end, also when one has failed.
// Only the thread that made the session may use it.
#pragma once

#include "tools/campaign/crew.h"

#include <memory>

namespace bonescan {

/// How many ranks mpirun or srun started with this process; 1 if neither did.
unsigned launched_ranks();

/// Is this rank 0, or the only process?
bool is_first_rank();

class MpiSession final {
 public:
  /// At most once in a process.  @throws EnvironmentError if this build has no MPI
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// The crew of rank 0: its own threads and all other ranks, whose work ends when the crew goes.
  std::unique_ptr<Crew> lead(unsigned threads, CampaignWork work);

  /// What every other rank does until then.
  void follow(unsigned threads, const CampaignWork& work);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bonescan
