//go:build linux || darwin

package share

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// lockRetry is the time between attempts to take a lock that another process holds.
const lockRetry = 5 * time.Millisecond

// lockPath locks the path of a socket. Servers hold this lock while they check that the
// path is free and take it. The lock is on a file next to the socket, which only the
// server's user can open, so other users cannot block the server. The caller calls
// unlock, which removes the file.
func lockPath(ctx context.Context, timers clock, path string) (unlock func() error, err error) {
	name := path + ".lock"
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("lock the path: %w", err)
		}
		locked, err := tryLock(file, name)
		if locked {
			// The file is removed while it is locked: a process that opened it earlier
			// notices the removal in tryLock.
			return func() error { return errors.Join(os.Remove(name), file.Close()) }, nil
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("lock the path: %w", err)
		}
		again, stop := after(timers, lockRetry)
		select {
		case <-again:
		case <-ctx.Done():
			stop()
			return nil, fmt.Errorf("another process holds %s, the lock of servers that start: %w", name, cancel.Error(ctx))
		}
	}
}

// tryLock locks a file, unless another process has locked or removed it.
func tryLock(file *os.File, name string) (bool, error) {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		break
	}
	opened, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, there), err
}
