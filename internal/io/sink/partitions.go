package sink

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/io/hive"
)

// Key is a folder of values that a function makes of those of a column, which stays in the files.
type Key struct {
	// Name is that of the folder, Column that of the column.
	Name, Column string
	// Values returns a value for each one of an array of the column: of types that have folders. The caller releases it.
	Values func(values arrow.Array) (arrow.Array, error)
}

// splitter divides records by the values of columns.
type splitter struct {
	keys []splitKey
	rest *arrow.Schema
	kept []int // places of the columns that are in the files
}

// splitKey is a folder of the values of a column, or of those that a function makes of them.
type splitKey struct {
	name   string
	place  int
	values func(values arrow.Array) (arrow.Array, error) // or nil
}

// newSplitter checks the columns to partition by.
func newSplitter(schema *arrow.Schema, keys []string, computed []Key) (*splitter, error) {
	s := &splitter{}
	inNames := map[int]bool{}
	for i, name := range keys {
		places := schema.FieldIndices(name)
		switch {
		case name == "":
			return nil, fmt.Errorf("column %d to partition by has no name: %w", i, ErrArgument)
		case len(places) == 0:
			var list []string
			for _, field := range schema.Fields() {
				list = append(list, field.Name)
			}
			return nil, fmt.Errorf("partition by: %s: %w", names.Unknown("column", name, list), ErrArgument)
		case slices.Contains(keys[:i], name):
			return nil, fmt.Errorf("partition by column %q twice: %w", name, ErrArgument)
		}
		if field := schema.Field(places[0]); !inFolders(field.Type) {
			return nil, fmt.Errorf("partition by column %q of %v: expected integers, decimals, bools, text, dates or timestamps: cast the column: %w", name, field.Type, ErrUnsupported)
		}
		s.keys = append(s.keys, splitKey{name: name, place: places[0]})
		inNames[places[0]] = true
	}
	for _, key := range computed {
		place := -1
		if places := schema.FieldIndices(key.Column); len(places) > 0 {
			place = places[0]
		}
		if place < 0 || key.Values == nil || key.Name == "" || slices.ContainsFunc(s.keys, func(k splitKey) bool { return k.name == key.Name }) {
			return nil, fmt.Errorf("the folder %q of column %q: expected a name that no other folder has, a column of the rows and a function: %w", key.Name, key.Column, ErrArgument)
		}
		if key.Name != key.Column && schema.HasField(key.Name) {
			return nil, fmt.Errorf("the folder %q of column %q: a column has this name, and readers take the folder in its place: give the folder another name: %w", key.Name, key.Column, ErrArgument)
		}
		s.keys = append(s.keys, splitKey{key.Name, place, key.Values})
	}
	var fields []arrow.Field
	for i, field := range schema.Fields() {
		if !inNames[i] {
			s.kept, fields = append(s.kept, i), append(fields, field)
		}
	}
	if len(keys) > 0 && len(fields) == 0 {
		return nil, fmt.Errorf("partition by all columns: no column is left for the files: %w", ErrArgument)
	}
	metadata := schema.Metadata()
	s.rest = arrow.NewSchema(fields, &metadata)
	return s, nil
}

// inFolders reports whether values of a type can be names of folders.
func inFolders(t arrow.DataType) bool {
	if dictionary, ok := t.(*arrow.DictionaryType); ok {
		return dictionary.ValueType.ID() == arrow.STRING
	}
	return inCSV(t) && t.ID() != arrow.FLOAT32 && t.ID() != arrow.FLOAT64
}

