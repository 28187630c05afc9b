package op

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// Only returns the single element of an operator's variadic options, or the zero value
// without elements. More than one is an error that wraps device.ErrInvalidValue:
// options are not merged, and ignoring some of them would hide mistakes.
func Only[Options any](given []Options) (only Options, err error) {
	if len(given) > 1 {
		return only, fmt.Errorf("%d %T are given, at most one is allowed: set all fields in one: %w", len(given), only, device.ErrInvalidValue)
	}
	if len(given) == 1 {
		only = given[0]
	}
	return only, nil
}
