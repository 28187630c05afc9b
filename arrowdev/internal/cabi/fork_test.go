//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabi_test

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
)

// parentOnly ends the process with a special exit code if one of its methods is called
// in a child.
type parentOnly struct {
	counter
	parent int
}

func (p *parentOnly) check() {
	if os.Getpid() != p.parent {
		syscall.Exit(77)
	}
}

func (p *parentOnly) Ended()                     { p.check(); p.counter.Ended() }
func (p *parentOnly) GetSchema(*cabi.Schema) int { p.check(); return cabi.EIO }
func (p *parentOnly) GetNext(unsafe.Pointer) int { p.check(); return cabi.EIO }
func (p *parentOnly) LastError() unsafe.Pointer  { p.check(); return nil }

// In a forked child, which has no threads of Go, releases do not call Go and do not
// change the exports of the parent.
func TestReleasesInAForkedChild(t *testing.T) {
	owner := &parentOnly{parent: os.Getpid()}
	array := family(t, owner, 3)
	require.NoError(t, cabitest.ReleaseArrayInChild(array))
	require.Zero(t, owner.ended.Load())
	cabi.ReleaseArray(array)
	require.EqualValues(t, 1, owner.ended.Load())

	tree, ok := cabi.Begin(owner, unsafe.Sizeof(cabi.Schema{}), 1)
	require.True(t, ok)
	schema := (*cabi.Schema)(tree.Take(unsafe.Sizeof(cabi.Schema{})))
	tree.OwnSchema(schema)
	require.NoError(t, cabitest.ReleaseSchemaInChild(schema))
	require.EqualValues(t, 1, owner.ended.Load())
	cabi.ReleaseSchema(schema)
	require.EqualValues(t, 2, owner.ended.Load())
}

// A stream refuses calls in a forked child, and is released there without a call of Go.
func TestStreamsInAForkedChild(t *testing.T) {
	owner := &parentOnly{parent: os.Getpid()}
	stream := cabi.NewStruct[cabi.DeviceStream]()
	defer cabi.FreeStruct(stream)
	stream.Export(1, owner)
	require.NoError(t, cabitest.UseStreamInChild(stream))
	require.Zero(t, owner.ended.Load())
	stream.CallRelease()
	require.EqualValues(t, 1, owner.ended.Load())
}
