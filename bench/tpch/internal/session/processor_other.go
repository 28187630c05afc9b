//go:build !unix

package session

import "time"

// processorTime returns 0: the processor time of the process is not known.
func processorTime() time.Duration { return 0 }
