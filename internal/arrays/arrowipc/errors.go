package arrowipc

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
)

// ErrContents reports a stream or file that is damaged or not of its format.
var ErrContents = errors.New("the contents cannot be read")

// Recovered turns the panic of a decoder into an error that wraps [ErrContents], and the
// panic's value if that is an error. Call it deferred.
func Recovered(err *error) {
	switch reason := recover().(type) {
	case nil:
	case runtime.Error:
		*err = fmt.Errorf("the decoder failed: %v: %w", reason, ErrContents)
	case error:
		*err = fmt.Errorf("the decoder failed: %w: %w", reason, ErrContents)
	default:
		*err = fmt.Errorf("the decoder failed: %v: %w", reason, ErrContents)
	}
}

// damaged marks an error of arrow-go with ErrContents, unless it has another condition.
func damaged(err error) error {
	if err == nil || errors.Is(err, ErrContents) || errors.Is(err, arrow.ErrNotImplemented) {
		return err
	}
	return fmt.Errorf("%w: %w", err, ErrContents)
}
