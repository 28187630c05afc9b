package iceberg

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Errors wrap one of these conditions, or [io/fs.ErrNotExist] if there is no table, or one of package objectstore.
var (
	// ErrMetadata means that the metadata, a manifest or a list of manifests is damaged or absent.
	ErrMetadata = errors.New("the metadata of the Iceberg table are damaged")
	// ErrDeletes means that a file with deleted rows is damaged or absent.
	ErrDeletes = errors.New("the file with deleted rows is damaged")
	// ErrUnsupported means that the table needs something that this package does not read.
	ErrUnsupported = errors.New("the Iceberg table needs a feature that is not supported")
	// ErrSnapshot means that the table does not have the snapshot, branch or tag, or none as old as the time.
	ErrSnapshot = errors.New("the Iceberg table has no such snapshot")
	// ErrLimit means that a file of the metadata is larger than this package reads.
	ErrLimit = storage.ErrLimit
	// ErrColumns means that Iceberg lacks a type, or that the columns or nulls of a query are not those of the table.
	ErrColumns = errors.New("the columns do not fit the Iceberg table")
	// ErrConflict means that another writer was faster: nothing of the write is part of the table.
	ErrConflict = errors.New("another writer has changed the Iceberg table")
	// ErrUnknown means that the commit was sent and no answer came: the snapshot is part of the table or not. The files stay.
	ErrUnknown = errors.New("the Iceberg table may have the snapshot or not: look at its snapshots before you repeat the write")
	// ErrCatalog means that the answer of a catalog does not follow its protocol, or that its address is not valid.
	ErrCatalog = errors.New("the answer of the Iceberg catalog is not valid")
)

// Error is an error about a table or a catalog.
type Error struct {
	// Operation is "open", "connect", "load", "create", "append" or "overwrite".
	Operation string
	// Table is the path of the table, its name in a catalog, or the URL of the catalog, without secrets.
	Table string
	// File is the file of the metadata, of deletes or of data that it is about, without secrets, or empty.
	File string
	Err  error
}

func (e *Error) Error() string {
	if e.File == "" {
		return fmt.Sprintf("iceberg: %s %s: %v", e.Operation, e.Table, e.Err)
	}
	return fmt.Sprintf("iceberg: %s %s: %s: %v", e.Operation, e.Table, e.File, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// inFile adds a file to an error that has none.
func inFile(file string, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Error{File: objectstore.Display(file), Err: err}
}

// failed is an error of an operation on a table.
func failed(operation, table string, err error) error {
	failure := &Error{Operation: operation, Table: objectstore.Display(table), Err: err}
	if known, ok := err.(*Error); ok {
		failure.File, failure.Err = known.File, known.Err
	}
	return failure
}
