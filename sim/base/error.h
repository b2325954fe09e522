// Errors as values.
//
// A code exists only if some caller branches on exactly it; everything else a person needs to know
// is in `detail`.  A lost or late probe is data, never an error.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace bonescan {

enum class ErrorCode {
  kPending,      ///< the answer is on its way: ask again at the next poll
  kUnavailable,  ///< this source cannot answer here: go on without it, and say so
  kNotFound,     ///< there is no such thing
  kInvalid,      ///< the input does not have the form it must have
  kIo,           ///< the operating system refused: disk, permission, device
};

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string detail;
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string detail) {
  return tl::unexpected<Error>(Error{code, std::move(detail)});
}

}  // namespace bonescan
