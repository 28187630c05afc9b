package sketch

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// errKLL reports bytes that are no sketch.
var errKLL = errors.New("the bytes are no KLL sketch of such values of DataSketches")

// The format of a KLL sketch: bytes of the preamble, and the beginning of the levels or of a single value.
const (
	atK, atWidth, atValues, atLeastK, atLevels           = 4, 6, 8, 16, 18
	atOffsets, atSingle                                  = 20, 8
	kllFamily                                            = 15
	kllFull, kllSingle, kllUpdatable                     = 1, 2, 3 // versions
	kllFlagEmpty, kllFlagSorted, kllFlagSingle, flagsPos = 1, 2, 4, 3
)

// bytes writes a sketch in the compact form.
func (s *kll[T]) bytes() []byte {
	b := make([]byte, atSingle, atOffsets+4*len(s.levels)+8*(2+s.retained()))
	b[atPreambleInts], b[atVersion], b[atFamily] = 2, kllFull, kllFamily
	binary.LittleEndian.PutUint16(b[atK:], uint16(s.k))
	b[atWidth] = byte(s.width)
	switch s.n {
	case 0:
		b[flagsPos] = kllFlagEmpty
		return b
	case 1:
		b[atVersion], b[flagsPos] = kllSingle, kllFlagSingle
		return s.form.write(b, s.min)
	}
	b[atPreambleInts] = 5
	b = binary.LittleEndian.AppendUint64(b, uint64(s.n))
	b = binary.LittleEndian.AppendUint16(b, uint16(s.leastK))
	b = append(b, byte(len(s.levels)), 0)
	offset := s.room // free places are before the levels
	for _, values := range s.levels {
		b = binary.LittleEndian.AppendUint32(b, uint32(offset))
		offset += len(values)
	}
	b = s.form.write(s.form.write(b, s.min), s.max)
	for _, values := range s.levels {
		for _, v := range values {
			b = s.form.write(b, v)
		}
	}
	return b
}

// parseKLL reads a sketch in the compact or the updatable form.
func parseKLL[T cmp.Ordered](b []byte, form valueForm[T]) (*kll[T], error) {
	if len(b) < atSingle || b[atFamily] != kllFamily {
		return nil, errKLL
	}
	k, width := int(binary.LittleEndian.Uint16(b[atK:])), int(b[atWidth])
	if width < 2 || width > levelWidth || width%2 != 0 || k < width {
		return nil, fmt.Errorf("%w: k is %d and m is %d, expected an even m of 2 to %d and no greater k", errKLL, k, width, levelWidth)
	}
	s := newKLL(k, form)
	s.width, s.levels = width, nil
	s.raise(1)
	version, flags := b[atVersion], b[flagsPos]
	switch {
	case version != kllFull && version != kllSingle && version != kllUpdatable:
		return nil, fmt.Errorf("%w: version %d, expected 1 to %d", errKLL, version, kllUpdatable)
	case flags&kllFlagEmpty != 0:
		return s, nil
	case version == kllSingle || version == kllFull && flags&kllFlagSingle != 0:
		return s, s.readSingle(b[atSingle:])
	case len(b) < atOffsets:
		return nil, errKLL
	}
	return s, s.readLevels(b, version == kllUpdatable)
}

func (s *kll[T]) readSingle(b []byte) error {
	s.form = s.form.sized(len(b), 1)
	v, rest, ok := s.form.read(b)
	if !ok || len(rest) > 0 || !s.form.isValue(v) {
		return fmt.Errorf("%w: the bytes of the value are %d", errKLL, len(b))
	}
	s.add(v)
	return nil
}

// readLevels reads a sketch of several values. The updatable form also has the end of the last level and the free places.
func (s *kll[T]) readLevels(b []byte, updatable bool) error {
	n, levels := binary.LittleEndian.Uint64(b[atValues:]), int(b[atLevels])
	s.leastK = int(binary.LittleEndian.Uint16(b[atLeastK:]))
	if n > mostValues || levels < 1 || levels > mostLevels || s.leastK < 2 || s.leastK > s.k { // of merged sketches the least k may be below m
		return fmt.Errorf("%w: %d values in %d levels, and the least k is %d", errKLL, n, levels, s.leastK)
	}
	s.n, s.levels = int64(n), nil
	s.raise(levels)
	places, free := s.places(), 0
	offsets, err := readOffsets(b[atOffsets:], levels, places)
	if err != nil {
		return err
	}
	s.room = offsets[0]
	b = b[atOffsets+4*levels:]
	if updatable {
		if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) != int64(places) {
			return errKLL
		}
		b, free = b[4:], s.room
	}
	return s.readValues(b, offsets, free)
}

// readOffsets reads the beginnings of the levels. The last one ends with the places.
func readOffsets(b []byte, levels, places int) ([]int, error) {
	if len(b) < 4*levels {
		return nil, errKLL
	}
	offsets := make([]int, levels+1)
	for i := range levels {
		offsets[i] = int(min(binary.LittleEndian.Uint32(b[4*i:]), math.MaxInt32))
	}
	offsets[levels] = places
	if !slices.IsSorted(offsets) {
		return nil, fmt.Errorf("%w: the levels begin at %v", errKLL, offsets)
	}
	return offsets, nil
}

// readValues reads the least and the greatest value, the free places, and the levels.
func (s *kll[T]) readValues(b []byte, offsets []int, free int) error {
	const least = 4 // bytes of a value
	stored := 2 + free + offsets[len(offsets)-1] - offsets[0]
	if len(b) < least*stored {
		return fmt.Errorf("%w: %d bytes of values, expected at least %d", errKLL, len(b), least*stored)
	}
	s.form = s.form.sized(len(b), stored)
	ok := true
	next := func() (v T) {
		if ok {
			v, b, ok = s.form.read(b)
		}
		return v
	}
	s.min, s.max = next(), next()
	for range free {
		next()
	}
	for level := range s.levels {
		s.levels[level] = make([]T, offsets[level+1]-offsets[level])
		for i := range s.levels[level] {
			s.levels[level][i] = next()
		}
	}
	if !ok || len(b) > 0 {
		return fmt.Errorf("%w: the values are incomplete, or %d bytes follow", errKLL, len(b))
	}
	return s.check()
}

// check compares the values that were read with their number and their extremes.
func (s *kll[T]) check() error {
	var n int64
	for level, values := range s.levels {
		if int64(len(values)) > mostValues>>level {
			return errKLL
		}
		n += int64(len(values)) << level
		if level > 0 && !slices.IsSorted(values) {
			return fmt.Errorf("%w: level %d is not sorted", errKLL, level)
		}
		for _, v := range values {
			if !(v >= s.min && v <= s.max) {
				return fmt.Errorf("%w: a value is not between the least and the greatest one", errKLL)
			}
		}
	}
	if n != s.n || n == 0 {
		return fmt.Errorf("%w: levels of %d values, expected %d", errKLL, n, s.n)
	}
	return nil
}
