//go:build !linux

package share

import (
	"net"

	"github.com/gpuframe/gpuframe/device"
)

const hasCredentials = false

func credentialsOf(*net.UnixConn) (Credentials, error) { return Credentials{}, device.ErrNotSupported }
