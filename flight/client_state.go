package flight

import (
	"crypto/sha256"
	"errors"
	"sync"

	"github.com/gpuframe/gpuframe"
)

// client has the state of a client. The server's lock guards the fields below engine.
type client struct {
	name string
	// token is the SHA-256 of the client's token.
	token  [sha256.Size]byte
	engine *gpuframe.Engine
	// running and uploads count its calls.
	running, uploads int
	tables           map[string]*upload
	// uploading is the number of tables that are being uploaded under new names.
	uploading int
}

// close releases the uploaded tables. No call runs.
func (c *client) close() error {
	var err error
	for name, table := range c.tables {
		err = errors.Join(err, table.release())
		delete(c.tables, name)
	}
	return errors.Join(err, c.engine.Close())
}

// upload is a table of a client. It is counted, because calls read it while others replace
// it.
type upload struct {
	frame *gpuframe.Frame

	mu    sync.Mutex
	users int
	// ended reports that the client has no use for the table any more.
	ended bool
}

// retain counts a call that reads the table. It reports false if the table is gone.
func (u *upload) retain() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return false
	}
	u.users++
	return true
}

// done ends what retain began.
func (u *upload) done() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.users--
	return u.releaseUnused()
}

// release releases the table when the last call that reads it has ended.
func (u *upload) release() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return nil
	}
	u.ended = true
	return u.releaseUnused()
}

// releaseUnused releases the frame once. The caller holds mu.
func (u *upload) releaseUnused() error {
	if !u.ended || u.users > 0 {
		return nil
	}
	return u.frame.Release()
}
