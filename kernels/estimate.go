package kernels

import (
	"errors"
	"math"
)

// Estimate is the device memory that one call of an operator allocates, in bytes.
// Operators allocate what they estimate, so it is exact. If the data decides about a
// size, it is an upper bound, and the documentation of the operator says so. A resource
// may round each request up.
type Estimate struct {
	// Result is the memory that the caller holds until it releases the result.
	Result uint64
	// Scratch is the memory that the operator holds while it runs, in addition to the result.
	Scratch uint64
}

// Peak returns Result + Scratch, or the largest uint64 if that overflows.
func (e Estimate) Peak() uint64 {
	if e.Result > math.MaxUint64-e.Scratch {
		return math.MaxUint64
	}
	return e.Result + e.Scratch
}

// ErrEstimated is returned by operators with [Options] that request an estimate:
// nothing was computed.
var ErrEstimated = errors.New("the operator was only estimated")

// EstimateOf returns what an operator allocates, before it runs. It calls run once with
// options that make the operator return as soon as it knows; run passes them on:
//
//	estimate, err := kernels.EstimateOf(func(o kernels.Options) (*column.Column, error) {
//		return window.CumulativeSum(ctx, amounts, window.Options{Options: o})
//	})
//
// An operator that returns an input, or a result without memory, estimates zero.
//
// # Errors
//
// The error wraps device.ErrNotSupported if the operator cannot know, for example
// because the result's size depends on the data.
func EstimateOf[Result interface{ Release() error }](run func(Options) (Result, error)) (Estimate, error) {
	var e Estimate
	result, err := run(Options{Estimate: &e})
	switch {
	case errors.Is(err, ErrEstimated):
		return e, nil
	case err != nil:
		return Estimate{}, err
	}
	return e, result.Release()
}
