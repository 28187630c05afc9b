// Package cancel makes errors of contexts that are done.
package cancel

import (
	"context"
	"errors"
	"fmt"
)

// Error returns the error of a context that is done. It wraps ctx.Err, so that
// errors.Is finds context.Canceled or context.DeadlineExceeded, and the cause if
// one was given. It returns nil for a context that is not done.
//
// context.Cause alone is not enough: for a caller that cancels with a custom cause, it
// does not wrap context.Canceled.
func Error(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
