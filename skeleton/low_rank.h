// Products of rows with rows, and the few directions in which rows differ most.
//
// Intuition: hundreds of hosts with thousands of features each live on a curve that a dozen
// directions describe; what lies outside of them is noise.  All that is needed is in the Gram
// matrix, whose largest eigenvectors, scaled, are the coordinates of the rows.  Rows are centred
// first: what all of them share tells none of them apart.
// Complexity: Gram rows^2 * columns / 2, once, four numbers at a time; coordinates rows^2 * rank *
// sweeps.  Invariant: no threads, no library: the same sums in the same order everywhere.
#pragma once

#include "skeleton/matrix.h"

#include <cstddef>

namespace bonescan {

/// Adds the products of all rows, taken over columns [first, last), to `gram`.
/// REQUIRES: gram is rows x rows.
void add_gram(const FloatMatrix& rows, std::size_t first, std::size_t last, DoubleMatrix& gram);

/// Coordinates of the rows along at most `rank` principal directions, the largest first: principal
/// component scores.  Their squared distances are those of the rows, less the noise outside.
/// @ours 6 sweeps over a subspace of 6 vectors more than the rank: what is left of the angle to the
/// true directions is far below what noise does to them
DoubleMatrix principal_coordinates(const DoubleMatrix& gram, std::size_t rank);

}  // namespace bonescan
