//go:build !cgo || !linux || !(amd64 || arm64)

package nccl

import "context"

// Comm is a communicator, of which this build has none.
type Comm struct{}

var errBuild = &Unavailable{Path: "libnccl.so.2", Reason: "this program was built without cgo, or not for 64-bit Linux"}

// Load returns an error that wraps [ErrNotAvailable].
func Load() error { return errBuild }

// Version returns an error that wraps [ErrNotAvailable].
func Version() (string, error) { return "", errBuild }

// HasAllToAll returns false.
func HasAllToAll() bool { return false }

// NewID returns an error that wraps [ErrNotAvailable].
func NewID() (ID, error) { return ID{}, errBuild }

// Init returns an error that wraps [ErrNotAvailable].
func Init(int, ID, int, int) (*Comm, error) { return nil, errBuild }

// State returns an error that wraps [ErrNotAvailable].
func (c *Comm) State() (bool, error) { return false, errBuild }

// Exchange returns an error that wraps [ErrNotAvailable].
func (c *Comm) Exchange(uintptr, []Transfer) error { return errBuild }

// AllToAll returns an error that wraps [ErrNotAvailable].
func (c *Comm) AllToAll(uintptr, uintptr, uintptr, uint64) error { return errBuild }

// Close returns an error that wraps [ErrNotAvailable].
func (c *Comm) Close(context.Context) error { return errBuild }

// Abort returns an error that wraps [ErrNotAvailable].
func (c *Comm) Abort() error { return errBuild }
