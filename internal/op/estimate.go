package op

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
)

// errNoEstimate stands for memory in calls that are only estimated.
var errNoEstimate = fmt.Errorf("the operator does not know what it allocates before it runs: %w", device.ErrNotSupported)

// Estimating reports whether the call is to be estimated only. An operator then calls
// [Call.Estimate], with the sizes that it would pass to [Call.Allocate] and
// [Call.Scratch], and returns its error. If it allocates instead, it gets an error: it
// cannot estimate.
func (c *Call) Estimating() bool { return c.estimate != nil }

// Estimate records what the operator allocates. It returns kernels.ErrEstimated, or the
// error of sizes that overflow.
func (c *Call) Estimate(result, scratch []uint64) error {
	var err error
	if c.estimate.Result, err = Bytes(result...); err != nil {
		return err
	}
	if c.estimate.Scratch, err = Bytes(scratch...); err != nil {
		return err
	}
	return kernels.ErrEstimated
}
