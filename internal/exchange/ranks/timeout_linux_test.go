package ranks

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A machine that disappears while a message to it is under way is noticed as soon as one that
// disappears between messages: the system sends no keep-alive messages then.
func TestUnacknowledgedMessages(t *testing.T) {
	groups := openAll(t, tcpPlace(t), 2)
	for rank, g := range groups {
		raw, err := g.peers[1-rank].control.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		var got int
		var failure error
		require.NoError(t, raw.Control(func(file uintptr) {
			got, failure = unix.GetsockoptInt(int(file), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		}))
		require.NoError(t, failure)
		require.Equal(t, int(lostAfter.Milliseconds()), got)
	}
}
