package sink

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/objectstore"
)

// SetLeastDeviceRows sets the number of rows from which tables are encoded on their device, and returns a
// function that sets it back.
func SetLeastDeviceRows(rows int64) func() {
	before := leastDeviceRows
	leastDeviceRows = rows
	return func() { leastDeviceRows = before }
}

// SetMostGroupBytes sets the limit of the memory of a row group, and returns a function that sets it back.
func SetMostGroupBytes(bytes int64) func() {
	before := mostGroupBytes
	mostGroupBytes = bytes
	return func() { mostGroupBytes = before }
}

// WriteObject writes an object by a function.
func WriteObject(ctx context.Context, store objectstore.Store, name string, write func(io.Writer) error) error {
	return writeObject(ctx, store, name, write)
}

// SetPartBytes sets the length of parts of objects, and returns a function that sets what was before.
func SetPartBytes(length int) (reset func()) {
	before := partBytes
	partBytes = length
	return func() { partBytes = before }
}

// SetSystem calls a function before each call of the operating system that a write to a folder makes, which has its error, and
// returns a function that sets what was before.
func SetSystem(before func(call string) error) (reset func()) {
	original := system
	system.create = func(name string) (diskFile, error) {
		if err := before("create"); err != nil {
			return nil, err
		}
		file, err := original.create(name)
		return &hookedFile{file, before}, err
	}
	system.rename = func(from, to string) error {
		if err := before("rename"); err != nil {
			return err
		}
		return original.rename(from, to)
	}
	system.mkdir = func(name string) error {
		if err := before("mkdir"); err != nil {
			return err
		}
		return original.mkdir(name)
	}
	system.sync = func(string) error { return before("sync") }
	system.remove = func(folder string) error {
		if err := before("remove"); err != nil {
			return err
		}
		return original.remove(folder)
	}
	return func() { system = original }
}

// hookedFile calls a function before each call.
type hookedFile struct {
	diskFile
	before func(call string) error
}

func (h *hookedFile) Write(p []byte) (int, error) {
	if err := h.before("write"); err != nil {
		return 0, err
	}
	return h.diskFile.Write(p)
}

func (h *hookedFile) Close() error {
	if err := h.before("close"); err != nil {
		return errors.Join(err, h.diskFile.Close())
	}
	return h.diskFile.Close()
}

// Sync does not wait for the disk: tests make many files.
func (h *hookedFile) Sync() error { return h.before("sync") }

// GatherRecord returns rows of a record.
func GatherRecord(record arrow.Record, rows []int) (arrow.Record, error) {
	return gatherRecord(record, rows)
}
