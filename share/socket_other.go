//go:build !linux && !darwin

package share

import (
	"context"
	"net"
	"os"

	"github.com/gpuframe/gpuframe/device"
)

const available = false

func send(*net.UnixConn, []byte, []int) error { return device.ErrNotAvailable }

func receive(*net.UnixConn, []byte) (int, []int, error) { return 0, nil, device.ErrNotAvailable }

func closeDescriptor(int) error { return device.ErrNotAvailable }

func bind(context.Context, clock, string, os.FileMode) (*net.UnixListener, os.FileInfo, error) {
	return nil, nil, device.ErrNotAvailable
}
