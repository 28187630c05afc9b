package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// ErrOther reports a column chunk that a [Decoder] does not decode: it has another encoding or
// compression.
var ErrOther = errors.New("the column chunk has another encoding")

// ErrLong reports rows with more text, or more elements of lists, than an array may have.
var ErrLong = errors.New("the rows are longer than an array may be")

// mostRows is the number of rows of an array at most. It limits the memory that a damaged header
// can claim.
const mostRows = 1 << 20

// Flat describes a column chunk of values.
type Flat struct {
	Column
	// Physical is the type of the values in the file, Width the length of those of
	// FixedLenByteArray.
	Physical parquetformat.Type
	Width    int
	// Type is that of the arrays. A dictionary of utf8 or binary with indices of int32 is the
	// file's dictionary, if that has all values.
	Type arrow.DataType
}

// Decodable reports whether a device may know the types and the compression of a column chunk. A [Decoder] knows more types.
func (f Flat) Decodable() bool {
	return f.MaxDefinition <= 1 && f.MaxRepetition == 0 && f.DecodableValues()
}

// DecodableValues is [Flat.Decodable] for a part of a list or a struct.
func (f Flat) DecodableValues() bool {
	return f.decompresses() && newValues(f) != nil
}

// decompresses reports whether a [Decoder] knows the compression.
func (f Flat) decompresses() bool {
	switch f.Codec {
	case parquetformat.Uncompressed, parquetformat.Snappy, parquetformat.Gzip, parquetformat.Brotli, parquetformat.Zstd, parquetformat.LZ4, parquetformat.LZ4Raw:
		return true
	}
	return false
}

// Decoder decodes a column chunk into arrays of its final type: it writes each value once, into
// the memory of the array.
type Decoder struct {
	about  Flat
	mem    arrowmemory.Allocator
	values values

	// data has the bytes of the column chunk, and plan the pages that were not begun. left is the
	// number of rows that were not returned.
	data []byte
	plan Plan
	left int64
	page flatPage
	// begun is the number of pages that were begun or left out.
	begun int
	// scratch has the current page without compression. Its memory is that of pooled, or a
	// larger one.
	scratch []byte
	pooled  *[]byte
	// rewritten has the plain values of the current page if it has another encoding.
	rewritten plainPage
	// hasDictionary is set after the dictionary page.
	hasDictionary bool
}

// scratches has memory for pages without compression, so that it is not cleared for each column
// chunk.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

// flatPage is the rest of a data page.
type flatPage struct {
	left int // rows, or entries of a leaf
	// levels are the definition levels. They are unused if the column has no nulls.
	levels, repetitions hybrid
	// values are the encoded values, of which taken are decoded, or the indices.
	values  []byte
	taken   int
	indexed bool
	indices hybrid
}

// NewDecoder returns a decoder of a column chunk, of which data has all bytes. Arrays have
// their memory from mem.
//
// # Ownership
//
// The decoder reads data until its last call. It holds no memory of mem between calls. Close
// keeps its other memory for other decoders.
//
// # Errors
//
// An error wraps [ErrOther] or [ErrDamaged].
func NewDecoder(data []byte, about Flat, mem arrowmemory.Allocator) (*Decoder, error) {
	if about.MaxDefinition > 1 || about.MaxRepetition > 0 {
		return nil, fmt.Errorf("a part of a list or a struct: %w", ErrOther)
	}
	d := &Decoder{}
	if err := d.open(data, about, mem); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *Decoder) open(data []byte, about Flat, mem arrowmemory.Allocator) (err error) {
	*d = Decoder{about: about, mem: mem, values: allValues(about), data: data, left: about.Values}
	if d.values == nil || !about.decompresses() {
		return fmt.Errorf("%v from %v, compressed by %v: %w", about.Type, about.Physical, about.Codec, ErrOther)
	}
	if d.plan, err = NewPlan(data, about.Column); err == nil {
		err = d.checkPlan()
	}
	if err != nil {
		return err
	}
	d.pooled = scratches.Get().(*[]byte)
	d.scratch = *d.pooled
	return nil
}

// Close ends the use of the decoder.
func (d *Decoder) Close() {
	if d.pooled != nil {
		*d.pooled = d.scratch
		scratches.Put(d.pooled)
	}
	*d = Decoder{}
}

// checkPlan checks that the pages have levels and values in encodings that the decoder knows.
func (d *Decoder) checkPlan() error {
	if err := d.plan.checkValues(d.about.Column); err != nil {
		return err
	}
	for i, page := range d.plan {
		if page.HasValues() && !page.Indexed() && !d.about.knows(page.Encoding) {
			return fmt.Errorf("page %d has values of encoding %d: %w", i, page.Encoding, ErrOther)
		}
	}
	return nil
}

// knows reports whether a [Decoder] knows an encoding of values without a dictionary.
func (f Flat) knows(encoding int) bool {
	return encoding == Plain || plainOf(encoding, f) != nil || encoding == RLE && f.Physical == parquetformat.Boolean
}

// Next decodes an array of the next rows: fewer than requested if that are more than a million,
// or if strings are longer than 2 GiB together. The caller releases it.
//
// # Errors
//
// An error wraps [ErrDamaged]. The decoder must not be used after it.
func (d *Decoder) Next(rows int64) (values arrow.Array, err error) {
	values, _, err = d.Pick([]Run{{Take: min(rows, d.left, mostRows)}})
	return values, err
}

