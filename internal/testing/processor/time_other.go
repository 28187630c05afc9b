//go:build !unix

package processor

import "time"

// Time returns 0: the processor time of the process is not known.
func Time() time.Duration { return 0 }
