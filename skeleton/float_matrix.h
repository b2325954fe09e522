// Rows of single-precision numbers, one after the other in memory.
//
// Features of hundreds of RNICs are read many times and summed over thousands of terms; half the
// bytes are twice the speed, and noise is a million times larger than the rounding.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bonescan {

struct FloatMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values{};

  FloatMatrix() = default;

  FloatMatrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count, 0.0F) {}

  std::span<float> row(std::size_t index) {
    return std::span(values).subspan(index * columns, columns);
  }

  std::span<const float> row(std::size_t index) const {
    return std::span(values).subspan(index * columns, columns);
  }
};

/// The same in double precision, for what is small: sums of products, coordinates, centres.
struct DoubleMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values{};

  DoubleMatrix() = default;

  DoubleMatrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count, 0.0) {}

  std::span<double> row(std::size_t index) {
    return std::span(values).subspan(index * columns, columns);
  }

  std::span<const double> row(std::size_t index) const {
    return std::span(values).subspan(index * columns, columns);
  }
};

}  // namespace bonescan
