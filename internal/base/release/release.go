// Package release releases lists of objects, and results of operators that fail in the
// end.
package release

import (
	"errors"
	"io"
)

// Releaser is an object with references, such as a column, a table or a block.
type Releaser interface{ Release() error }

// All releases every item and joins the errors.
func All[T Releaser](items []T) error {
	var failures []error
	for _, item := range items {
		failures = append(failures, item.Release())
	}
	return errors.Join(failures...)
}

// CloseAll closes every item and joins the errors.
func CloseAll[C io.Closer](items []C) error {
	var failures []error
	for _, item := range items {
		failures = append(failures, item.Close())
	}
	return errors.Join(failures...)
}

// Arrow releases every array or record of a list. arrow-go reports no errors.
func Arrow[T interface{ Release() }](items []T) {
	for _, item := range items {
		item.Release()
	}
}

// OnError returns a result that was made or, if one of the errors is not nil, releases it
// and returns the errors. The result may be nil if its type permits the release of nil.
//
//	taken, err := selection.Take(…)
//	return release.OnError(taken, err, rows.Release())
func OnError[T Releaser](value T, failures ...error) (T, error) {
	if err := errors.Join(failures...); err != nil {
		var none T
		return none, errors.Join(err, value.Release())
	}
	return value, nil
}
