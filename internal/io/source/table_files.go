package source

import (
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/objectstore"
)

// TableFiles are Parquet files of a table, as its metadata list them.
type TableFiles struct {
	// Name describes the table in plans and errors.
	Name string
	// Schema has the columns. All of them are nullable.
	Schema *arrow.Schema
	// Origins name the columns in the files, one for each field of the schema. Nil means the names of the schema.
	Origins []Origin
	// NeedIDs makes files of which no column has an ID errors.
	NeedIDs bool
	// Kept is the name of a further column of bools, or empty: false for rows that a file has deleted.
	Kept  string
	Files []TableFile
}

// Origin names a column in files.
type Origin struct {
	// Name is the name in the files. Empty means the name of the field, or none if there is an ID.
	Name string
	// Aliases are further names. The first one that a file has is used.
	Aliases []string
	// ID is the field ID. Zero means that the names are used; they also are in files of which no column has an ID.
	ID int32
	// Default is the value in files that lack the column, of its type. Nil means null.
	Default scalar.Scalar
	// Absent is the error of a file that lacks the column. Nil means that such a file is read.
	Absent error
	// Members are those of the fields of a struct, the element of a list, the key and the value of a map. Nil means
	// the names of the type.
	Members []Origin
}

// TableFile is one of the files.
type TableFile struct {
	// Path is the name of a file or the URL of an object.
	Path string
	// Rows is the number of rows in the file, or -1 if it is unknown. Plans use it as an estimate, also zero; it leaves out no
	// file.
	Rows int64
	// Constants are columns with one value in all rows of the file, of the types of the schema. The file's own column of
	// the name is not read.
	Constants map[string]scalar.Scalar
	// Deleted returns the numbers of deleted rows in [first, end), in order. Nil means that the file has none. It is called
	// by several goroutines. A number behind the last row of the file is an error.
	Deleted func(first, end int64) iter.Seq[int64]
	// DeletedRows is the number of deleted rows.
	DeletedRows int64
	// Range returns the range of a column by the metadata. Nil means that no range is known. If both numbers of a range are
	// zero, they are unknown. It is called by several goroutines.
	Range func(column string) prune.Range
}

// Table is a source of the Parquet files of a table.
//
// # Columns
//
// A column that a file lacks has its default, or is null. Values of a narrower type are converted: integers and floats to wider ones, decimals to
// more digits, dates to timestamps, units of time. Columns with other types are errors, if they are read.
//
// # What is read
//
// Constants and ranges leave out files before they are opened. Of the others it reads what [Files.Parquet] reads.
func (f Files) Table(table TableFiles) (Source, error) {
	if err := table.check(); err != nil {
		return nil, &Error{Source: table.Name, RowGroup: -1, Err: err}
	}
	fields, _ := changedFields(table.Schema.Fields(), nullableThroughout)
	if table.Kept != "" {
		fields = append(fields, arrow.Field{Name: table.Kept, Type: arrow.FixedWidthTypes.Boolean})
	}
	s := &parquetFiles{paths: &paths{patterns: []string{table.Name}}, table: &table, schema: arrow.NewSchema(fields, nil)}
	for i := range table.Files {
		listed := &table.Files[i]
		p := path{name: objectstore.Display(listed.Path)}
		store, err := f.storeOf(listed.Path)
		if err != nil {
			return nil, &Error{Source: table.Name, Path: p.name, RowGroup: -1, Err: err}
		}
		if store != nil {
			p.object = &object{store: store, about: objectstore.Object{Name: listed.Path}, stale: true}
		} else {
			p.name = f.name(listed.Path)
		}
		s.paths.files = append(s.paths.files, p)
		s.files = append(s.files, &parquetFile{path: p.name, open: f.opening(p), table: s, listed: listed})
	}
	return s, nil
}

func (t *TableFiles) check() error {
	if t.Schema == nil {
		return fmt.Errorf("the schema is nil: %w", ErrArgument)
	}
	if t.Origins != nil && len(t.Origins) != t.Schema.NumFields() {
		return fmt.Errorf("%d origins for %d columns: %w", len(t.Origins), t.Schema.NumFields(), ErrArgument)
	}
	names := map[string]bool{t.Kept: t.Kept != ""}
	for i, field := range t.Schema.Fields() {
		if err := t.origin(i).check(field); err != nil {
			return err
		}
		if names[field.Name] {
			return fmt.Errorf("the schema has the column %q twice: %w", field.Name, ErrArgument)
		}
		names[field.Name] = true
	}
	for _, file := range t.Files {
		if file.Deleted != nil && t.Kept == "" {
			return fmt.Errorf("%s has deleted rows, the table no column for them: %w", objectstore.Display(file.Path), ErrArgument)
		}
		for name, value := range file.Constants {
			fields, ok := t.Schema.FieldsByName(name)
			if !ok {
				return unknownColumn(name, fieldNames(t.Schema), buffer.ErrSchema)
			}
			if !arrow.TypeEqual(fields[0].Type, value.DataType()) {
				return fmt.Errorf("%s has a constant of %v for column %q of %v: %w", objectstore.Display(file.Path), value.DataType(), name, fields[0].Type, buffer.ErrSchema)
			}
		}
	}
	return nil
}

// origin returns the origin of a column of the schema.
func (t *TableFiles) origin(i int) Origin {
	if i < len(t.Origins) {
		return t.Origins[i]
	}
	return Origin{}
}

// rows estimates the number of rows, or returns -1.
func (t *TableFiles) rows() (rows int64) {
	for _, file := range t.Files {
		if file.Rows < 0 {
			return -1
		}
		rows += max(0, file.Rows-file.DeletedRows)
	}
	return rows
}

// rangeOf returns what is known of a column before the file is opened.
func (t *TableFiles) rangeOf(file *TableFile, column string) prune.Range {
	if value, ok := file.Constants[column]; ok {
		return constantRange(value, -1)
	}
	if file.Range == nil || column == t.Kept {
		return prune.Unknown
	}
	r := file.Range(column)
	if r.Nulls == 0 && r.Valid == 0 {
		r.Nulls, r.Valid = -1, -1
	}
	return r
}

// constantRange is the range of a value in a number of rows, or in some if that is -1.
func constantRange(value scalar.Scalar, rows int64) prune.Range {
	if !value.IsValid() {
		return prune.Range{Nulls: rows}
	}
	r := prune.Range{Valid: rows}
	r.Low = constantBound(value)
	r.High = r.Low
	return r
}

// constantBound returns the value of a scalar as [prune.Range] describes it, or nil.
func constantBound(value scalar.Scalar) any {
	switch v := value.(type) {
	case *scalar.Boolean:
		return v.Value
	case *scalar.Int8:
		return int64(v.Value)
	case *scalar.Int16:
		return int64(v.Value)
	case *scalar.Int32:
		return int64(v.Value)
	case *scalar.Int64:
		return v.Value
	case *scalar.Float32:
		return floatBound(float64(v.Value))
	case *scalar.Float64:
		return floatBound(v.Value)
	case *scalar.Date32:
		return int64(v.Value)
	case *scalar.Timestamp:
		return int64(v.Value)
	case *scalar.Decimal128:
		return v.Value.BigInt()
	case *scalar.String:
		return slices.Clone(v.Data())
	case *scalar.Binary:
		return slices.Clone(v.Data())
	}
	return nil
}
