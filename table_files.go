package gpuframe

import (
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/scalar"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
)

// TableFiles are the Parquet files of a table, as its metadata list them, such as the log of a Delta table or the manifests of
// an Iceberg table: packages delta and iceberg of the module lake read them.
type TableFiles struct {
	// Name describes the table in plans and errors.
	Name string
	// Schema has the columns of the query. All of them are nullable. A column that a file lacks has its default there, or is null.
	Schema *arrow.Schema
	// Origins name the columns in the files, one for each field of the schema. Nil means the names of the schema.
	Origins []ColumnOrigin
	// NeedIDs makes files of which no column has an ID errors, instead of files without the columns that have only an ID.
	NeedIDs bool
	Files   []TableFile
}

// ColumnOrigin names a column in the files of a table.
type ColumnOrigin struct {
	// Name is the name in the files. Empty means the name of the field, or none if there is an ID.
	Name string
	// Aliases are further names. The first one that a file has is used.
	Aliases []string
	// ID is the field ID in the files. Zero means that the names are used; they also are in files of which no column has an ID.
	ID int32
	// Default is the value in files that lack the column, of the type of the field. Nil means null.
	Default scalar.Scalar
	// Absent is the error of a file that lacks the column. Nil means that such a file is read.
	Absent error
	// Members are those of the fields of a struct, of the element of a list, of the key and the value of a map. Nil means
	// the names of the type.
	Members []ColumnOrigin
}

// TableFile is a Parquet file of a table, as the metadata describe it. Functions are called by several goroutines.
type TableFile struct {
	// Path is the name of a file, or the URL of an object.
	Path string
	// Rows is the number of rows in the file, or -1 if it is unknown. Plans use it as an estimate, also zero; it leaves out no
	// file.
	Rows int64
	// Constants are columns with one value in all rows, of the types of the schema. The file's own columns of these names
	// are not read.
	Constants map[string]scalar.Scalar
	// Deleted returns the numbers of deleted rows in [first, end), in order. Nil means that the file has none. A number behind
	// the last row of the file is an error.
	Deleted func(first, end int64) iter.Seq[int64]
	// DeletedRows is the number of deleted rows.
	DeletedRows int64
	// Range returns the range of a column by the metadata. Nil means that no range is known.
	Range func(column string) ColumnRange
}

// ColumnRange describes the values of a column in a file, so that conditions leave out files.
type ColumnRange struct {
	// Low and High are values between which all values lie, nulls and NaN aside. They need not occur. Nil means unknown.
	// Integers, dates, times, timestamps and durations are int64 or uint64 by the sign of the type, in its unit, floats
	// float64, bools bool, decimals *big.Int unscaled, strings and binary values []byte.
	Low, High any
	// Nulls and Valid are the numbers of values that are null and that are not, -1 if they are unknown. They also are if both
	// are zero, so that the zero ColumnRange leaves out nothing.
	Nulls, Valid int64
	// Has reports whether the file may have a value: an int64 of a column of integers, the []byte of a string or binary value.
	// Nil means that the file may have all values between Low and High.
	Has func(value any) bool
}

// TableFiles is a query on the rows of the files of a table that are not deleted. Files are left out before they are opened by
// their constants and ranges, row groups and pages as by [Engine.Parquet]. Deleted rows are dropped on the device. Values of
// a narrower type in a file, of an older version of the schema, are converted: integers and floats to wider ones, decimals to
// ones of more digits, dates to timestamps.
func (e *Engine) TableFiles(table TableFiles) Query {
	return e.tableFiles(source.Files{}, table)
}

// TableFiles is [Engine.TableFiles] for files of the file system.
func (f Files) TableFiles(table TableFiles) Query {
	return f.engine.tableFiles(f.files, table)
}

func (e *Engine) tableFiles(files source.Files, table TableFiles) Query {
	at := caller()
	listed := source.TableFiles{Name: table.Name, Schema: table.Schema, Origins: origins(table.Origins), NeedIDs: table.NeedIDs}
	deletes := false
	for _, file := range table.Files {
		deletes = deletes || file.Deleted != nil
		listed.Files = append(listed.Files, source.TableFile{
			Path: file.Path, Rows: file.Rows, Constants: file.Constants, Deleted: file.Deleted, DeletedRows: file.DeletedRows, Range: file.ranges(),
		})
	}
	if deletes {
		listed.Kept = keptName(table.Schema)
	}
	opened, failure := files.Table(listed)
	query := e.scanAt("TableFiles", at, opened, failure)
	if deletes {
		query = query.Filter(Col(listed.Kept)).Drop(listed.Kept)
	}
	return query
}

// keptName is a name that the schema does not have.
func keptName(schema *arrow.Schema) string {
	name := "kept"
	for schema != nil && schema.HasField(name) {
		name = "_" + name
	}
	return name
}

func origins(list []ColumnOrigin) (converted []source.Origin) {
	for _, each := range list {
		converted = append(converted, source.Origin{Name: each.Name, Aliases: each.Aliases, ID: each.ID, Default: each.Default, Absent: each.Absent, Members: origins(each.Members)})
	}
	return converted
}

func (f TableFile) ranges() func(string) prune.Range {
	if f.Range == nil {
		return nil
	}
	return func(column string) prune.Range { return prune.Range(f.Range(column)) }
}
