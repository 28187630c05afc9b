package gpuframe

import (
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/vector"
)

// Metric is how [Query.NearestTo] measures the distance of two vectors.
type Metric = vector.Metric

const (
	// L2 is the Euclidean distance.
	L2 = vector.L2
	// Cosine is 1 less the cosine of the angle.
	Cosine = vector.Cosine
	// DotProduct is the dot product: the greatest is the nearest.
	DotProduct = vector.Dot
)

// NearestOptions configure [Query.NearestTo]. The zero value finds the nearest rows by their Euclidean distance.
type NearestOptions struct {
	Metric Metric
	// Dimensions is the number of the elements of a vector: lists of another length match nothing. Zero is the size of
	// lists of a fixed size. Other lists must then all have one length.
	Dimensions int
	// MatchedOnly removes left rows without a match: null vectors, for example. Otherwise their right columns are null.
	MatchedOnly bool
	// Distance is the name of the column of distances, a float32. The default is "distance". If a column of a side has that
	// name, or that of the default for Rank, both defaults get a number: "distance_2" and "rank_2", then "distance_3".
	Distance string
	// Rank is the name of the column with the number of the row among those that its left row has, from 1. The default is
	// "rank": see Distance.
	Rank string
}

// NearestTo matches each row of q with the k nearest rows of another query, by comparing the vectors of all pairs of rows. on is
// the vector of both sides, or a pair of [On]: lists of integers or floats, which are compared as float32. It may come
// with [Suffix]. The result has the columns of both sides, the distance and the rank, in the order of q and
// then from the nearest row on. Of rows as near as each other the one that comes first on the right side is nearer. A null
// vector, one with a null element, and a distance that is NaN match nothing. The other query is read first and kept, as one table or, if
// it takes more than a quarter of the budget, in its batches, of which one is in device memory at a time; a GPU
// finds up to 1,024 rows for each row of q.
//
//	questions.NearestTo(documents, "embedding", 10, gpuframe.NearestOptions{Metric: gpuframe.Cosine})
func (q Query) NearestTo(other Query, on JoinTerm, k int, options NearestOptions) Query {
	return q.then(bind.NearestTo(joinTermsOf([]JoinTerm{on}), plan.NearestToOptions{
		K: k, Metric: options.Metric, Dim: options.Dimensions, MatchedOnly: options.MatchedOnly,
		Distance: options.Distance, Rank: options.Rank,
	}), other)
}
