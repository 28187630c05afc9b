package bitmap

import (
	"encoding/binary"
	"errors"
)

// onProcessor runs a conversion on the host, after the earlier work of the stream. The
// result is complete when it returns, so it records no use.
func (w work) onProcessor(convert func(to, from []byte)) error {
	if err := w.stream.Enqueue(w.stream.Device().Driver().StreamSynchronize); err != nil {
		return err
	}
	to, toErr := w.to.Host()
	from, fromErr := w.from.Host()
	if err := errors.Join(toErr, fromErr); err != nil {
		return err
	}
	convert(to, from)
	return nil
}

// spread returns the bits of a byte as eight bytes of 0 or 1.
func spread(bits byte) uint64 {
	// Copies of the low seven bits are seven bits apart, so that bit i of copy i is at
	// 8i. The copies of the top bit would overlap them, so it is added separately.
	low := uint64(bits&0x7f) * 0x0000040810204081
	return low&0x0101010101010101 | uint64(bits>>7)<<56
}

// expand reads whole bytes, shifted by the offset, and converts the rest bit by bit.
func expand(to, from []byte, offset, n int) {
	from, shift := from[offset/8:], uint(offset%8)
	i := 0
	for ; i+8 <= n; i += 8 {
		bits := from[i/8] >> shift
		if shift != 0 {
			bits |= from[i/8+1] << (8 - shift)
		}
		binary.LittleEndian.PutUint64(to[i:], spread(bits))
	}
	for ; i < n; i++ {
		at := uint(i) + shift
		to[i] = from[at/8] >> (at % 8) & 1
	}
}

func pack(to, from []byte, n int) {
	for i := 0; i < n; i += 8 {
		var bits byte
		for bit, value := range from[i:min(i+8, n)] {
			if value != 0 {
				bits |= 1 << bit
			}
		}
		to[i/8] = bits
	}
}
