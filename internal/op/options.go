package op

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// Only returns the one element of an operator's variadic options, or the zero value
// if there is none. More than one is an error that wraps device.ErrInvalidValue:
// there is no rule for merging them, and to ignore the rest hides mistakes.
func Only[Options any](given []Options) (only Options, err error) {
	if len(given) > 1 {
		return only, fmt.Errorf("%d %T are given, at most one is allowed: set all fields in one: %w", len(given), only, device.ErrInvalidValue)
	}
	if len(given) == 1 {
		only = given[0]
	}
	return only, nil
}
