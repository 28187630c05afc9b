package bestfit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzHeap reads two bytes for each operation: the first selects the operation, the
// second the run or the size.
func FuzzHeap(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 0, 3, 3, 1, 0, 1, 3, 0})
	f.Add([]byte{1, 9, 2, 200, 1, 9, 3, 0, 4, 1, 2, 100})
	f.Fuzz(func(t *testing.T, operations []byte) {
		var (
			h    heap
			live []*Node
		)
		for ; len(operations) >= 2; operations = operations[2:] {
			what, operand := operations[0], uint64(operations[1])
			bytes := uint64(0)
			switch what % 5 {
			case 0: // the sizes of an allocator
				bytes = (1 + operand) << 9
			case 1: // any small size
				bytes = 1 + operand*uint64(what)
			case 2: // any large size
				bytes = (1 + operand) << (10 + what/16)
			case 3, 4:
				if len(live) == 0 {
					continue
				}
				i := int(operand) % len(live)
				h.release(live[i])
				live[i] = live[len(live)-1]
				live = live[:len(live)-1]
				continue
			}
			best := bestFit(&h, bytes)
			require.Same(t, best, h.free.Find(&h.space, bytes))
			n := h.allocate(bytes)
			require.Equal(t, bytes, n.Bytes)
			if best != nil {
				require.Same(t, best, n)
			}
			live = append(live, n)
		}
		checkHeap(t, &h)
	})
}
