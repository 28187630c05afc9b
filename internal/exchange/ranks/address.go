package ranks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// The keep-alive messages of TCP report a machine that has disappeared 5 s after its last
// packet: after the idle time and the intervals between the messages. Unacknowledged bytes have the
// same limit.
const (
	keepAliveIdle     = 2 * time.Second
	keepAliveInterval = time.Second
	keepAliveCount    = 3

	// lostAfter is the time in which a machine that has disappeared is noticed.
	lostAfter = keepAliveIdle + keepAliveCount*keepAliveInterval
)

// keepAlive limits the time in which a connection for messages notices that the other machine has
// disappeared. It is not for data: a rank may read none for longer.
func keepAlive(connection net.Conn) {
	if tcp, ok := connection.(*net.TCPConn); ok {
		// Without keep-alive messages only the end of processes is detected.
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount})
		limitUnacknowledged(tcp, lostAfter)
	}
}

// split divides an address into the network and the address in it.
func split(address string) (network, at string, err error) {
	network, at, ok := strings.Cut(address, ":")
	if !ok || at == "" || network != "unix" && network != "tcp" {
		return "", "", fmt.Errorf(`address %q, expected "unix:PATH" or "tcp:HOST:PORT"`, address)
	}
	return network, at, nil
}

// isRefused reports whether a connection was refused, because no process listens.
func isRefused(err error) bool {
	const onWindows = syscall.Errno(10061) // WSAECONNREFUSED, which is not syscall.ECONNREFUSED
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, onWindows)
}

// listen listens at an address. It replaces the file of a socket on which no process listens.
func listen(ctx context.Context, address string) (net.Listener, error) {
	network, at, err := split(address)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, network, at)
	if err == nil || network != "unix" {
		return listener, err
	}
	var dialer net.Dialer
	other, dialing := dialer.DialContext(ctx, network, at)
	if dialing == nil {
		return nil, errors.Join(err, other.Close())
	}
	if !isRefused(dialing) { // a process may listen, for example with a full queue
		return nil, errors.Join(err, dialing)
	}
	info, failure := os.Lstat(at)
	if failure != nil || info.Mode()&os.ModeSocket == 0 || os.Remove(at) != nil {
		return nil, err
	}
	return config.Listen(ctx, network, at)
}

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 200 * time.Millisecond
)

// dial connects to an address at which a process listens or will listen.
func dial(ctx context.Context, address string) (net.Conn, error) {
	network, at, err := split(address)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		connection, err := dialer.DialContext(ctx, network, at)
		if err == nil {
			return connection, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w: %w", cancel.Error(ctx), err)
		case <-timer.C:
		}
	}
}

// above returns the address at which a rank listens for the ranks above it. The connection is
// that to rank 0.
func above(connection net.Conn, address string, rank int) string {
	if tcp, ok := connection.LocalAddr().(*net.TCPAddr); ok {
		return "tcp:" + net.JoinHostPort(tcp.AddrPort().Addr().String(), "0")
	}
	return fmt.Sprintf("%s.%d", address, rank)
}

// addressOf returns the address of a listener.
func addressOf(listener net.Listener) string {
	return listener.Addr().Network() + ":" + listener.Addr().String()
}
