package sink

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Format is a file format: [Parquet], [CSV], [JSON] or [IPC].
type Format interface {
	name() string
	// begin checks the schema and returns an encoder.
	begin(w io.Writer, schema *arrow.Schema) (encoder, error)
}

// encoder writes records of one schema.
type encoder interface {
	// write encodes a record. The caller releases it afterwards.
	write(ctx context.Context, record arrow.Record) error
	// end writes what follows the last record.
	end(ctx context.Context) error
	// drop releases what the encoder holds. It is called last, also after end.
	drop()
}

// tableEncoder is an encoder that encodes tables on their device.
type tableEncoder interface {
	encoder
	// writeTable encodes a table of a device that is no host. It returns false if the table has to be
	// copied to the host.
	writeTable(ctx context.Context, table *buffer.Buffer) (bool, error)
}

// batch is a record, or a table of a device with a channel for the answer whether it is done with.
type batch struct {
	record arrow.Record
	table  *buffer.Buffer
	done   chan<- bool
}

// Written describes a write.
type Written struct {
	Rows, Bytes int64
}

// ToPath writes the tables of a reader to a file, or to an object of a store by its URL, which is replaced if it exists. The
// caller closes the reader.
func ToPath(ctx context.Context, path string, format Format, reader buffer.Reader) (w Written, err error) {
	const fileScheme = "file://"
	if _, url := objectstore.SchemeOf(path); url && !strings.HasPrefix(path, fileScheme) {
		if w, err = toObject(ctx, path, format, reader); err != nil {
			return Written{}, &Error{Format: format.name(), Path: objectstore.Display(path), Err: err}
		}
		return w, nil
	}
	path = strings.TrimPrefix(path, fileScheme)
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".tmp")
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return Written{}, &Error{Format: format.name(), Path: path, Err: plainPath(err)}
	}
	w, err = write(ctx, file, format, reader)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return Written{}, &Error{Format: format.name(), Path: path, Err: plainPath(errors.Join(err, removed(temporary)))}
	}
	return w, nil
}

// removed removes a file, which may have gone already.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// ToWriter writes the tables of a reader to to. The caller closes both.
func ToWriter(ctx context.Context, to io.Writer, format Format, reader buffer.Reader) (Written, error) {
	w, err := write(ctx, to, format, reader)
	if err != nil {
		return w, &Error{Format: format.name(), Err: err}
	}
	return w, nil
}

// counting counts the bytes that are written, and keeps the error of the writer.
type counting struct {
	io.Writer

	mu      sync.Mutex
	written int64
	failure error
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written += int64(n)
	if c.failure == nil {
		c.failure = err
	}
	return n, err
}

// bytes returns the number of bytes until now.
func (c *counting) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written
}

// err returns the first error.
func (c *counting) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

func write(ctx context.Context, to io.Writer, format Format, reader buffer.Reader) (w Written, err error) {
	counted := &counting{Writer: to}
	buffered := bufio.NewWriterSize(counted, 1<<20)
	w.Rows, err = encode(ctx, buffered, format, reader)
	if failure := counted.err(); failure != nil { // encoders do not always pass it on
		return Written{}, failure
	}
	if err != nil {
		return Written{}, err
	}
	if err := buffered.Flush(); err != nil {
		return Written{}, err
	}
	w.Bytes = counted.bytes()
	return w, nil
}

// encode encodes the records of a reader while the next one is read.
func encode(ctx context.Context, to io.Writer, format Format, reader buffer.Reader) (rows int64, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	schema := reader.Schema()
	if schema == nil {
		return 0, fmt.Errorf("the reader has no schema: %w", ErrArgument)
	}
	e, err := begin(format, to, schema)
	if err != nil {
		return 0, err
	}
	defer e.drop()
	batches := make(chan batch)
	var failed error // set before batches is closed
	go func() {
		defer close(batches)
		failed = read(ctx, reader, e, batches)
	}()
	for b := range batches {
		n := int64(0)
		if err == nil {
			if n, err = b.encode(ctx, e); err != nil {
				stop()
			}
		}
		rows += n
		b.release(n > 0 || err != nil)
	}
	if err == nil {
		err = failed
	}
	if err == nil {
		err = encoded(ctx, func() error { return e.end(ctx) })
	}
	return rows, err
}

