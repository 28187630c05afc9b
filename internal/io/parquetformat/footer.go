package parquetformat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// ErrEncrypted reports a file with an encrypted footer.
var ErrEncrypted = errors.New("the footer of the file is encrypted")

// Magic is how files begin and end.
const Magic = "PAR1"

// File is the content of the footer of a file.
type File struct {
	Schema *Schema
	// Rows is the number of rows.
	Rows int64
	// Groups are the row groups.
	Groups []RowGroup
	// Entries are pairs of keys and values.
	Entries []Entry
	// CreatedBy is the writer, or empty.
	CreatedBy string
}

// Entry is a key with its value.
type Entry struct{ Key, Value string }

// Value returns the value of a key.
func (f *File) Value(key string) (value string, ok bool) {
	for _, e := range f.Entries {
		if e.Key == key {
			return e.Value, true
		}
	}
	return "", false
}

// RowGroup has a column chunk for each of the schema's columns.
type RowGroup struct {
	Chunks []Chunk
	Rows   int64
}

// Chunk is the description of a column chunk.
type Chunk struct {
	Codec     Codec
	Encodings []int
	// Counts are the numbers of pages by their kind and encoding, or none.
	Counts []PageCount
	// Values counts nulls too.
	Values int64
	// Uncompressed and Compressed are the lengths of the pages with their headers.
	Uncompressed, Compressed int64
	// DataPage and DictionaryPage are places in the file.
	DataPage, DictionaryPage int64
	HasDictionary            bool
	// Bloom is the place of the Bloom filter.
	Bloom    int64
	HasBloom bool
	// ColumnIndex and OffsetIndex are the places of the page index. Its parts have no length if the
	// file lacks them.
	ColumnIndex, OffsetIndex Place
	// Statistics is nil without any.
	Statistics  *Statistics
	IsEncrypted bool
}

// Start returns the place of the first page.
func (c *Chunk) Start() int64 {
	if c.HasDictionary && c.DictionaryPage > 0 {
		return min(c.DataPage, c.DictionaryPage)
	}
	return c.DataPage
}

// PageCount is the number of pages of a kind with an encoding.
type PageCount struct{ Kind, Encoding, Count int }

// Place is a part of a file. It is known if the file has both numbers.
type Place struct {
	Offset    int64
	Length    int32
	hasOffset bool
	hasLength bool
}

// IsKnown reports whether the footer has the place.
func (p Place) IsKnown() bool { return p.hasOffset && p.hasLength }

// ReadTail returns the bytes of a file's footer.
//
// # Errors
//
// An error wraps [thrift.ErrDamaged] or [ErrEncrypted], or is that of the reader.
func ReadTail(file io.ReaderAt, size int64) ([]byte, error) {
	if size < 12 {
		return nil, fmt.Errorf("a file of %d bytes is too short for the format: %w", size, thrift.ErrDamaged)
	}
	tail := make([]byte, 8)
	if _, err := file.ReadAt(tail, size-8); err != nil {
		return nil, err
	}
	switch length := int64(binary.LittleEndian.Uint32(tail)); {
	case string(tail[4:]) == "PARE":
		return nil, ErrEncrypted
	case string(tail[4:]) != Magic:
		return nil, fmt.Errorf("the file ends with %q and not with %q: %w", tail[4:], Magic, thrift.ErrDamaged)
	case length > size-8:
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d: %w", length, size, thrift.ErrDamaged)
	default:
		data := make([]byte, length)
		_, err := file.ReadAt(data, size-8-length)
		return data, err
	}
}

// Fields of the footer.
const (
	fieldVersion = iota + 1
	fieldSchema
	fieldRows
	fieldGroups
	fieldEntries
	fieldCreatedBy
	fieldOrders
)

// Read decodes a footer. Statistics are parts of its data.
//
// # Errors
//
// An error wraps [thrift.ErrDamaged].
func Read(data []byte) (*File, error) {
	f, d, groups := &File{}, &thrift.Decoder{Data: data}, -1
	var ordered []bool
	err := d.Fields(thrift.MostDepth, func(field int, kind byte) (err error) {
		switch {
		case field == fieldSchema && kind == thrift.List:
			f.Schema, err = readSchema(d)
		case field == fieldRows && kind == thrift.Int64:
			f.Rows, err = d.Signed()
		case field == fieldGroups && kind == thrift.List:
			groups = d.At // their columns are those of the schema, which may be behind them
			err = d.Pass(kind, thrift.MostDepth-1)
		case field == fieldEntries && kind == thrift.List:
			f.Entries, err = readEntries(d)
		case field == fieldCreatedBy && kind == thrift.Binary:
			var text []byte
			text, err = d.Text()
			f.CreatedBy = string(text)
		case field == fieldOrders && kind == thrift.List:
			ordered, err = readOrders(d)
		default:
			err = d.Pass(kind, thrift.MostDepth-1)
		}
		return err
	})
	if err == nil && f.Schema == nil {
		err = fmt.Errorf("the footer has no schema: %w", thrift.ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	for i := range f.Schema.Columns {
		f.Schema.Columns[i].Ordered = i < len(ordered) && ordered[i]
	}
	if groups >= 0 {
		d.At = groups
		f.Groups, err = readGroups(d, len(f.Schema.Columns))
	}
	return f, err
}

func readEntries(d *thrift.Decoder) (entries []Entry, err error) {
	err = eachStruct(d, func() error {
		var pair [2]string
		err := d.Fields(thrift.MostDepth, func(field int, kind byte) error {
			if kind != thrift.Binary || field < 1 || field > 2 {
				return d.Pass(kind, thrift.MostDepth-1)
			}
			text, err := d.Text()
			pair[field-1] = string(text)
			return err
		})
		entries = append(entries, Entry{pair[0], pair[1]})
		return err
	})
	return entries, err
}

// readOrders decodes which columns have statistics in the order of their types.
func readOrders(d *thrift.Decoder) (ordered []bool, err error) {
	err = eachStruct(d, func() error {
		members, err := d.Object(thrift.MostDepth)
		_, byType := members[1]
		ordered = append(ordered, byType)
		return err
	})
	return ordered, err
}

// eachStruct calls f for each element of a list of structs.
func eachStruct(d *thrift.Decoder, f func() error) error {
	return d.Elements(func(kind byte) error {
		if kind != thrift.Struct {
			return fmt.Errorf("an element of type %d in a list of structs: %w", kind, thrift.ErrDamaged)
		}
		return f()
	})
}

// Encode returns the footer of a file with row groups that f appends. Entries that are not UTF-8 are
// left out, because the format has none.
func Encode(s *Schema, rows int64, groups func(*thrift.Encoder), entries []Entry, createdBy string) []byte {
	t := &thrift.Encoder{}
	t.Int32(fieldVersion, 2)
	t.Head(fieldSchema, thrift.List)
	t.Elements(thrift.Struct, s.Root.count(), func(i int) {
		if i == 0 {
			s.Root.appendTo(t, true)
		}
	})
	t.Int64(fieldRows, rows)
	t.Head(fieldGroups, thrift.List)
	groups(t)
	var texts []Entry
	for _, e := range entries {
		if utf8.ValidString(e.Key) && utf8.ValidString(e.Value) {
			texts = append(texts, e)
		}
	}
	t.Objects(fieldEntries, len(texts), func(i int) {
		t.Binary(1, []byte(texts[i].Key))
		t.Binary(2, []byte(texts[i].Value))
	})
	t.Binary(fieldCreatedBy, []byte(createdBy))
	t.Objects(fieldOrders, len(s.Columns), func(int) { t.Object(1, func() {}) })
	t.End()
	return t.Data
}
