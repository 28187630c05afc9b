//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabi_test

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
)

// parentOnly ends the process with a distinct code if Ended runs in a child.
type parentOnly struct {
	counter
	parent int
}

func (p *parentOnly) Ended() {
	if os.Getpid() != p.parent {
		syscall.Exit(77)
	}
	p.counter.Ended()
}

// The deleter of a tensor does not call Go in a forked child, where Go's threads do
// not exist. It does not change the parent's tensor.
func TestDeletersInAForkedChild(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		owner := &parentOnly{parent: os.Getpid()}
		handle, record, ok := cabi.Begin(owner)
		require.True(t, ok)
		var tensor unsafe.Pointer
		if legacy {
			tensor = unsafe.Pointer(record.DescribeLegacy(handle, cabi.Tensor{}, cabi.Dimensions{}))
		} else {
			tensor = unsafe.Pointer(record.Describe(handle, cabi.Tensor{}, cabi.Dimensions{}, 0))
		}
		require.NoError(t, cabitest.DeleteInChild(tensor, legacy))
		require.Zero(t, owner.ended.Load())
		cabitest.Delete(tensor, legacy)
		require.EqualValues(t, 1, owner.ended.Load())
	}
}
