package gpuframe

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/io/sink"
)

// Existing is the treatment of files that the folder of [Query.WriteFiles] has. Those that begin with a dot or an underscore, or
// are in such folders, do not count, and stay.
type Existing int

// Choices about existing files.
const (
	// RefuseExisting returns an error that wraps fs.ErrExist if the folder has files.
	RefuseExisting = Existing(sink.Refuse)
	// AppendFiles leaves them, and adds files with new names.
	AppendFiles = Existing(sink.Append)
	// OverwriteFolder removes them.
	OverwriteFolder = Existing(sink.Overwrite)
	// OverwritePartitions removes those of the partitions that the result has.
	OverwritePartitions = Existing(sink.OverwritePartitions)
)

// existingNames are the names of the choices in documents, and on the command line.
var existingNames = []string{RefuseExisting: "error", AppendFiles: "append", OverwriteFolder: "overwrite", OverwritePartitions: "overwrite_partitions"}

// String returns the name of the choice: error, append, overwrite or overwrite_partitions.
func (e Existing) String() string {
	if e < 0 || int(e) >= len(existingNames) {
		return fmt.Sprintf("Existing(%d)", int(e))
	}
	return existingNames[e]
}

// MarshalText returns the name of the choice.
func (e Existing) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText sets the choice by its name. Empty text is [RefuseExisting].
func (e *Existing) UnmarshalText(name []byte) error {
	if len(name) == 0 {
		*e = RefuseExisting
		return nil
	}
	choice := slices.Index(existingNames, string(name))
	if choice < 0 {
		return fmt.Errorf("%s: %w", names.Unknown("choice about existing files", string(name), existingNames), device.ErrInvalidValue)
	}
	*e = Existing(choice)
	return nil
}

// FolderOptions describe the files of [Query.WriteFiles].
type FolderOptions struct {
	// PartitionBy are columns with a folder key=value for each value, within each other: integers, decimals, bools, text,
	// dates or timestamps. They are not in the files. A query on the folder has them again, as integers if all values are,
	// and as text otherwise.
	PartitionBy []string
	// Keys are further folders, below those, of values that functions make of columns, which stay in the files.
	Keys []FolderKey `json:"-"`
	// FileRows is the number of rows of a file, except the last one of a partition. Zero means any.
	FileRows int64
	// FileBytes is the approximate length of a file. Zero means any.
	FileBytes int64
	Existing  Existing
	// MostFiles is the number of files above which the query fails. Zero means 10,000.
	MostFiles int
	// MostOpen is the number of files that are written at a time: more partitions get several files each, unless the rows are
	// sorted by them. Zero means 64, or 16 objects of a store.
	MostOpen int
	// MostBytes is the host memory of rows that wait for the row groups of Parquet files. Zero means 256 MiB.
	MostBytes int64
	// Manifest is the name of a file that gets the manifest of the whole folder in JSON, such as _manifest.json, or empty.
	// [AppendFiles] and [OverwritePartitions] keep the entries of files that stay; they refuse a folder with files and
	// without a manifest.
	Manifest string
}

// FolderKey is a folder key=value of values that a function makes of those of a column, such as the year of a date.
type FolderKey struct {
	// Name is that of the folder, Column that of the column of the result. No other column has the name of the folder: readers
	// take the folder in its place.
	Name, Column string
	// Values returns a value for each one of an array of the column, which is on the host: integers, decimals, bools, text, dates or
	// timestamps. The caller releases the array that it returns. It is called by one goroutine at a time for each write.
	Values func(values arrow.Array) (arrow.Array, error)
}

// WrittenFile is a file of a [Manifest].
type WrittenFile struct {
	// Path is relative to the folder, with slashes.
	Path string `json:"path"`
	// Rows and Bytes are those of the file.
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

// Manifest describes the files of a [Query.WriteFiles], in the order of their paths. In the folder it has those of all writes.
type Manifest struct {
	Files []WrittenFile `json:"files"`
	// Rows and Bytes are those of all files.
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

// WriteFiles runs the query and writes its result to files of a folder, which is made if it does not exist, with those above
// it, or to objects of a store below a URL, such as s3://bucket/folder. The files appear together at the end, and those that
// they replace go after that: a query that fails or is cancelled leaves the folder as it was. A reader at that moment may see a
// part of them, or both. The paths of the manifest are relative to the folder.
//
// # Errors
//
// A store that accepts a request and loses its answer at the end may keep objects of a query that fails. Objects that cannot
// be removed after an error are in it. If replaced objects cannot be removed, the error states that the new ones are complete.
func (q Query) WriteFiles(ctx context.Context, folder string, format Format, files FolderOptions, options ...RunOption) (Manifest, error) {
	settings := sink.FolderOptions{
		PartitionBy: files.PartitionBy, FileRows: files.FileRows, FileBytes: files.FileBytes, Existing: sink.Existing(files.Existing),
		MostFiles: files.MostFiles, MostOpen: files.MostOpen, MostBytes: files.MostBytes, Manifest: files.Manifest,
	}
	for _, key := range files.Keys {
		settings.Keys = append(settings.Keys, sink.Key(key))
	}
	var m sink.Manifest
	_, err := q.write(ctx, options, func(reader buffer.Reader) (_ sink.Written, err error) {
		m, err = sink.ToFolder(ctx, folder, format.orParquet(), settings, reader)
		return sink.Written{Rows: m.Rows, Bytes: m.Bytes}, err
	})
	if err != nil {
		return Manifest{}, err
	}
	manifest := Manifest{Rows: m.Rows, Bytes: m.Bytes}
	for _, file := range m.Files {
		manifest.Files = append(manifest.Files, WrittenFile(file))
	}
	return manifest, nil
}
