//go:build cgo && !(386 || arm || mips || mipsle)

package cabi_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

type counter struct{ ended atomic.Int32 }

func (c *counter) Ended() { c.ended.Add(1) }

func TestEndTellsTheOwnerOnce(t *testing.T) {
	var owner counter
	handle, record, ok := cabi.Begin(&owner)
	require.True(t, ok)
	require.NotZero(t, handle)
	require.NotNil(t, record)
	found, live := cabi.Find(handle)
	require.True(t, live)
	assert.Same(t, &owner, found)

	cabi.End(handle)
	cabi.End(handle)
	assert.EqualValues(t, 1, owner.ended.Load())
	_, live = cabi.Find(handle)
	assert.False(t, live)
}

func TestTakeDoesNotTellTheOwner(t *testing.T) {
	var owner counter
	handle, _, _ := cabi.Begin(&owner)
	taken, ok := cabi.Take(handle)
	require.True(t, ok)
	assert.Same(t, &owner, taken)
	_, ok = cabi.Take(handle)
	assert.False(t, ok)
	cabi.End(handle)
	assert.Zero(t, owner.ended.Load())
}

// A handle stays invalid when its record is reused for another tensor.
func TestRecordsAreUsedAgain(t *testing.T) {
	var first, second counter
	stale, record, _ := cabi.Begin(&first)
	cabi.End(stale)
	for attempt := 0; ; attempt++ {
		require.Less(t, attempt, 1000, "the record never came back")
		handle, again, _ := cabi.Begin(&second)
		if again == record {
			assert.NotEqual(t, stale, handle)
			cabi.End(stale)
			assert.Zero(t, second.ended.Load()-int32(attempt))
			cabi.End(handle)
			return
		}
		cabi.End(handle)
	}
}

func TestUnknownHandles(t *testing.T) {
	// No generation is zero, and the table has fewer records.
	for _, handle := range []cabi.Handle{0, 1, 1 << 31, ^cabi.Handle(0)} {
		_, live := cabi.Find(handle)
		assert.False(t, live)
		cabi.End(handle)
	}
}

func TestDeletersOfRecords(t *testing.T) {
	t.Run("versioned", func(t *testing.T) {
		var owner counter
		handle, record, _ := cabi.Begin(&owner)
		tensor := record.Describe(handle, cabi.Tensor{Data: 64}, cabi.Dimensions{Rows: 3}, cabi.FlagReadOnly)
		own, ok := tensor.IsOwn()
		require.True(t, ok)
		assert.Equal(t, handle, own)
		cabi.RunDeleterVersioned(tensor)
		cabi.RunDeleterVersioned(tensor)
		assert.EqualValues(t, 1, owner.ended.Load())
	})
	t.Run("legacy", func(t *testing.T) {
		var owner counter
		handle, record, _ := cabi.Begin(&owner)
		tensor := record.DescribeLegacy(handle, cabi.Tensor{Data: 64}, cabi.Dimensions{Rows: 3})
		own, ok := tensor.IsOwn()
		require.True(t, ok)
		assert.Equal(t, handle, own)
		cabi.RunDeleter(tensor)
		assert.EqualValues(t, 1, owner.ended.Load())
	})
}

func TestDimensionsOfRecords(t *testing.T) {
	for name, each := range map[string]struct {
		dimensions     cabi.Dimensions
		shape, strides []int64
	}{
		"a vector":           {cabi.Dimensions{Rows: 3}, []int64{3}, []int64{1}},
		"nothing":            {cabi.Dimensions{}, []int64{0}, []int64{1}},
		"rows without gaps":  {cabi.Dimensions{Rows: 3, Inner: []int64{4, 5}}, []int64{3, 4, 5}, []int64{20, 5, 1}},
		"columns with gaps":  {cabi.Dimensions{Rows: 3, Inner: []int64{4}, Distance: 16}, []int64{3, 4}, []int64{1, 16}},
		"the most there are": {cabi.Dimensions{Rows: 1, Inner: []int64{1, 1, 1, 1, 1, 1, 2}}, []int64{1, 1, 1, 1, 1, 1, 1, 2}, []int64{2, 2, 2, 2, 2, 2, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			handle, record, _ := cabi.Begin(new(counter))
			defer cabi.End(handle)
			tensor := record.Describe(handle, cabi.Tensor{}, each.dimensions, 0).Tensor
			require.EqualValues(t, len(each.shape), tensor.NDim)
			assert.Equal(t, each.shape, record.Shape[:tensor.NDim])
			assert.Equal(t, each.strides, record.Strides[:tensor.NDim])
			assert.Equal(t, uintptr(unsafe.Pointer(&record.Shape)), tensor.Shape)
			assert.Equal(t, uintptr(unsafe.Pointer(&record.Strides)), tensor.Strides)
		})
	}
}

func TestHammer(t *testing.T) {
	var owner counter
	const workers, rounds, held = 8, 200, 20
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range rounds {
				var handles [held]cabi.Handle
				for i := range handles {
					handles[i], _, _ = cabi.Begin(&owner)
				}
				for _, handle := range handles {
					cabi.End(handle)
				}
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, workers*rounds*held, owner.ended.Load())
}

func Example() {
	fmt.Println(unsafe.Sizeof(cabi.ManagedTensorVersioned{}), unsafe.Sizeof(cabi.ManagedTensor{}))
	// Output: 80 64
}
