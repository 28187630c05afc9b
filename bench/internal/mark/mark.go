// Package mark names work for bench/profile, a library between a program and the driver that
// records the times of kernels and copies.
package mark

import (
	"context"
	"errors"
	"os"

	"github.com/gpuframe/gpuframe/device"
)

// variable is the environment variable that bench/profile/driver_profile.c reads.
const variable = "GPUFRAME_PROFILE_MARK"

// Run runs f with a name as the mark. The profile is printed with the first call to the driver
// after the mark has changed, so Run waits for the stream at the end. It changes the environment
// and may not run concurrently.
func Run(ctx context.Context, name string, stream *device.Stream, f func() error) error {
	if err := os.Setenv(variable, name); err != nil {
		return err
	}
	err := f()
	return errors.Join(err, os.Unsetenv(variable), stream.Synchronize(ctx))
}