// begin checks the schema and begins to encode. arrow-go panics for some types.
func begin(format Format, to io.Writer, schema *arrow.Schema) (e encoder, err error) {
	err = guarded(func() (err error) {
		e, err = format.begin(to, schema)
		return err
	})
	return e, err
}

// encode encodes the batch, and returns the number of its rows: none of a table that has to be copied.
func (b batch) encode(ctx context.Context, e encoder) (rows int64, err error) {
	if b.record != nil {
		return b.record.NumRows(), encoded(ctx, func() error { return e.write(ctx, b.record) })
	}
	ok := false
	err = guarded(func() (err error) {
		ok, err = e.(tableEncoder).writeTable(ctx, b.table)
		return err
	})
	if ok && err == nil {
		rows, _ = b.table.HostRows()
	}
	return rows, err
}

// release releases a record, or reports whether a table is done with.
func (b batch) release(done bool) {
	if b.record != nil {
		b.record.Release()
	} else {
		b.done <- done
	}
}

// read reads tables until the reader ends. It passes on those that the encoder encodes on their device, and
// copies of the others.
func read(ctx context.Context, reader buffer.Reader, e encoder, batches chan<- batch) error {
	for {
		table, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := errors.Join(pass(ctx, table, reader.Schema(), e, batches), table.Release()); err != nil {
			return err
		}
	}
}

// pass passes on a table, or a copy of it.
func pass(ctx context.Context, table *buffer.Buffer, schema *arrow.Schema, e encoder, batches chan<- batch) error {
	send := func(b batch) error {
		select {
		case batches <- b:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if _, ok := e.(tableEncoder); ok && table.Device() != nil && table.Device().Kind() != device.Host && sameTypes(table.Schema(), schema) {
		done := make(chan bool, 1)
		if err := send(batch{table: table, done: done}); err != nil {
			return err
		}
		if <-done {
			return nil
		}
	}
	record, err := table.Record(ctx)
	if err == nil {
		record, err = withSchema(record, schema)
	}
	if err == nil {
		err = send(batch{record: record})
	}
	if err != nil && record != nil {
		record.Release()
	}
	return err
}

// withSchema takes over a record and returns it with the schema of its reader. A table may
// state more precisely than its reader whether a column has nulls; arrow-go's writers
// refuse records of another schema.
func withSchema(record arrow.Record, schema *arrow.Schema) (arrow.Record, error) {
	if record.Schema().Equal(schema) {
		return record, nil
	}
	if !sameTypes(record.Schema(), schema) {
		return record, fmt.Errorf("a table has the schema %v, its reader %v: %w", record.Schema(), schema, buffer.ErrSchema)
	}
	defer record.Release()
	return array.NewRecord(schema, record.Columns(), record.NumRows()), nil
}

// sameTypes reports whether schemas have the same columns.
func sameTypes(a, b *arrow.Schema) bool {
	return slices.EqualFunc(a.Fields(), b.Fields(), func(a, b arrow.Field) bool {
		return a.Name == b.Name && arrow.TypeEqual(a.Type, b.Type)
	})
}

// encoded adds the condition ErrUnsupported to an error of an encoder: write reports
// those of the writer.
func encoded(ctx context.Context, f func() error) error {
	err := guarded(f)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrUnsupported) {
		return err
	}
	return fmt.Errorf("%w: %w", err, ErrUnsupported)
}

// guarded turns a panic of an encoder about a type or value into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the encoder failed: %v: %w", reason, ErrUnsupported)
		}
	}()
	return f()
}
