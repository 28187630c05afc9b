package learn

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// Split divides rows by a hash of a key and of the seed: about a fraction of the keys are of test. Rows with the
// same key are on one side, in every run and release, with any other rows.
func Split(q gpuframe.Query, fraction float64, seed int64, key ...gpuframe.Expression) (train, test gpuframe.Query, err error) {
	if !(fraction >= 0 && fraction <= 1) || len(key) == 0 {
		return train, test, fmt.Errorf("learn: a split by %d keys with %v of the rows for tests, expected one or more keys and a fraction from 0 to 1: %w", len(key), fraction, ErrOption)
	}
	arguments := []any{}
	for _, k := range key {
		arguments = append(arguments, k)
	}
	// Fractions of 2³² have few enough bits for float64 and int64.
	const steps = 1 << 32
	place := gpuframe.Hash(append(arguments, seed)...).Div(uint64(steps)).Cast(arrow.PrimitiveTypes.Int64)
	isTest := place.Lt(int64(math.Round(fraction * steps)))
	return q.Filter(isTest.Not()), q.Filter(isTest), nil
}

// BalancedWeight is a weight of each row with which all classes have the same total, and the weights the mean 1: the
// number of rows divided by the number of classes and by that of the rows of the class. Null is a class.
func BalancedWeight(class gpuframe.Expression) gpuframe.Expr {
	all, rows := gpuframe.By(), gpuframe.Count()
	float := arrow.PrimitiveTypes.Float64
	ofClass := rows.Over(gpuframe.By(class)).Cast(float)
	// Each class adds 1 to the sum of the reciprocals.
	classes := gpuframe.Lit(1.0).Div(ofClass).Sum().Over(all)
	return rows.Over(all).Cast(float).Div(classes.Mul(ofClass)).As("weight")
}

// Share is the part of the total weight that a class has.
type Share struct {
	// Class is a Go value, as literals of expressions are.
	Class any
	Share float64
}

// StratifiedWeight is a weight of each row with which classes have given shares of the total. The mean of the
// weights is 1 if the shares of the classes that occur add up to 1. Rows of other classes, and of null, have the
// weight 0.
func StratifiedWeight(class gpuframe.Expr, shares ...Share) (gpuframe.Expr, error) {
	all, rows := gpuframe.By(), gpuframe.Count()
	float := arrow.PrimitiveTypes.Float64
	share := gpuframe.Lit(0.0)
	for _, s := range shares {
		if !(s.Share >= 0) {
			return gpuframe.Expr{}, fmt.Errorf("learn: the share of class %v is %v, expected zero or more: %w", s.Class, s.Share, ErrOption)
		}
		share = gpuframe.If(class.Eq(s.Class).FillNull(false), s.Share, share)
	}
	return rows.Over(all).Cast(float).Mul(share).Div(rows.Over(gpuframe.By(class)).Cast(float)).As("weight"), nil
}
