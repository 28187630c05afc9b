package learn

import (
	"errors"
	"fmt"
)

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

// unknownCategory is the failure of a run that meets a category which was not fitted. The run gives it the value.
type unknownCategory struct{ column, value string }

// Error names the column and the category.
func (e *unknownCategory) Error() string {
	category := "a category"
	if e.value != "" {
		category = "the category " + e.value
	}
	return fmt.Sprintf("learn: column %q has %s, which FitLabels or FitOneHot did not see: fit it, or set Unknown to null or category: %v", e.column, category, ErrUnknown)
}

// Unwrap returns [ErrUnknown].
func (e *unknownCategory) Unwrap() error { return ErrUnknown }

// Column returns the name of the column: see Require of package gpuframe.
func (e *unknownCategory) Column() string { return e.column }

// Of returns the failure with a category.
func (e *unknownCategory) Of(value string) error { return &unknownCategory{e.column, value} }
