#include "skeleton/low_rank.h"

#include "sim/base/check.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"
#include "skeleton/row_math.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace bonescan {
namespace {

/// Four lanes that every x86-64 and AArch64 has.
using Lanes = float __attribute__((vector_size(16)));
constexpr std::size_t kLanes = 4;
/// Columns that are summed in single precision before they are added up in double.
constexpr std::size_t kPanel = 256;
constexpr std::size_t kTileRows = 4;
constexpr std::size_t kTileColumns = 2;
constexpr int kSweeps = 6;
constexpr std::size_t kSpare = 6;  // vectors beyond the rank

Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

double sum(const Lanes& lanes) {
  return (static_cast<double>(lanes[0]) + static_cast<double>(lanes[1])) +
         (static_cast<double>(lanes[2]) + static_cast<double>(lanes[3]));
}

/// Eight products at once, so that every number that is loaded is used several times.
void add_tile(const float* const (&a)[kTileRows],
              const float* const (&b)[kTileColumns],
              std::size_t count,
              double (&sums)[kTileRows][kTileColumns]) {
  Lanes lanes[kTileRows][kTileColumns] = {};
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const Lanes b0 = load(b[0] + i);
    const Lanes b1 = load(b[1] + i);
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const Lanes x = load(a[r] + i);
      lanes[r][0] += x * b0;
      lanes[r][1] += x * b1;
    }
  }
  for (std::size_t r = 0; r < kTileRows; ++r) {
    for (std::size_t c = 0; c < kTileColumns; ++c) {
      sums[r][c] = sum(lanes[r][c]);
      for (std::size_t i = whole; i < count; ++i) {
        sums[r][c] += static_cast<double>(a[r][i]) * static_cast<double>(b[c][i]);
      }
    }
  }
}

void center(DoubleMatrix& gram) {
  const std::size_t n = gram.rows;
  std::vector<double> means(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = gram.row(i);
    means[i] = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n);
  }
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = gram.row(i);
    for (std::size_t j = 0; j < n; ++j) {
      row[j] += mean - means[i] - means[j];
    }
  }
}

/// result = gram * basis, the vectors being rows of `basis`.
DoubleMatrix apply(const DoubleMatrix& gram, const DoubleMatrix& basis) {
  // Vectors side by side: the inner loop runs over them, without a sum to carry.
  const std::size_t count = basis.rows;
  std::vector<double> columns(gram.rows * count);
  for (std::size_t v = 0; v < count; ++v) {
    for (std::size_t i = 0; i < gram.rows; ++i) {
      columns[i * count + v] = basis.values[v * gram.rows + i];
    }
  }
  DoubleMatrix result(count, gram.rows);
  std::vector<double> sums(count);
  for (std::size_t i = 0; i < gram.rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    const auto row = gram.row(i);
    for (std::size_t j = 0; j < gram.rows; ++j) {
      const double weight = row[j];
      const double* from = columns.data() + j * count;
      for (std::size_t v = 0; v < count; ++v) {
        sums[v] += weight * from[v];
      }
    }
    for (std::size_t v = 0; v < count; ++v) {
      result.values[v * gram.rows + i] = sums[v];
    }
  }
  return result;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Gram-Schmidt, twice, since once loses digits of vectors that are nearly parallel.
void orthonormalize(DoubleMatrix& basis) {
  for (std::size_t v = 0; v < basis.rows; ++v) {
    const auto vector = basis.row(v);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t u = 0; u < v; ++u) {
        const auto other = basis.row(u);
        const double along = dot(vector, other);
        for (std::size_t i = 0; i < vector.size(); ++i) {
          vector[i] -= along * other[i];
        }
      }
    }
    const double norm = std::sqrt(dot(vector, vector));
    const double scale = norm > 1e-150 ? 1.0 / norm : 0.0;
    for (double& x : vector) {
      x *= scale;
    }
  }
}

