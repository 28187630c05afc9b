//go:build linux || darwin

package share

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

const available = true

// send writes bytes. The first byte carries the descriptors.
func send(connection *net.UnixConn, framed []byte, descriptors []int) error {
	if len(descriptors) > 0 {
		n, _, err := connection.WriteMsgUnix(framed, syscall.UnixRights(descriptors...), nil)
		if err != nil {
			return err
		}
		framed = framed[n:]
	}
	if len(framed) == 0 {
		return nil
	}
	_, err := connection.Write(framed)
	return err
}

// receive reads bytes and the descriptors that come with them. The caller owns the
// descriptors, after an error too.
func receive(connection *net.UnixConn, into []byte) (n int, descriptors []int, err error) {
	ancillary := make([]byte, syscall.CmsgSpace(4*mostBlocks))
	n, used, flags, _, err := connection.ReadMsgUnix(into, ancillary)
	messages, parsing := syscall.ParseSocketControlMessage(ancillary[:max(used, 0)])
	for _, message := range messages {
		rights, failure := syscall.ParseUnixRights(&message)
		if failure == nil {
			descriptors = append(descriptors, rights...)
		}
	}
	if err == nil && parsing != nil {
		err = fmt.Errorf("%w: %w", parsing, ErrProtocol)
	}
	if err == nil && flags&syscall.MSG_CTRUNC != 0 {
		err = fmt.Errorf("more than %d descriptors, or this process has too many open files: %w", mostBlocks, ErrProtocol)
	}
	return n, descriptors, err
}

func closeDescriptor(descriptor int) error { return syscall.Close(descriptor) }

// bind creates a socket file. The mode is set before a client can connect: it creates the
// file in a private directory and renames it. It replaces the socket of a server that
// ended without closing.
func bind(ctx context.Context, timers clock, path string, mode os.FileMode) (listener *net.UnixListener, info os.FileInfo, err error) {
	// Servers that start at the same time wait for each other here.
	unlock, err := lockPath(ctx, timers, path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if failure := unlock(); failure != nil && err == nil {
			err = errors.Join(failure, listener.Close(), os.Remove(path))
			listener, info = nil, nil
		}
	}()
	if err := vacant(ctx, path); err != nil {
		return nil, nil, err
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".s")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	temporary := filepath.Join(private, "s")
	listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err = os.Chmod(temporary, mode); err == nil {
		info, err = os.Lstat(temporary)
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	return listener, info, nil
}

// vacant refuses a path that is not a socket, or on which a server listens.
func vacant(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("the path is not a socket: %w", ErrInUse)
	}
	connection, err := dial(ctx, path)
	if err == nil {
		return errors.Join(fmt.Errorf("a server listens on the path: %w", ErrInUse), connection.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot determine whether a server listens on the path (%w): %w", err, ErrInUse)
	}
	return nil
}
