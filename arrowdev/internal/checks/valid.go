package checks

import (
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/memory"
)

// Valid adds a count of the n slots that are not null, which [Results.Valid] returns.
// Unless nulls is negative it also checks that exactly nulls slots are null. Without a
// bitmap no slot is null.
func (b *Batch) Valid(name string, validity Validity, n int, nulls int64) Check {
	e := entry{name: name, known: outcome{first: int64(n)}}
	bits, offset, err := validity.bytes(n)
	e.err = err
	if bits.Len() > 0 && n > 0 {
		e.check = validBits{bits, n, offset}
	}
	if nulls >= 0 {
		e.conclude = func(o outcome) *ElementError {
			if count := int64(n) - o.first; count != nulls {
				return &ElementError{Index: -1, Value: count, Reason: fmt.Sprintf("%d of %d elements are null, not the %d it says", count, n, nulls)}
			}
			return nil
		}
	}
	return b.add(e)
}

type validBits struct {
	bits      Buffer
	n, offset int
}

func (c validBits) reads() []Buffer { return []Buffer{c.bits} }

func (c validBits) table() []int64 { return nil }

func (c validBits) kernel(_, result memory.Slice[int64]) launch {
	return launch{validModule, loads(c.bits.Bytes()), []any{c.bits, uint64(c.offset), uint64(c.n), result}}
}

func (c validBits) onHost(read [][]byte) outcome {
	// All bytes are counted whole, and the excess bits are subtracted.
	count := 0
	for _, b := range read[0] {
		count += bits.OnesCount8(b)
	}
	last := len(read[0]) - 1
	beyond := 8*len(read[0]) - c.offset - c.n
	count -= bits.OnesCount8(read[0][0] & (1<<c.offset - 1))
	count -= bits.OnesCount8(read[0][last] >> (8 - beyond))
	return outcome{bad: -1, first: int64(count)}
}

func (c validBits) peek(int) []span { return nil }

func (c validBits) explain(int, [][]byte) (int64, string) { return 0, "" }
