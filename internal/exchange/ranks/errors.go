package ranks

import (
	"errors"
	"fmt"
)

var (
	// ErrProtocol means that a peer sent bytes that are no message of the protocol.
	ErrProtocol = errors.New("against the protocol between ranks")
	// ErrMismatch means that a rank has another protocol, version or group size.
	ErrMismatch = errors.New("the ranks do not match")
	// ErrLost means that a rank's process or connection has ended.
	ErrLost = errors.New("rank lost")
	// ErrClosed means that the group was closed by this rank.
	ErrClosed = errors.New("the group of ranks is closed")
	// ErrRemote means that another rank reported its error.
	ErrRemote = errors.New("failed on another rank")
)

// RankError is the failure of one rank of the group.
type RankError struct {
	// Rank is the rank that failed.
	Rank int
	// ReportedBy is another rank that reported the failure. It equals Rank if the rank
	// reported its own failure, or if this process saw the connection end.
	ReportedBy int
	// Err is the reason.
	Err error
}

// Error names the rank.
func (e *RankError) Error() string {
	if e.ReportedBy != e.Rank {
		return fmt.Sprintf("rank %d (reported by rank %d): %v", e.Rank, e.ReportedBy, e.Err)
	}
	return fmt.Sprintf("rank %d: %v", e.Rank, e.Err)
}

// Unwrap returns the reason.
func (e *RankError) Unwrap() error { return e.Err }
