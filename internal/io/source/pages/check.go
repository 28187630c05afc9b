package pages

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet/compress"
)

// Column describes a column chunk.
type Column struct {
	// Codec is the compression of its pages.
	Codec compress.Compression
	// Values is the number of its values, nulls included.
	Values int64
	// MaxDefinition and MaxRepetition are the greatest levels of the column.
	MaxDefinition, MaxRepetition int16
}

const (
	// mostLoose is the width of indices up to which a page may have wider ones than its
	// dictionary needs, without a look at all of them.
	mostLoose = 16
	// mostDelta is the length of a block of delta encodings at most. Writers use 128 to
	// 4,096.
	mostDelta = 1 << 20
	// begin is the length of the values that Check reads of a page at first.
	begin = 40
)

// Check checks the claims of a column chunk's pages, of which data has all bytes. A chunk
// that passes can be damaged in other ways.
//
// # Errors
//
// An error wraps [ErrDamaged], or names a compression that arrow-go does not have.
func Check(data []byte, c Column) error {
	plan, err := NewPlan(data, c)
	if err != nil {
		return err
	}
	dictionary := int64(0)
	for i, page := range plan {
		body, err := page.Body(data)
		switch {
		case err != nil:
		case page.Kind == DictionaryPage:
			dictionary, err = page.Values, checkDictionary(page.Header, body, c)
		case page.HasValues():
			err = checkData(page, body, c, dictionary)
		}
		if err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
	}
	return nil
}

func checkDictionary(h Header, body []byte, c Column) error {
	if h.Values > 0 && h.Uncompressed == 0 {
		return fmt.Errorf("a dictionary of %d values in no bytes: %w", h.Values, ErrDamaged)
	}
	return checkSize(c.Codec, body, h.Uncompressed)
}

func checkData(h Page, body []byte, c Column, dictionary int64) error {
	c.Codec = h.Codec(c)
	body = body[h.Levels:]
	length := h.Uncompressed - h.Levels
	if length > 0 || len(body) > 0 {
		if err := checkSize(c.Codec, body, length); err != nil {
			return err
		}
	}
	switch h.Encoding {
	case PlainDictionary, RLEDictionary, DeltaBinaryPacked, DeltaLengthByteArray, DeltaByteArray:
	default:
		return nil
	}
	p := dataPage{Header: h.Header, body: body, codec: c.Codec, length: length}
	if err := p.skipLevels(c); err != nil {
		return err
	}
	values, err := p.read(begin)
	if err != nil {
		return err
	}
	if h.Indexed() {
		return p.checkIndices(values, dictionary)
	}
	return checkDelta(values, h.Values)
}

// dataPage is a page that is decompressed as far as necessary.
type dataPage struct {
	Header
	body   []byte
	codec  compress.Compression
	length int
	// skipped is the length of the levels within the compressed bytes.
	skipped int
}

// read returns the first n bytes after the levels, or all of them.
func (p *dataPage) read(n int) ([]byte, error) {
	start, err := prefix(p.codec, p.body, p.length, p.skipped+min(n, p.length))
	if err != nil {
		return nil, err
	}
	return start[min(p.skipped, len(start)):], nil
}

// skipLevels finds the length of the levels of a DataPage.
func (p *dataPage) skipLevels(c Column) error {
	if p.Kind != DataPage {
		return nil
	}
	for _, level := range []struct {
		most     int16
		encoding int
	}{{c.MaxRepetition, p.RepetitionEncoding}, {c.MaxDefinition, p.DefinitionEncoding}} {
		if level.most == 0 {
			continue
		}
		length := (p.Values*int64(bits.Len16(uint16(level.most))) + 7) / 8
		if level.encoding == RLE {
			head, err := p.read(4)
			if err != nil {
				return err
			}
			if len(head) < 4 {
				return errCut
			}
			length = int64(binary.LittleEndian.Uint32(head)) + 4
		}
		if length > int64(p.length-p.skipped) {
			return fmt.Errorf("levels of %d bytes in a page of %d: %w", length, p.length, ErrDamaged)
		}
		p.skipped += int(length)
	}
	return nil
}

// checkIndices checks the indices of a page, of which it gets the first bytes.
func (p *dataPage) checkIndices(values []byte, dictionary int64) error {
	if len(values) == 0 {
		return nil // all values are null
	}
	width := int(values[0])
	if width > 32 {
		return fmt.Errorf("indices of %d bits: %w", width, ErrDamaged)
	}
	if width <= max(mostLoose, bits.Len64(uint64(dictionary))) {
		return nil
	}
	all, err := p.read(p.length)
	if err != nil {
		return err
	}
	return eachIndex(all[1:], width, p.Values, func(index uint32) error {
		if int64(index) >= dictionary {
			return fmt.Errorf("index %d of a dictionary of %d values: %w", index, dictionary, ErrDamaged)
		}
		return nil
	})
}

// eachIndex calls f for the indices of a page, each run of equal ones once.
func eachIndex(data []byte, width int, most int64, f func(uint32) error) error {
	for most > 0 && len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 || head>>1 == 0 {
			return errCut
		}
		data = data[n:]
		if head&1 == 0 {
			length := (width + 7) / 8
			if length > len(data) {
				return errCut
			}
			var index uint32
			for i := range length {
				index |= uint32(data[i]) << (8 * i)
			}
			if err := f(index); err != nil {
				return err
			}
			data = data[length:]
			most -= int64(min(head>>1, uint64(most)))
			continue
		}
		groups := int(min(head>>1, uint64(most+7)/8)) // of eight
		for i := 0; i < groups*8 && most > 0; i++ {
			if (i+1)*width > len(data)*8 {
				return errCut
			}
			if err := f(bitsAt(data, i*width, width)); err != nil {
				return err
			}
			most--
		}
		data = data[min(groups*width, len(data)):]
	}
	return nil
}

// bitsAt returns the bits from a place on.
func bitsAt(data []byte, at, width int) (v uint32) {
	for i := range width {
		v |= uint32(data[(at+i)/8]>>((at+i)%8)&1) << i
	}
	return v
}

// checkDelta checks the head of a delta encoding.
func checkDelta(values []byte, most int64) error {
	if len(values) == 0 {
		return nil
	}
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(values)
		if n <= 0 {
			return errCut
		}
		head[i], values = v, values[n:]
	}
	block, parts, total := head[0], head[1], head[2]
	if total == 0 { // of nulls only: arrow-go writes no sizes then
		return nil
	}
	if block == 0 || block > mostDelta || parts == 0 || parts > block || block%parts != 0 || total > uint64(most) {
		return fmt.Errorf("delta encoding of %d values in blocks of %d in %d parts, the page has %d values: %w", total, block, parts, most, ErrDamaged)
	}
	return nil
}
