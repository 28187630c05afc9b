// Package rows has sets of rows of files, such as those that deletion vectors have.
package rows

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Set is a set of numbers of rows. It is safe for concurrent use once it is complete.
type Set struct {
	keys    []uint32
	buckets []*roaring.Bitmap
}

// Of returns the set of numbers, none of which is negative. It is fast for numbers in order.
func Of(numbers iter.Seq[int64]) *Set {
	s := &Set{}
	for number := range numbers {
		s.bucket(uint32(number >> 32)).Add(uint32(number))
	}
	return s
}

// bucket returns the bitmap of the rows with the upper 32 bits.
func (s *Set) bucket(key uint32) *roaring.Bitmap {
	index, ok := slices.BinarySearch(s.keys, key)
	if !ok {
		s.keys = slices.Insert(s.keys, index, key)
		s.buckets = slices.Insert(s.buckets, index, roaring.New())
	}
	return s.buckets[index]
}

// Merge adds the rows of another set.
func (s *Set) Merge(other *Set) {
	merged := &Set{}
	for i, j := 0, 0; i < len(s.keys) || j < len(other.keys); {
		switch {
		case j == len(other.keys) || i < len(s.keys) && s.keys[i] < other.keys[j]:
			merged.keys, merged.buckets = append(merged.keys, s.keys[i]), append(merged.buckets, s.buckets[i])
			i++
		case i == len(s.keys) || other.keys[j] < s.keys[i]:
			merged.keys, merged.buckets = append(merged.keys, other.keys[j]), append(merged.buckets, other.buckets[j].Clone())
			j++
		default:
			s.buckets[i].Or(other.buckets[j])
			merged.keys, merged.buckets = append(merged.keys, s.keys[i]), append(merged.buckets, s.buckets[i])
			i, j = i+1, j+1
		}
	}
	*s = *merged
}

// Len is the number of rows.
func (s *Set) Len() (n int64) {
	for _, bucket := range s.buckets {
		n += int64(bucket.GetCardinality())
	}
	return n
}

// Between returns the rows in [first, end), in order.
func (s *Set) Between(first, end int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i, key := range s.keys {
			base := int64(key) << 32
			if base >= end || base+math.MaxUint32 < first {
				continue
			}
			rows := s.buckets[i].Iterator()
			if first > base {
				rows.AdvanceIfNeeded(uint32(first - base))
			}
			for rows.HasNext() {
				row := base + int64(rows.Next())
				if row >= end || !yield(row) {
					return
				}
			}
		}
	}
}

// ParseList decodes a list of bitmaps of 32 bits with their lengths: the first one has the rows below 2³², the next one those
// behind them.
//
// # Errors
//
// They are those of [Parse].
func ParseList(data []byte, order binary.ByteOrder) (s *Set, err error) {
	defer recovered(&s, &err)
	if len(data) < 4 {
		return nil, fmt.Errorf("the bitmap has %d bytes, expected at least 4", len(data))
	}
	buckets := order.Uint32(data)
	data = data[4:]
	s = &Set{}
	for key := range buckets {
		if len(data) < 4 || uint64(len(data)-4) < uint64(order.Uint32(data)) {
			return nil, fmt.Errorf("bucket %d ends early", key)
		}
		end := 4 + int(order.Uint32(data))
		if _, err := s.addBucket(key, data[4:end]); err != nil {
			return nil, err
		}
		data = data[end:]
	}
	return s, nil
}

func recovered(s **Set, err *error) {
	if reason := recover(); reason != nil {
		*s, *err = nil, fmt.Errorf("the bitmap cannot be decoded: %v", reason)
	}
}

// addBucket decodes the bitmap of a bucket, and returns its length.
func (s *Set) addBucket(key uint32, data []byte) (int64, error) {
	bucket := roaring.New()
	read, err := bucket.ReadFrom(bytes.NewReader(data))
	if err == nil && !bucket.IsEmpty() {
		err = bucket.Validate()
	}
	if err != nil {
		return 0, fmt.Errorf("bucket %d: %w", len(s.keys), err)
	}
	s.keys, s.buckets = append(s.keys, key), append(s.buckets, bucket)
	return read, nil
}

// Parse decodes the portable format of Roaring bitmaps of 64 bits: a number of buckets, and for each one the upper 32 bits and
// a bitmap of the lower 32.
//
// # Errors
//
// The bytes end early, go on behind the last bucket, or are no valid bitmaps; the upper bits are not in order.
func Parse(data []byte) (s *Set, err error) {
	defer recovered(&s, &err)
	if len(data) < 8 {
		return nil, fmt.Errorf("the bitmap has %d bytes, expected at least 8", len(data))
	}
	buckets := binary.LittleEndian.Uint64(data)
	data = data[8:]
	if buckets > uint64(len(data)/8) {
		return nil, fmt.Errorf("the bitmap has %d buckets in %d bytes", buckets, len(data))
	}
	s = &Set{}
	for range buckets {
		if len(data) < 4 {
			return nil, fmt.Errorf("bucket %d has no key", len(s.keys))
		}
		key := binary.LittleEndian.Uint32(data)
		if last := len(s.keys) - 1; key > math.MaxInt32 || last >= 0 && key <= s.keys[last] {
			return nil, fmt.Errorf("bucket %d has the key %d, which is out of order", len(s.keys), key)
		}
		read, err := s.addBucket(key, data[4:])
		if err != nil {
			return nil, err
		}
		data = data[4+read:]
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%d bytes are behind the bitmap", len(data))
	}
	return s, nil
}
