package pages

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
)

// Page is a page of a column chunk.
type Page struct {
	Header
	// At is the place in the column chunk of the bytes behind the header.
	At int
}

// Plan lists the pages of a column chunk, in order, up to that with its last value. Executors
// decode them: a [Decoder] on the host, package chunks on the device.
type Plan []Page

// NewPlan reads the headers of a column chunk's pages, of which data has all bytes.
//
// # Errors
//
// An error wraps [ErrDamaged]: a header that cannot be read, or pages with fewer values than the
// column chunk.
func NewPlan(data []byte, c Column) (plan Plan, err error) {
	for at, values := 0, int64(0); values < c.Values; {
		if at == len(data) {
			return nil, fmt.Errorf("the pages have %d values, the column chunk %d: %w", values, c.Values, ErrDamaged)
		}
		h, err := Read(data[at:])
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", len(plan), err)
		}
		at += h.Length
		if h.Compressed > len(data)-at {
			return nil, fmt.Errorf("page %d has %d bytes, the column chunk %d more: %w", len(plan), h.Compressed, len(data)-at, ErrDamaged)
		}
		plan = append(plan, Page{h, at})
		at += h.Compressed
		if h.HasValues() {
			values += h.Values
		}
	}
	return plan, nil
}

// HasValues reports whether the page is a data page.
func (h Header) HasValues() bool { return h.Kind == DataPage || h.Kind == DataPage2 }

// Indexed reports whether the values of the page are indices of a dictionary.
func (h Header) Indexed() bool { return h.Encoding == PlainDictionary || h.Encoding == RLEDictionary }

// Body returns the bytes of the page, after a check of their checksum.
func (p Page) Body(data []byte) ([]byte, error) {
	body := data[p.At : p.At+p.Compressed]
	return body, p.check(body)
}

// Codec returns the compression of the page's values in a column.
func (p Page) Codec(c Column) parquetformat.Codec {
	if p.Kind == DataPage2 && p.Stored {
		return parquetformat.Uncompressed
	}
	return c.Codec
}

// CheckLevels checks that the pages have as many values as the column chunk, and levels in the encoding that devices know.
func (p Plan) CheckLevels(c Column) error {
	for i, page := range p {
		if !page.HasValues() {
			continue
		}
		other := page.Kind == DataPage && (c.MaxDefinition > 0 && page.DefinitionEncoding != RLE || c.MaxRepetition > 0 && page.RepetitionEncoding != RLE)
		if other || page.RepetitionLevels > 0 && c.MaxRepetition == 0 {
			return fmt.Errorf("page %d has levels of encodings %d and %d, %d bytes of repetition levels: %w",
				i, page.DefinitionEncoding, page.RepetitionEncoding, page.RepetitionLevels, ErrOther)
		}
	}
	return p.checkValues(c)
}

// checkValues checks that the pages have as many values as the column chunk.
func (p Plan) checkValues(c Column) error {
	values := int64(0)
	for _, page := range p {
		if page.HasValues() {
			values += page.Values
		}
	}
	if values > c.Values {
		return fmt.Errorf("the pages have %d values, the column chunk %d: %w", values, c.Values, ErrDamaged)
	}
	return nil
}
