//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rangecache

import (
	"errors"
	"os"
	"syscall"
)

// canLock reports whether the platform has the locks of the cache.
const canLock = true

// lock opens a file, which is created, and locks it until it is closed. It returns nil if another process has the lock.
func lock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = nil
	}
	return nil, errors.Join(err, file.Close())
}