// each calls a function with the rows of each folder, in the order of their first rows. The function does not release them.
func (s *splitter) each(ctx context.Context, record arrow.Record, f func(folder string, rows arrow.Record) error) error {
	columns := make([]arrow.Array, len(s.kept))
	for i, place := range s.kept {
		columns[i] = record.Column(place)
	}
	rest := array.NewRecord(s.rest, columns, record.NumRows())
	defer rest.Release()
	if record.NumRows() == 0 {
		return nil
	}
	folders, codes, err := s.folders(record)
	if err != nil {
		return err
	}
	if len(folders) == 1 {
		return f(folders[0], rest)
	}
	for i, rows := range rowsOf(codes, len(folders)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part, err := gatherRecord(rest, rows)
		if err != nil {
			return err
		}
		err = f(folders[i], part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// folders returns the folders of a record, and the number of its folder for each row.
func (s *splitter) folders(record arrow.Record) (folders []string, codes []int32, err error) {
	folders, codes = []string{""}, make([]int32, record.NumRows())
	for _, key := range s.keys {
		texts, own, err := key.codes(record.Column(key.place))
		if err != nil {
			return nil, nil, fmt.Errorf("partition by %q: %w", key.name, err)
		}
		type pair struct{ before, own int32 }
		known, list := map[pair]int32{}, []string(nil)
		for row, code := range codes {
			both := pair{code, own[row]}
			number, ok := known[both]
			if !ok {
				number = int32(len(list))
				known[both] = number
				list = append(list, strings.TrimPrefix(folders[code]+"/"+hive.Folder(key.name, texts[own[row]]), "/"))
			}
			codes[row] = number
		}
		folders = list
	}
	return folders, codes, nil
}

// codes returns the values of the folders of a column: see valueCodes.
func (k splitKey) codes(values arrow.Array) (texts []*string, codes []int32, err error) {
	if k.values == nil {
		return valueCodes(values)
	}
	if dictionary, ok := values.(*array.Dictionary); ok {
		values = decoded(dictionary)
		defer values.Release()
	}
	computed, err := k.values(values)
	if err != nil {
		return nil, nil, err
	}
	if computed == nil {
		return nil, nil, fmt.Errorf("the function returned no array and no error, expected %d values: %w", values.Len(), ErrArgument)
	}
	defer computed.Release()
	if computed.Len() != values.Len() || !inFolders(computed.DataType()) {
		return nil, nil, fmt.Errorf("the function returned %d values of %v, expected %d of a type that has folders: %w", computed.Len(), computed.DataType(), values.Len(), ErrArgument)
	}
	return valueCodes(computed)
}

// valueCodes returns the values of a column as texts, nil for null, and the number of its value for each row.
func valueCodes(values arrow.Array) (texts []*string, codes []int32, err error) {
	if dictionary, ok := values.(*array.Dictionary); ok {
		values = decoded(dictionary)
		defer values.Release()
	}
	column := folderText(values)
	known, null := map[string]int32{}, int32(-1)
	codes = make([]int32, values.Len())
	var scratch []byte
	for row := range codes {
		if values.IsNull(row) {
			if null < 0 {
				null = int32(len(texts))
				texts = append(texts, nil)
			}
			codes[row] = null
			continue
		}
		scratch = column(scratch[:0], row)
		code, ok := known[string(scratch)]
		if !ok {
			text := string(scratch)
			if !utf8.ValidString(text) {
				return nil, nil, fmt.Errorf("the text %q is not valid UTF-8: %w", text, ErrUnsupported)
			}
			code = int32(len(texts))
			known[text], texts = code, append(texts, &text)
		}
		codes[row] = code
	}
	return texts, codes, nil
}

// folderText returns the function that appends values: those of CSV, but text without quotes.
func folderText(values arrow.Array) csvColumn {
	switch a := values.(type) {
	case *array.String:
		return func(text []byte, row int) []byte { return append(text, a.Value(row)...) }
	case *array.LargeString:
		return func(text []byte, row int) []byte { return append(text, a.Value(row)...) }
	}
	return csvLines{}.column(values)
}

// rowsOf returns the rows of each code, in their order.
func rowsOf(codes []int32, count int) [][]int {
	ends := make([]int, count)
	for _, code := range codes {
		ends[code]++
	}
	all, lists, begin := make([]int, len(codes)), make([][]int, count), 0
	for code, n := range ends {
		lists[code] = all[begin : begin : begin+n]
		begin += n
	}
	for row, code := range codes {
		lists[code] = append(lists[code], row)
	}
	return lists
}

// decoded returns the values of a dictionary array of text or binary values.
func decoded(d *array.Dictionary) arrow.Array {
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, d.Dictionary().DataType())
	defer builder.Release()
	builder.Reserve(d.Len())
	for row := range d.Len() {
		at := -1
		if d.IsValid(row) {
			at = d.GetValueIndex(row)
		}
		switch values := d.Dictionary().(type) {
		case *array.String:
			if b := builder.(*array.StringBuilder); at < 0 || values.IsNull(at) {
				b.AppendNull()
			} else {
				b.Append(values.Value(at))
			}
		case *array.Binary:
			if b := builder.(*array.BinaryBuilder); at < 0 || values.IsNull(at) {
				b.AppendNull()
			} else {
				b.Append(values.Value(at))
			}
		}
	}
	return builder.NewArray()
}
