package checks

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExplainChangedElements explains elements that are valid again when they are
// fetched.
func TestExplainChangedElements(t *testing.T) {
	zero := make([]byte, 16)
	one := []byte{1, 0, 0, 0, 2, 0, 0, 0}
	for name, explain := range map[string]func() (int64, string){
		"offsets":      func() (int64, string) { return ascending{width: 4, limit: 9}.explain(1, [][]byte{one}) },
		"run ends":     func() (int64, string) { return ascending{width: 4, limit: 9, strict: true}.explain(0, [][]byte{one}) },
		"list views":   func() (int64, string) { return listViews{width: 4, limit: 9}.explain(0, [][]byte{one, one}) },
		"binary views": func() (int64, string) { return binaryViews{}.explain(0, [][]byte{zero}) },
		"type ids":     func() (int64, string) { return typeIDs{allowed: NewTypeIDs[int8](1)}.explain(0, [][]byte{one}) },
		"dense offsets": func() (int64, string) {
			return (&denseOffsets{lengths: [mostTypeIDs]int64{1: 9}}).explain(0, [][]byte{one, one})
		},
		"indices": func() (int64, string) { return indices{integer: Integer{Width: 4}, limit: 9}.explain(0, [][]byte{one}) },
	} {
		_, reason := explain()
		assert.Contains(t, reason, "now and was wrong a moment ago: somebody writes to the memory", name)
	}
}

func TestTypeIDsThatAreIndices(t *testing.T) {
	for _, test := range []struct {
		set   TypeIDs
		below uint64
		ok    bool
	}{
		{TypeIDs{}, 0, true},
		{NewTypeIDs[int8](0), 1, true},
		{NewTypeIDs[int8](2, 1, 0), 3, true},
		{TypeIDs{low: math.MaxUint64}, 64, true},
		{TypeIDs{math.MaxUint64, 1}, 65, true},
		{TypeIDs{math.MaxUint64, math.MaxUint64}, 128, true},
		{NewTypeIDs[int8](1), 1, false},
		{NewTypeIDs[int8](0, 64), 2, false},
		{TypeIDs{high: math.MaxUint64}, 64, false},
		{TypeIDs{math.MaxUint64, 2}, 65, false},
		{TypeIDs{math.MaxUint64 - 1, 3}, 65, false},
	} {
		below, ok := test.set.allBelow()
		assert.Equal(t, test.ok, ok, "%x", test.set)
		assert.Equal(t, test.below, below, "%x", test.set)
	}
}
