//go:build !linux

package ranks

import (
	"net"
	"time"
)

// limitUnacknowledged does nothing: only Linux has the option.
func limitUnacknowledged(*net.TCPConn, time.Duration) {}
