//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabi_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

type counter struct{ ended atomic.Int64 }

func (c *counter) Ended() { c.ended.Add(1) }

// family exports a parent with children and a dictionary, in memory of the tree.
func family(t *testing.T, owner cabi.Owner, children int) *cabi.Array {
	t.Helper()
	size := unsafe.Sizeof(cabi.Array{})
	tree, ok := cabi.Begin(owner, uintptr(children+2)*size+uintptr(children)*8, children+2)
	require.True(t, ok)
	parent := (*cabi.Array)(tree.Take(size))
	tree.OwnArray(parent)
	parent.NumChildren = int64(children)
	table := tree.Take(uintptr(children) * 8)
	parent.Children = uintptr(table)
	for i := range children {
		child := (*cabi.Array)(tree.Take(size))
		tree.OwnArray(child)
		child.Length = int64(i)
		unsafe.Slice((*uintptr)(table), children)[i] = uintptr(unsafe.Pointer(child))
	}
	dictionary := (*cabi.Array)(tree.Take(size))
	tree.OwnArray(dictionary)
	parent.Dictionary = uintptr(unsafe.Pointer(dictionary))
	require.Nil(t, tree.Take(8), "the tree is used up")
	return parent
}

func TestReleasingTheParentEndsTheTree(t *testing.T) {
	owner := &counter{}
	parent := cabitest.New[cabi.Array]()
	defer cabitest.Free(parent)
	cabitest.MoveArray(parent, family(t, owner, 3))
	cabi.ReleaseArray(parent)
	require.Zero(t, parent.Release)
	require.EqualValues(t, 1, owner.ended.Load())
}

func TestAChildThatWasMovedOutKeepsTheTree(t *testing.T) {
	owner := &counter{}
	source := family(t, owner, 2)
	parent, child := cabitest.New[cabi.Array](), cabitest.New[cabi.Array]()
	defer cabitest.Free(parent)
	defer cabitest.Free(child)
	cabitest.MoveArray(parent, source)
	cabitest.MoveArray(child, *(**cabi.Array)(address.Pointer(parent.Children)))
	cabi.ReleaseArray(parent)
	require.Zero(t, owner.ended.Load())
	found, root, own := child.OwnerOf()
	require.True(t, own)
	require.False(t, root)
	require.Same(t, owner, found)
	require.NoError(t, cabitest.ReleaseArrayOnThread(child))
	require.EqualValues(t, 1, owner.ended.Load())
}

func TestReleasingACopyASecondTimeDoesNothing(t *testing.T) {
	owner, next := &counter{}, &counter{}
	copies := make([]*cabi.Array, 2)
	source := *family(t, owner, 1)
	for i := range copies {
		copies[i] = cabitest.New[cabi.Array]()
		defer cabitest.Free(copies[i])
		*copies[i] = source // not a move: the standard forbids it
	}
	cabitest.ReleaseArray(copies[0])
	other := family(t, next, 1)
	cabitest.ReleaseArray(copies[1])
	require.EqualValues(t, 1, owner.ended.Load())
	require.Zero(t, next.ended.Load())
	_, _, own := source.OwnerOf()
	require.False(t, own)
	kept := *other
	cabi.ReleaseArray(&kept)
	require.EqualValues(t, 1, next.ended.Load())
}

func TestDropDoesNotNotifyTheOwner(t *testing.T) {
	owner := &counter{}
	tree, ok := cabi.Begin(owner, 0, 1)
	require.True(t, ok)
	var array cabi.Array
	tree.OwnArray(&array)
	tree.Drop()
	cabi.ReleaseArray(&array)
	require.Zero(t, owner.ended.Load())
}

func TestChildrenReleasedOnManyThreadsEndTheTreeOnce(t *testing.T) {
	const children = 8
	for range 50 {
		owner := &counter{}
		parent := family(t, owner, children)
		var moved [children + 1]*cabi.Array
		for i, child := range unsafe.Slice((**cabi.Array)(address.Pointer(parent.Children)), children) {
			moved[i] = cabitest.New[cabi.Array]()
			cabitest.MoveArray(moved[i], child)
		}
		moved[children] = cabitest.New[cabi.Array]()
		cabitest.MoveArray(moved[children], parent)
		var group sync.WaitGroup
		for _, array := range moved {
			group.Go(func() {
				defer cabitest.Free(array)
				require.NoError(t, cabitest.ReleaseArrayOnThread(array))
			})
		}
		group.Wait()
		require.EqualValues(t, 1, owner.ended.Load())
	}
}

func TestTreeOfSchemas(t *testing.T) {
	owner := &counter{}
	tree, ok := cabi.Begin(owner, 2*unsafe.Sizeof(cabi.Schema{})+8, 2)
	require.True(t, ok)
	parent, child := (*cabi.Schema)(tree.Take(unsafe.Sizeof(cabi.Schema{}))), (*cabi.Schema)(tree.Take(unsafe.Sizeof(cabi.Schema{})))
	table := tree.Take(8)
	*(*uintptr)(table) = uintptr(unsafe.Pointer(child))
	parent.Children, parent.NumChildren = uintptr(table), 1
	tree.OwnSchema(parent)
	tree.OwnSchema(child)
	moved := cabitest.New[cabi.Schema]()
	defer cabitest.Free(moved)
	cabitest.MoveSchema(moved, parent)
	require.NoError(t, cabitest.ReleaseSchemaOnThread(moved))
	require.EqualValues(t, 1, owner.ended.Load())
}

func TestBeginWithoutMemory(t *testing.T) {
	_, ok := cabi.Begin(&counter{}, 1<<62, 1)
	require.False(t, ok)
	_, ok = cabi.Begin(nil, 8, 0)
	require.False(t, ok)
}

func TestTreesUsedAgainAndAgain(t *testing.T) {
	for range 10_000 {
		owner := &counter{}
		array := *family(t, owner, 2)
		cabi.ReleaseArray(&array)
		require.EqualValues(t, 1, owner.ended.Load())
	}
}
