//go:build !linux

package device

import "time"

// pause blocks the goroutine for a duration.
func pause(d time.Duration) { time.Sleep(d) }
