package pages

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
)

// Rewrites reports whether arrow-go decodes a column chunk only after [Rewrite]: it has no decoder of
// values whose bytes are apart, and computes a wrong timestamp for one of 96 bits that 64 bits do not
// hold.
func Rewrites(physical parquet.Type, encodings []int) bool {
	if physical == parquet.Types.Int96 {
		return true
	}
	for _, encoding := range encodings {
		if encoding == ByteStreamSplit {
			return true
		}
	}
	return false
}

// Rewritten is a column chunk without compression.
type Rewritten struct {
	Pages []byte
	// Dictionary is the length of the dictionary page at the beginning, or 0.
	Dictionary int
}

// Rewrite returns a column chunk, of which data has all bytes, with plain values in place of encodings
// that a [Decoder] rewrites. Timestamps of 96 bits that 64 bits of nanoseconds do not hold become
// [NoInstant]. Levels and indices of a dictionary stay as they are. It calls [Check].
//
// # Errors
//
// An error wraps [ErrDamaged], or is that of a compression.
func Rewrite(data []byte, about Flat) (pages Rewritten, err error) {
	if err := Check(data, about.Column); err != nil {
		return pages, err
	}
	plan, err := NewPlan(data, about.Column)
	if err != nil {
		return pages, err
	}
	var scratch []byte
	var rewritten plainPage
	for i, page := range plan {
		if page.Kind == IndexPage {
			continue
		}
		h, codec := page.Header, page.Codec(about.Column)
		body, err := page.Body(data)
		if err != nil {
			return pages, fmt.Errorf("page %d: %w", i, err)
		}
		var values []byte
		if body, length := body[h.Levels:], h.Uncompressed-h.Levels; length > 0 || len(body) > 0 {
			if values, err = decompress(codec, body, length, scratch); err != nil {
				return pages, fmt.Errorf("page %d: %w", i, err)
			}
			if codec != compress.Codecs.Uncompressed {
				scratch = values
			}
		}
		if h.Kind == DictionaryPage {
			pages.Pages = appendPage(pages.Pages, h, nil, withoutFar(values, about, Plain))
			pages.Dictionary = len(pages.Pages)
			continue
		}
		var levels []byte
		if levels, values, err = h.cutLevels(body, values, about.Column); err != nil {
			return pages, fmt.Errorf("page %d: %w", i, err)
		}
		if plain := plainOf(h.Encoding, about); plain != nil {
			if err := plain(values, about, h.Values, &rewritten); err != nil {
				return pages, fmt.Errorf("page %d: %w", i, err)
			}
			h.Encoding, values = Plain, rewritten.values
		}
		pages.Pages = appendPage(pages.Pages, h, levels, withoutFar(values, about, h.Encoding))
	}
	return pages, nil
}

// cutLevels divides the bytes of a data page into the levels, as a DataPage has them, and the values.
func (h *Header) cutLevels(body, values []byte, c Column) (levels, rest []byte, err error) {
	if h.Kind == DataPage2 {
		repetition, definition := body[:h.RepetitionLevels], body[h.RepetitionLevels:h.Levels]
		for _, level := range []struct {
			most int16
			data []byte
		}{{c.MaxRepetition, repetition}, {c.MaxDefinition, definition}} {
			if level.most > 0 {
				levels = binary.LittleEndian.AppendUint32(levels, uint32(len(level.data)))
				levels = append(levels, level.data...)
			}
		}
		h.DefinitionEncoding, h.RepetitionEncoding = RLE, RLE
		return levels, values, nil
	}
	rest = values
	for _, level := range []struct {
		most     int16
		encoding int
	}{{c.MaxRepetition, h.RepetitionEncoding}, {c.MaxDefinition, h.DefinitionEncoding}} {
		switch length := (h.Values*int64(bits.Len16(uint16(level.most))) + 7) / 8; {
		case level.most == 0:
		case level.encoding == RLE:
			if _, rest, err = cutLength(rest); err != nil {
				return nil, nil, err
			}
		case length > int64(len(rest)):
			return nil, nil, fmt.Errorf("levels of %d bytes in a page of %d: %w", length, len(values), ErrDamaged)
		default:
			rest = rest[length:]
		}
	}
	return values[:len(values)-len(rest)], rest, nil
}

// [NoInstant] as a timestamp of 96 bits, in nanoseconds of the day and Julian days.
const (
	nanosOfDay  = 86_400_000_000_000
	noInstantAt = math.MinInt64/nanosOfDay - 1 // a day, rounded down
	noNanos     = math.MinInt64 - noInstantAt*nanosOfDay
	noDay       = julianEpoch + noInstantAt
)

// withoutFar returns plain values with [NoInstant] in place of timestamps of 96 bits that 64 bits do not
// hold. Other values are returned as they are.
func withoutFar(values []byte, about Flat, encoding int) []byte {
	const width = 12
	if about.Physical != parquet.Types.Int96 || encoding != Plain {
		return values
	}
	copied := false
	for at := 0; at+width <= len(values); at += width {
		if instant(values[at:][:width], nanosOfSecond) != NoInstant {
			continue
		}
		if !copied {
			values, copied = append([]byte(nil), values...), true
		}
		binary.LittleEndian.PutUint64(values[at:], noNanos)
		binary.LittleEndian.PutUint32(values[at+8:], noDay)
	}
	return values
}

// appendPage appends a page without compression: a dictionary, or a DataPage.
func appendPage(to []byte, h Header, levels, values []byte) []byte {
	const (
		number        = 1<<4 | typeInt32 // the field after the one before
		beforeData    = 2<<4 | typeStruct
		beforeIndices = 4<<4 | typeStruct
	)
	numbers := func(list ...int64) {
		for _, v := range list {
			to = binary.AppendVarint(append(to, number), v)
		}
	}
	length := int64(len(levels) + len(values))
	if h.Kind == DictionaryPage {
		numbers(DictionaryPage, length, length)
		to = append(to, beforeIndices)
		numbers(h.Values, Plain)
	} else {
		numbers(DataPage, length, length)
		to = append(to, beforeData)
		numbers(h.Values, int64(h.Encoding), int64(h.DefinitionEncoding), int64(h.RepetitionEncoding))
	}
	to = append(to, 0, 0)
	return append(append(to, levels...), values...)
}
