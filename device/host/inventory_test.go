package host

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// TestInventoryAgainstModel compares the ordered map with an array that holds the
// allocation of each byte of a small memory.
func TestInventoryAgainstModel(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		memory := make([]byte, 64)
		owner := make([]*allocation, len(memory))
		registered := make([]int, len(memory)) // index of the first byte, plus one
		var made inventory
		position := rapid.IntRange(0, len(memory)-1)
		location := func(i int) unsafe.Pointer { return unsafe.Pointer(&memory[i]) }
		span := func() (from, to int) {
			from = position.Draw(t, "from")
			return from, rapid.IntRange(from+1, len(memory)).Draw(t, "to")
		}

		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				from, to := span()
				for _, a := range owner[from:to] {
					if a != nil {
						t.Skip("no system gives memory out twice")
					}
				}
				a := &allocation{
					memory: location(from),
					bytes:  uint64(to - from),
					kind:   rapid.SampledFrom([]backend.MemoryKind{backend.MemoryHost, backend.MemoryPinned}).Draw(t, "kind"),
				}
				made.add(a)
				for i := from; i < to; i++ {
					owner[i] = a
				}
			},
			"retire": func(t *rapid.T) {
				i := position.Draw(t, "at")
				base := uintptr(location(i))
				a := owner[i]
				got := made.retire(base, backend.MemoryHost)
				if a == nil || a.base() != base || a.kind != backend.MemoryHost {
					require.Nil(t, got)
					return
				}
				require.Same(t, a, got)
				require.Nil(t, made.retire(base, backend.MemoryHost), "retired already")
				if rapid.Bool().Draw(t, "take back") {
					made.unretire(a)
					return
				}
				made.remove(a)
				for j := range owner {
					if owner[j] == a {
						owner[j] = nil
					}
				}
			},
			"register": func(t *rapid.T) {
				from, to := span()
				free := true
				for i := from; i < to; i++ {
					free = free && owner[i] == nil && registered[i] == 0
				}
				require.Equal(t, free, made.register(uintptr(location(from)), uint64(to-from)))
				for i := from; free && i < to; i++ {
					registered[i] = from + 1
				}
			},
			"unregister": func(t *rapid.T) {
				i := position.Draw(t, "at")
				first := registered[i] == i+1
				require.Equal(t, first, made.unregister(uintptr(location(i))))
				for j := range registered {
					if first && registered[j] == i+1 {
						registered[j] = 0
					}
				}
			},
			"": func(t *rapid.T) {
				for i := range memory {
					a, retired := made.find(uintptr(location(i)))
					require.Same(t, owner[i], a, "byte %d", i)
					require.False(t, retired)
					require.Equal(t, registered[i] != 0, made.registered(uintptr(location(i))), "byte %d", i)
				}
			},
		})
	})
}
