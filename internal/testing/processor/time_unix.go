//go:build unix

package processor

import (
	"syscall"
	"time"
)

// Time returns the processor time of the process.
func Time() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
