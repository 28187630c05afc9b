package learn

import "errors"

var (
	// ErrType reports a column of a type that a function does not take.
	ErrType = errors.New("the column has a wrong type")
	// ErrNoRows reports a column without a value to fit.
	ErrNoRows = errors.New("the column has no values")
	// ErrNotFinite reports a column whose fitted values are NaN or infinite, or not within float64.
	ErrNotFinite = errors.New("a fitted value is not finite")
	// ErrUnknown is wrapped by the error of a run that meets a category which was not fitted.
	ErrUnknown = errors.New("a category was not fitted")
	// ErrOption reports an option with a value that is not allowed.
	ErrOption = errors.New("bad option")
)