/// Jacobi's rotations; eigenvectors end up as rows of `vectors`.
void diagonalize(DoubleMatrix& matrix, DoubleMatrix& vectors) {
  const std::size_t n = matrix.rows;
  for (std::size_t i = 0; i < n; ++i) {
    vectors.row(i)[i] = 1.0;
  }
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0.0;
    double diagonal = 0.0;
    for (std::size_t p = 0; p < n; ++p) {
      diagonal += matrix.row(p)[p] * matrix.row(p)[p];
      for (std::size_t q = p + 1; q < n; ++q) {
        off += matrix.row(p)[q] * matrix.row(p)[q];
      }
    }
    if (off <= 1e-24 * diagonal) {
      return;
    }
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double apq = matrix.row(p)[q];
        if (apq == 0.0) {
          continue;
        }
        const double theta = (matrix.row(q)[q] - matrix.row(p)[p]) / (2.0 * apq);
        const double t =
            (theta >= 0.0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0);
        const double s = t * c;
        const auto rotate = [&](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (std::size_t i = 0; i < n; ++i) {
          rotate(matrix.row(i)[p], matrix.row(i)[q]);
        }
        for (std::size_t i = 0; i < n; ++i) {
          rotate(matrix.row(p)[i], matrix.row(q)[i]);
          rotate(vectors.row(p)[i], vectors.row(q)[i]);
        }
      }
    }
  }
}

/// Noise of our own: the start must have a part along every direction that matters.
DoubleMatrix starting_basis(std::size_t count, std::size_t length) {
  DoubleMatrix basis(count, length);
  for (std::size_t v = 0; v < count; ++v) {
    const RngStream stream(0, Purpose::kSkeletonStart, static_cast<std::uint32_t>(v));
    for (std::size_t i = 0; i < length; ++i) {
      basis.row(v)[i] = normal_quantile(stream.open01_at(i));
    }
  }
  return basis;
}

}  // namespace

void add_gram(const FloatMatrix& rows, std::size_t first, std::size_t last, DoubleMatrix& gram) {
  BONESCAN_CHECK(gram.rows == rows.rows && gram.columns == rows.rows);
  BONESCAN_CHECK(first <= last && last <= rows.columns);
  const std::size_t n = rows.rows;
  const auto add = [&](std::size_t i, std::size_t j, double value) {
    gram.values[i * n + j] += value;
    if (i != j) {
      gram.values[j * n + i] += value;
    }
  };
  for (std::size_t panel = first; panel < last; panel += kPanel) {
    const std::size_t count = std::min(kPanel, last - panel);
    const auto at = [&](std::size_t row) {
      return rows.values.data() + row * rows.columns + panel;
    };
    for (std::size_t i = 0; i < n; i += kTileRows) {
      // Columns of the tile never lie right of its rows, so only one half is computed.
      const std::size_t end = std::min(i + kTileRows, n);
      std::size_t j = 0;
      for (; end == i + kTileRows && j + kTileColumns <= i; j += kTileColumns) {
        const float* const a[kTileRows] = {at(i), at(i + 1), at(i + 2), at(i + 3)};
        const float* const b[kTileColumns] = {at(j), at(j + 1)};
        double sums[kTileRows][kTileColumns];
        add_tile(a, b, count, sums);
        for (std::size_t r = 0; r < kTileRows; ++r) {
          for (std::size_t c = 0; c < kTileColumns; ++c) {
            add(i + r, j + c, sums[r][c]);
          }
        }
      }
      for (std::size_t row = i; row < end; ++row) {
        for (std::size_t column = j; column <= row; ++column) {
          add(row, column, dot(std::span(at(row), count), std::span(at(column), count)));
        }
      }
    }
  }
}

DoubleMatrix principal_coordinates(const DoubleMatrix& gram, std::size_t rank) {
  BONESCAN_CHECK(gram.rows == gram.columns);
  const std::size_t n = gram.rows;
  rank = std::min(rank, n);
  DoubleMatrix centered = gram;
  center(centered);
  DoubleMatrix basis = starting_basis(std::min(n, rank + kSpare), n);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    orthonormalize(basis);
    basis = apply(centered, basis);
  }
  orthonormalize(basis);
  const DoubleMatrix image = apply(centered, basis);
  DoubleMatrix small(basis.rows, basis.rows);
  for (std::size_t p = 0; p < basis.rows; ++p) {
    for (std::size_t q = 0; q <= p; ++q) {
      const double product = dot(basis.row(p), image.row(q));
      small.row(p)[q] = product;
      small.row(q)[p] = product;
    }
  }
  DoubleMatrix turns(basis.rows, basis.rows);
  diagonalize(small, turns);
  std::vector<std::size_t> order(basis.rows);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return small.row(a)[a] > small.row(b)[b];
  });
  DoubleMatrix coordinates(n, rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t which = order[d];
    const double scale = std::sqrt(std::max(small.row(which)[which], 0.0));
    for (std::size_t v = 0; v < basis.rows; ++v) {
      const double weight = turns.row(which)[v] * scale;
      for (std::size_t i = 0; i < n; ++i) {
        coordinates.row(i)[d] += weight * basis.row(v)[i];
      }
    }
  }
  return coordinates;
}

}  // namespace bonescan
