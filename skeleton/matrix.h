// Rows of numbers, one after the other in memory.
//
// Features of hundreds of RNICs are read many times and summed over thousands of terms: in single
// precision half the bytes are twice the speed, and noise is a million times larger than the
// rounding.  What is small (sums of products, coordinates, centres) is in double precision.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bonescan {

template <typename Number>
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<Number> values{};

  Matrix() = default;

  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count, Number{}) {}

  std::span<Number> row(std::size_t index) {
    return std::span(values).subspan(index * columns, columns);
  }

  std::span<const Number> row(std::size_t index) const {
    return std::span(values).subspan(index * columns, columns);
  }
};

using FloatMatrix = Matrix<float>;
using DoubleMatrix = Matrix<double>;

}  // namespace bonescan
