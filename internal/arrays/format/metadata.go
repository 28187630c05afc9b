package format

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
)

// lengthBytes is the size of a count or a length in a blob.
const lengthBytes = 4

// EncodeMetadata returns the blob of metadata in the byte order of this machine, or nil
// for empty metadata.
func EncodeMetadata(metadata arrow.Metadata) ([]byte, error) {
	keys, values := metadata.Keys(), metadata.Values()
	if len(keys) == 0 {
		return nil, nil
	}
	if len(keys) > MaximumPairs {
		return nil, fmt.Errorf("%d pairs are more than %d: %w", len(keys), MaximumPairs, ErrUnsupported)
	}
	total := lengthBytes
	for i := range keys {
		total += 2*lengthBytes + len(keys[i]) + len(values[i])
		if total > MaximumMetadata {
			return nil, fmt.Errorf("the pairs take more than %d bytes: %w", MaximumMetadata, ErrUnsupported)
		}
	}
	blob := binary.NativeEndian.AppendUint32(make([]byte, 0, total), uint32(len(keys)))
	for i := range keys {
		for _, text := range [...]string{keys[i], values[i]} {
			blob = binary.NativeEndian.AppendUint32(blob, uint32(len(text)))
			blob = append(blob, text...)
		}
	}
	return blob, nil
}

// DecodeMetadata reads the blob at the start of bytes, copies it, and returns its
// length. The error names the invalid pair and wraps [ErrInvalid].
func DecodeMetadata(bytes []byte) (metadata arrow.Metadata, length int, err error) {
	return decode(func(from, count int) ([]byte, bool) {
		if count > len(bytes)-from {
			return nil, false
		}
		return bytes[from : from+count], true
	})
}

// ReadMetadata is [DecodeMetadata] for a blob in C memory of unknown length. Nil is a
// blob without pairs. The memory must contain the bytes that the blob's lengths claim;
// ReadMetadata reads at most [MaximumMetadata] of them.
func ReadMetadata(blob unsafe.Pointer) (metadata arrow.Metadata, length int, err error) {
	if blob == nil {
		return arrow.Metadata{}, 0, nil
	}
	return decode(func(from, count int) ([]byte, bool) {
		if count == 0 {
			// The pointer may be past the end of the blob.
			return nil, true
		}
		return unsafe.Slice((*byte)(unsafe.Add(blob, from)), count), true
	})
}

// reader returns count bytes of a blob from an offset, or false if the blob is shorter.
type reader func(from, count int) ([]byte, bool)

func decode(read reader) (arrow.Metadata, int, error) {
	d := decoder{read: read}
	pairs, err := d.number(MaximumPairs)
	if err != nil {
		return arrow.Metadata{}, 0, fmt.Errorf("number of pairs: %w", err)
	}
	var keys, values []string
	for i := range pairs {
		key, err := d.text()
		if err != nil {
			return arrow.Metadata{}, 0, fmt.Errorf("key %d: %w", i, err)
		}
		value, err := d.text()
		if err != nil {
			return arrow.Metadata{}, 0, fmt.Errorf("value %d: %w", i, err)
		}
		keys, values = append(keys, key), append(values, value)
	}
	return arrow.NewMetadata(keys, values), d.used, nil
}

type decoder struct {
	read reader
	used int
}

func (d *decoder) take(count int) ([]byte, error) {
	if count > MaximumMetadata-d.used {
		return nil, fmt.Errorf("the metadata have more than %d bytes: %w", MaximumMetadata, ErrInvalid)
	}
	bytes, ok := d.read(d.used, count)
	if !ok {
		return nil, fmt.Errorf("the metadata end before byte %d: %w", d.used+count, ErrInvalid)
	}
	d.used += count
	return bytes, nil
}

func (d *decoder) number(most int) (int, error) {
	bytes, err := d.take(lengthBytes)
	if err != nil {
		return 0, err
	}
	value := int32(binary.NativeEndian.Uint32(bytes))
	if value < 0 || int64(value) > int64(most) {
		return 0, fmt.Errorf("%d is not from 0 to %d: %w", value, most, ErrInvalid)
	}
	return int(value), nil
}

func (d *decoder) text() (string, error) {
	length, err := d.number(MaximumMetadata)
	if err != nil {
		return "", fmt.Errorf("length: %w", err)
	}
	bytes, err := d.take(length)
	return string(bytes), err
}
