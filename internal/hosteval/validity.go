package hosteval

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/bitutil"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// validity says which rows are not null.
type validity struct {
	bits    []byte // nil: all or none
	offset  int
	nothing bool // none
}

func (v validity) ok(i int) bool {
	if v.bits == nil {
		return !v.nothing
	}
	return bitutil.BitIsSet(v.bits, v.offset+i)
}

// eight returns the bits of eight rows from row i on. What is beyond the bitmap is
// zero.
func (v validity) eight(i int) byte {
	at := v.offset + i
	low := v.bits[at>>3] >> (at & 7)
	if at&7 != 0 && at>>3+1 < len(v.bits) {
		low |= v.bits[at>>3+1] << (8 - at&7)
	}
	return low
}

// intersect returns the bitmap of the rows that are null nowhere, nil where that is
// all of them, and how many rows are null.
func intersect(operands []validity, rows int) (*arrowmemory.Buffer, int) {
	var made []byte
	for _, operand := range operands {
		if operand.bits == nil {
			continue
		}
		first := made == nil
		if first {
			made = make([]byte, bitutil.BytesForBits(int64(rows)))
		}
		for i := range made {
			if first {
				made[i] = operand.eight(8 * i)
			} else {
				made[i] &= operand.eight(8 * i)
			}
		}
	}
	if made == nil {
		return nil, 0
	}
	if rest := rows % 8; rest != 0 {
		made[len(made)-1] &= 1<<rest - 1
	}
	valid := 0
	for _, b := range made {
		valid += bits.OnesCount8(b)
	}
	if valid == rows {
		return nil, 0
	}
	return arrowmemory.NewBufferBytes(made), rows - valid
}
