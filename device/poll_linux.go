package device

import (
	"syscall"
	"time"
)

// preciseSlack is how late the system may end a pause, in nanoseconds. Without it that is 50 µs, some
// waits long.
const preciseSlack = 1000

// pause blocks the thread for a duration, some microseconds longer. A signal may end it early.
func pause(d time.Duration) {
	before, _, failed := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_GET_TIMERSLACK, 0, 0)
	if failed == 0 {
		_, _, failed = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, preciseSlack, 0)
	}
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil)
	if failed == 0 {
		syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_TIMERSLACK, before, 0)
	}
}
