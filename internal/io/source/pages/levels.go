package pages

import (
	"fmt"
	"math/bits"
)

// cutLevels divides the levels of a page from its values, which it returns. before are the bytes before the values of a
// DataPage2, all the others without compression.
func (p *flatPage) cutLevels(h Header, before, all []byte, c Column) (values []byte, err error) {
	p.repetitions.width, p.levels.width = bits.Len16(uint16(c.MaxRepetition)), bits.Len16(uint16(c.MaxDefinition))
	if h.Kind == DataPage2 {
		p.repetitions.data, p.levels.data = before[:h.RepetitionLevels], before[h.RepetitionLevels:]
		return all, nil
	}
	for _, part := range []struct {
		levels   *hybrid
		encoding int
	}{{&p.repetitions, h.RepetitionEncoding}, {&p.levels, h.DefinitionEncoding}} {
		switch {
		case part.levels.width == 0:
		case part.encoding == RLE:
			part.levels.data, all, err = cutLength(all)
		case part.encoding == BitPacked:
			all, err = part.levels.cutPacked(all, h.Values)
		default:
			err = fmt.Errorf("levels of encoding %d: %w", part.encoding, ErrOther)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// cutPacked takes levels as files of before 2014 have them: without runs, the bits of each level and of each byte from
// the most significant one.
func (h *hybrid) cutPacked(data []byte, values int64) (rest []byte, err error) {
	if values > int64(len(data))*8/int64(h.width) {
		return nil, fmt.Errorf("%d levels of %d bits in a page of %d bytes: %w", values, h.width, len(data), ErrDamaged)
	}
	length := (int(values)*h.width + 7) / 8
	h.packed, h.left = make([]byte, length), int(values)
	for i := range int(values) * h.width {
		bit := data[i>>3] >> (7 - i&7) & 1
		to := i - i%h.width + h.width - 1 - i%h.width
		h.packed[to>>3] |= bit << (to & 7)
	}
	return data[length:], nil
}

// numbers decodes numbers that are at most the given one.
func (h *hybrid) numbers(to []uint32, most uint32) error {
	for len(to) > 0 {
		data, at, taken, err := h.part(len(to))
		if err != nil {
			return err
		}
		part, greatest := to[:taken], h.value
		if data == nil {
			for i := range part {
				part[i] = h.value
			}
		} else {
			unpack(part, data, at, h.width)
			for _, number := range part {
				greatest = max(greatest, number)
			}
		}
		if greatest > most {
			return fmt.Errorf("a level of %d, the greatest of the column is %d: %w", greatest, most, ErrDamaged)
		}
		to = to[taken:]
	}
	return nil
}