// array returns the array of the values. It takes the memory of the validity, which may be nil without nulls.
func (d *Decoder) array(length, nulls int, validity []byte) arrow.Array {
	buffers := append([]*arrowmemory.Buffer{nil}, d.values.end(length)...)
	if d.about.Type.ID() == arrow.NULL {
		nulls = length
		d.mem.Free(validity)
	} else if nulls > 0 {
		buffers[0] = buffer(validity, (length+7)/8, d.mem)
	} else {
		d.mem.Free(validity)
	}
	data := array.NewData(d.about.Type, length, buffers, nil, nulls, 0)
	if v, ok := d.values.(*encoded); ok {
		dictionary := v.array(d.mem)
		data.SetDictionary(dictionary)
		dictionary.Release()
	}
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	defer data.Release()
	return array.MakeFromData(data)
}

// take decodes rows of the current page to a place of the array, and returns how many are valid.
func (d *Decoder) take(at, rows int, validity []byte) (valid int, err error) {
	valid = rows
	if d.about.MaxDefinition > 0 {
		if valid, err = d.page.levels.bits(validity, at, rows); err != nil {
			return 0, d.onPage(err)
		}
	}
	return valid, d.takeValues(at, rows, valid, validity)
}

// takeValues decodes the values of rows of which some are valid, as their bits are set.
func (d *Decoder) takeValues(at, rows, valid int, validity []byte) (err error) {
	if d.page.indexed {
		err = d.values.indexed(&d.page.indices, at, valid)
	} else {
		err = d.values.plain(d.page.values, d.page.taken, at, valid)
	}
	if err != nil {
		return d.onPage(err)
	}
	d.page.taken += valid
	if valid < rows {
		d.values.spread(at, rows, valid, validity)
	}
	return nil
}

// onPage adds the number of the current page to an error.
func (d *Decoder) onPage(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("page %d: %w", d.begun-1, err)
}

// nextPage begins the next data page. It reads the dictionary if that comes first.
func (d *Decoder) nextPage() error {
	page := d.plan[0]
	d.plan = d.plan[1:]
	d.begun++
	return d.onPage(d.beginPage(page))
}

func (d *Decoder) beginPage(page Page) error {
	body, err := page.Body(d.data)
	if err != nil {
		return err
	}
	switch page.Kind {
	case DictionaryPage:
		if d.hasDictionary || page.Encoding != Plain && page.Encoding != PlainDictionary {
			return fmt.Errorf("a second dictionary, or one of encoding %d: %w", page.Encoding, ErrDamaged)
		}
		d.hasDictionary = true
		plain, err := d.decompress(d.about.Codec, body, page.Uncompressed)
		if err != nil {
			return err
		}
		if plain, err = d.about.sized(plain); err != nil {
			return err
		}
		return d.values.dictionary(plain, page.Values)
	case DataPage, DataPage2:
		return d.begin(page, body)
	}
	return nil
}

// begin begins a data page.
func (d *Decoder) begin(h Page, body []byte) error {
	all, err := d.decompress(h.Codec(d.about.Column), body[h.Levels:], h.Uncompressed-h.Levels)
	if err != nil {
		return err
	}
	d.page = flatPage{left: int(h.Values)}
	if int64(d.page.left) != h.Values || h.Values > d.left {
		return fmt.Errorf("a page of %d values, the column chunk has %d more: %w", h.Values, d.left, ErrDamaged)
	}
	if all, err = d.page.cutLevels(h.Header, body[:h.Levels], all, d.about.Column); err != nil {
		return err
	}
	d.page.values = all
	switch {
	case h.Encoding == RLE:
		// An RLE page of booleans: the indices are the values.
		d.page.indexed = true
		d.page.indices.width = 1
		if len(all) > 0 {
			d.page.indices.data, _, err = cutLength(all)
		}
	case plainOf(h.Encoding, d.about) != nil:
		if err = plainOf(h.Encoding, d.about)(all, d.about, h.Values, &d.rewritten); err == nil {
			d.page.values, err = d.about.sized(d.rewritten.values)
		}
	case h.Encoding != Plain && len(all) > 0:
		d.page.indexed = true
		d.page.indices = hybrid{data: all[1:], width: int(all[0])}
		if all[0] > 32 {
			err = fmt.Errorf("indices of %d bits: %w", all[0], ErrDamaged)
		}
	case h.Encoding == Plain:
		d.page.values, err = d.about.sized(all)
	}
	return err
}

// decompress decompresses a page into the scratch memory. Some writers leave out the bytes of
// an empty page.
func (d *Decoder) decompress(codec parquetformat.Codec, body []byte, length int) ([]byte, error) {
	if length == 0 && len(body) == 0 {
		return nil, nil
	}
	plain, err := decompress(codec, body, length, d.scratch)
	if err == nil && codec != parquetformat.Uncompressed {
		d.scratch = plain
	}
	return plain, err
}

// cutLength divides data after bytes that follow their length.
func cutLength(data []byte) (first, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, thrift.ErrCut
	}
	length := uint64(binary.LittleEndian.Uint32(data))
	if length > uint64(len(data)-4) {
		return nil, nil, fmt.Errorf("levels of %d bytes in a page of %d: %w", length, len(data), ErrDamaged)
	}
	return data[4 : 4+length], data[4+length:], nil
}
