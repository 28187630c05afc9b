package source

import (
	"context"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Source is a sequence of rows that a query reads.
type Source interface {
	// String describes the source in a plan: parquet sales/*.parquet (3 files).
	String() string
	// Schema returns the schema of all rows. It reads no more than it must, and
	// caches the result.
	Schema(ctx context.Context) (*arrow.Schema, error)
	// Rows returns the number of rows, or -1 if it is unknown. An inexact number is an
	// estimate.
	Rows(ctx context.Context) (rows int64, exact bool)
	// Bounds returns values of the column's type between which all its values lie, nulls
	// and NaN aside, if the source knows them without reading rows. They need not occur.
	// Integers are int64 or uint64, floats float64, strings string, binary values
	// []byte, dates, times, timestamps and durations int64 in the unit of the type,
	// decimals *big.Int unscaled, bools bool.
	Bounds(ctx context.Context, column string) (low, high any, ok bool)
	// Open returns a reader of tables on the manager's device. The tables have row
	// counts that the host knows. The caller closes the reader.
	Open(ctx context.Context, m *memory.Manager, request Request) (buffer.Reader, error)
}

// Request describes what a reader of a source returns. The zero value requests
// everything.
type Request struct {
	// Columns are the names of the columns in their order. Nil means all columns; an
	// empty list means tables of rows without columns.
	Columns []string
	// Where lists conditions that every row of interest meets. A source may leave out
	// rows that do not meet them, and need not.
	Where []expr.Expr
	// Limit is the number of rows after which the reader ends. Zero means no limit.
	Limit int64
	// BatchRows is the approximate number of rows of a table. Zero means the source's
	// choice.
	BatchRows int64
	// MostRows is the number of rows of a table that is not exceeded by sources of rows on
	// the host. Zero means no limit.
	MostRows int64
	// Stay is set if [Split] leaves the rows of tables on the devices that have them.
	Stay bool
	// Behind, if it is not nil, is called by a reader of [Split] that would read further batches
	// while another reader, slow, has not taken those that wait for it. It returns false after
	// that reader has taken one, which closes taken, and true if that reader may not take one
	// before this one goes on.
	Behind func(ctx context.Context, reader, slow int, taken <-chan struct{}) (further bool, err error)
	// Tag is the tag of the memory in the manager's statistics.
	Tag string
	// Progress is called after every table with the rows and bytes that this reader
	// has returned so far. It is called on the goroutine that calls Next.
	Progress func(rows, bytes int64)
	// Numbered is set for readers of which [OpenRows] reads rows by their numbers: all readers of a query with one source
	// and the same conditions have the same rows.
	Numbered bool
	// Counters, if not nil, are added to.
	Counters *Counters
	// Readahead is shared by the readers of a query. Nil means that the reader has its own.
	Readahead *Readahead
}
