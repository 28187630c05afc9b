package ranks

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged ends a connection if the other machine does not acknowledge bytes for a
// time. Linux sends no keep-alive messages while bytes are unacknowledged, and repeats the bytes
// for about 15 minutes.
func limitUnacknowledged(tcp *net.TCPConn, limit time.Duration) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(file uintptr) {
		_ = unix.SetsockoptInt(int(file), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
	})
}
