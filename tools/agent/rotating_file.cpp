#include "tools/agent/rotating_file.h"

#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bonescan {
namespace {

constexpr int kReadableByAll = 0644;
constexpr std::uint32_t kMaxFiles = 1000;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw EnvironmentError(
      fmt::format("{}: cannot be written: {}", path, std::generic_category().message(error)));
}

}  // namespace

RotatingFile::RotatingFile(Options options) : options_(std::move(options)) {
  open();
}

RotatingFile::~RotatingFile() {
  close();
}

void RotatingFile::flush() {
  // A file holds whole lines, and at least one.
  while (!pending_.empty()) {
    const auto room =
        static_cast<std::size_t>(std::max<std::int64_t>(options_.file_bytes - bytes_, 0));
    std::size_t end = pending_.size();
    if (end > room) {
      const std::size_t last = room == 0 ? std::string::npos : pending_.rfind('\n', room - 1);
      if (last == std::string::npos && bytes_ > static_cast<std::int64_t>(options_.header.size())) {
        rotate();
        continue;
      }
      end = (last == std::string::npos ? pending_.find('\n') : last) + 1;
    }
    const std::string text = pending_.substr(0, end);
    pending_.erase(0, end);
    write(text);
  }
}

void RotatingFile::set_limits(std::int64_t file_bytes, std::uint32_t files) {
  options_.file_bytes = file_bytes;
  options_.files = std::max<std::uint32_t>(files, 1);
}

void RotatingFile::drop_old() {
  std::error_code error;
  for (std::uint32_t i = 1; i <= kMaxFiles && std::filesystem::remove(numbered(i), error); ++i) {
  }
}

std::string RotatingFile::numbered(std::uint32_t number) const {
  const std::filesystem::path path(options_.path);
  const std::string name =
      fmt::format("{}.{}{}", path.stem().string(), number, path.extension().string());
  return (path.parent_path() / name).string();
}

void RotatingFile::open() {
  descriptor_ = ::open(
      options_.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, kReadableByAll);
  if (descriptor_ < 0) {
    refuse(options_.path, errno);
  }
  bytes_ = 0;
  write(options_.header);
}

void RotatingFile::close() {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
}

void RotatingFile::rotate() {
  close();
  std::error_code error;
  // The number of files may have been lowered meanwhile.
  for (std::uint32_t i = options_.files; i <= kMaxFiles; ++i) {
    if (!std::filesystem::remove(numbered(i), error)) {
      break;
    }
  }
  for (std::uint32_t i = options_.files - 1; i >= 1; --i) {
    std::filesystem::rename(i == 1 ? options_.path : numbered(i - 1), numbered(i), error);
  }
  open();
}

void RotatingFile::write(std::string_view text) {
  const std::int64_t whole = bytes_;
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      const int error = written < 0 ? errno : ENOSPC;
      // Half a line would be worse than none.
      static_cast<void>(ftruncate(descriptor_, whole) == 0);
      refuse(options_.path, error);
    }
    bytes_ += written;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace bonescan
