package pages

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// mostDictionary is the length of a dictionary that Dictionary decodes.
const mostDictionary = 16 << 20

// Dictionary calls f with the plain bytes of each value of the dictionary page at the
// beginning of data. Values are width bytes long, or preceded by their length if width is
// zero. f must not keep the bytes.
//
// # Errors
//
// An error wraps [ErrDamaged] or is that of f. A page that is no dictionary of plain values
// is an error too.
func Dictionary(data []byte, c Column, width int, f func(value []byte) error) error {
	h, err := Read(data)
	if err != nil {
		return err
	}
	if h.Kind != DictionaryPage || h.Encoding != Plain && h.Encoding != PlainDictionary || h.Compressed > len(data)-h.Length || h.Uncompressed > mostDictionary {
		return fmt.Errorf("a page of kind %d, encoding %d, %d of %d bytes is no dictionary that can be read: %w", h.Kind, h.Encoding, h.Compressed, len(data)-h.Length, ErrDamaged)
	}
	body := data[h.Length : h.Length+h.Compressed]
	if err := checkSize(c.Codec, body, h.Uncompressed); err != nil {
		return err
	}
	values, err := prefix(c.Codec, body, h.Uncompressed, h.Uncompressed)
	if err != nil {
		return err
	}
	for i := range h.Values {
		length := width
		if width == 0 {
			if len(values) < 4 {
				return fmt.Errorf("value %d of a dictionary of %d: %w", i, h.Values, thrift.ErrCut)
			}
			length = int(binary.LittleEndian.Uint32(values))
			values = values[4:]
		}
		if length > len(values) {
			return fmt.Errorf("value %d of a dictionary of %d: %w", i, h.Values, thrift.ErrCut)
		}
		if err := f(values[:length]); err != nil {
			return err
		}
		values = values[length:]
	}
	return nil
}

// Bloom is a split-block Bloom filter in a file.
type Bloom struct {
	file   io.ReaderAt
	begin  int64
	blocks uint64
}

// MostFilterHeader is the length of the header of a filter at most.
const MostFilterHeader = 64

// Fields of a filter's header, and the length of a block.
const (
	filterLength      = 1
	filterAlgorithm   = 2
	filterHash        = 3
	filterCompression = 4

	blockLength = 32
)

// NewBloom reads the header of the filter at an offset of a file of size bytes.
//
// # Ownership
//
// The filter reads the file in each call.
//
// # Errors
//
// An error wraps [ErrDamaged] or is that of the file. A filter of another algorithm, hash or
// compression than the format defines today is an error too.
func NewBloom(file io.ReaderAt, offset, size int64) (*Bloom, error) {
	if offset < 0 || offset >= size {
		return nil, fmt.Errorf("a filter at byte %d of %d: %w", offset, size, ErrDamaged)
	}
	head := make([]byte, min(MostFilterHeader, size-offset))
	if _, err := file.ReadAt(head, offset); err != nil && err != io.EOF {
		return nil, err
	}
	d := thrift.Decoder{Data: head}
	about, err := d.Object(thrift.MostDepth)
	if err != nil {
		return nil, err
	}
	for _, part := range []int{filterAlgorithm, filterHash, filterCompression} {
		if _, known := about[part].Fields[1]; !known {
			return nil, fmt.Errorf("a filter of an unknown kind: %w", ErrDamaged)
		}
	}
	length := about[filterLength].Number
	begin := offset + int64(d.At)
	if length < blockLength || length%blockLength != 0 || length > size-begin {
		return nil, fmt.Errorf("a filter of %d bytes at byte %d of %d: %w", length, begin, size, ErrDamaged)
	}
	return &Bloom{file: file, begin: begin, blocks: uint64(length / blockLength)}, nil
}

// salts choose one bit in each word of a block, as the format defines them.
var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// BloomBits returns the block of a Bloom filter that a hash belongs to, and the bits of each word there
// that it sets.
func BloomBits(hash, blocks uint64) (block uint64, words [8]uint32) {
	for i, salt := range salts {
		words[i] = 1 << (uint32(hash) * salt >> 27)
	}
	return (hash >> 32) * blocks >> 32, words
}

// Has reports whether a value can be in the column chunk, by the XXH64 hash of its plain
// bytes: false means that it is not.
func (b *Bloom) Has(hash uint64) (bool, error) {
	var block [blockLength]byte
	place, words := BloomBits(hash, b.blocks)
	if _, err := b.file.ReadAt(block[:], b.begin+int64(place)*blockLength); err != nil && err != io.EOF {
		return false, err
	}
	for i, word := range words {
		if binary.LittleEndian.Uint32(block[4*i:])&word == 0 {
			return false, nil
		}
	}
	return true, nil
}
