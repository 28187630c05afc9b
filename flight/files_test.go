package flight_test

import (
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/gpuframe/gpuframe/flight"
)

// deepFolder is a file system of folders within each other. The first one is read when release is closed.
type deepFolder struct {
	fstest.MapFS
	reads   atomic.Int64
	entered chan struct{}
	release chan struct{}
}

func newDeepFolder() *deepFolder {
	return &deepFolder{
		MapFS: fstest.MapFS{"folder": {Mode: fs.ModeDir}}, entered: make(chan struct{}), release: make(chan struct{}),
	}
}

func (f *deepFolder) Stat(string) (fs.FileInfo, error) { return f.MapFS.Stat("folder") }

func (f *deepFolder) ReadDir(string) ([]fs.DirEntry, error) {
	switch f.reads.Add(1) {
	case 1:
		close(f.entered)
		<-f.release
	case 1000:
		return nil, nil
	}
	return f.MapFS.ReadDir(".")
}

const readsFolder = `{"version": 1, "steps": [{"verb": "csv", "paths": ["folder"]}]}`

// TestCloseEndsDecoding closes a server while it reads the folders of a document. No further one is read.
func TestCloseEndsDecoding(t *testing.T) {
	folder := newDeepFolder()
	server, address := serve(t, flight.Options{Files: func(string) fs.FS { return folder }})
	client := dial(t, address, flight.DialOptions{})
	explained, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := client.Explain(t.Context(), []byte(readsFolder))
		explained <- err
	}()
	<-folder.entered
	go func() { closed <- server.Close() }()
	require.Error(t, <-explained) // the context of the call has ended
	close(folder.release)
	require.NoError(t, <-closed)
	require.EqualValues(t, 1, folder.reads.Load())
}

// TestStreamLimitEndsDecoding has a limit that is over when a document is decoded.
func TestStreamLimitEndsDecoding(t *testing.T) {
	folder := newDeepFolder()
	close(folder.release)
	_, address := serve(t, flight.Options{Files: func(string) fs.FS { return folder }, Limits: flight.Limits{Stream: time.Nanosecond}})
	_, err := dial(t, address, flight.DialOptions{}).Explain(t.Context(), []byte(readsFolder))
	requireCode(t, codes.DeadlineExceeded, err, "deadline exceeded")
	require.Zero(t, folder.reads.Load())
}
