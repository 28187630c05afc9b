package pages

import (
	"fmt"
	"hash/crc32"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// Kinds of pages, as the format numbers them.
const (
	DataPage       = 0
	IndexPage      = 1
	DictionaryPage = 2
	DataPage2      = 3
)

// Encodings, as the format numbers them.
const (
	Plain                = 0
	PlainDictionary      = 2
	RLE                  = 3
	BitPacked            = 4
	DeltaBinaryPacked    = 5
	DeltaLengthByteArray = 6
	DeltaByteArray       = 7
	RLEDictionary        = 8
	ByteStreamSplit      = 9
)

// Header describes a page.
type Header struct {
	// Kind is that of the page.
	Kind int
	// Length is that of the header itself. Compressed and Uncompressed are the lengths
	// of the page after it.
	Length, Compressed, Uncompressed int
	// Values is the number of values, nulls included.
	Values int64
	// Encoding is that of the values.
	Encoding int
	// DefinitionEncoding and RepetitionEncoding are those of the levels of a DataPage.
	DefinitionEncoding, RepetitionEncoding int
	// Levels is the length of the levels before the values of a DataPage2, which are
	// never compressed.
	Levels int
	// RepetitionLevels is the length of those of them that are repetition levels, which come
	// first.
	RepetitionLevels int
	// Checksum is the CRC-32 of the page after the header, if HasChecksum is set.
	Checksum    uint32
	HasChecksum bool
	// Stored reports that the values of a DataPage2 are not compressed.
	Stored bool
}

// ChecksumError is the error of a page whose checksum is not that of its header.
func ChecksumError(sum, header uint32) error {
	return fmt.Errorf("the checksum of a page is %08x, by its header %08x: %w", sum, header, ErrDamaged)
}

// check compares the checksum of a page, if it has one.
func (h Header) check(body []byte) error {
	if !h.HasChecksum {
		return nil
	}
	if sum := crc32.ChecksumIEEE(body); sum != h.Checksum {
		return ChecksumError(sum, h.Checksum)
	}
	return nil
}

// Read decodes the header of the page at the beginning of data.
func Read(data []byte) (Header, error) {
	d := thrift.Decoder{Data: data}
	page, err := d.Object(thrift.MostDepth)
	if err != nil {
		return Header{}, err
	}
	h := Header{Kind: int(page[1].Number), Length: d.At, Uncompressed: int(page[2].Number), Compressed: int(page[3].Number)}
	checksum, hasChecksum := page[4]
	h.Checksum, h.HasChecksum = uint32(checksum.Number), hasChecksum
	about := thrift.Object{}
	switch h.Kind {
	case DataPage:
		about = page[5].Fields
		h.Encoding, h.DefinitionEncoding, h.RepetitionEncoding = int(about[2].Number), int(about[3].Number), int(about[4].Number)
	case DictionaryPage:
		about = page[7].Fields
		h.Encoding = int(about[2].Number)
	case DataPage2:
		about = page[8].Fields
		h.Encoding = int(about[4].Number)
		definition, repetition := about[5].Number, about[6].Number
		if definition < 0 || repetition < 0 || definition > int64(h.Uncompressed) || repetition > int64(h.Uncompressed)-definition ||
			definition+repetition > int64(h.Compressed) {
			return Header{}, fmt.Errorf("levels of %d and %d bytes in a page of %d: %w", definition, repetition, h.Uncompressed, ErrDamaged)
		}
		h.Levels, h.RepetitionLevels = int(definition+repetition), int(repetition)
		compressed, hasFlag := about[7]
		h.Stored = hasFlag && compressed.Number == 0
	}
	h.Values = about[1].Number
	if about == nil || h.Values < 0 || h.Compressed < 0 || h.Uncompressed < 0 {
		return Header{}, fmt.Errorf("a page of %d values, %d bytes, uncompressed %d: %w", h.Values, h.Compressed, h.Uncompressed, ErrDamaged)
	}
	return h, nil
}
