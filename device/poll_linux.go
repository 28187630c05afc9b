package device

import (
	"syscall"
	"time"
)

// pause blocks the thread for a duration, some 50 µs longer. A signal may end it early.
func pause(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil)
}
