// A text file that grows by whole lines and is set aside when it is large.
//
// "visits.csv" becomes "visits.1.csv", that "visits.2.csv", and so on; what is beyond the number of
// files is deleted, so the space used is bounded by files * file_bytes.  Every file begins with the
// header.  Lines are kept until flush().
// Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bonescan {

class RotatingFile final {
 public:
  struct Options {
    std::string path;
    std::string header = {};  ///< with its line feed; empty: none
    std::int64_t file_bytes = std::int64_t{16} << 20;
    std::uint32_t files = 4;  ///< at least 1
  };

  /// @throws EnvironmentError if it cannot be made
  explicit RotatingFile(Options options);
  ~RotatingFile();
  RotatingFile(const RotatingFile&) = delete;
  RotatingFile& operator=(const RotatingFile&) = delete;

  /// `line` ends in a line feed.
  void add(std::string_view line) { pending_ += line; }

  /// Writes what was added.
  /// @throws EnvironmentError with the path and the reason
  void flush();

  void set_limits(std::int64_t file_bytes, std::uint32_t files);

  /// Deletes the files that were set aside.
  void drop_old();

 private:
  std::string numbered(std::uint32_t number) const;
  void open();
  void close();
  void rotate();
  void write(std::string_view text);

  Options options_;
  std::string pending_;
  std::int64_t bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace bonescan
