package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/memory"
)

// records is a sequence of records on the host, of the columns of a request.
type records interface {
	// next returns the next record, which the caller releases, or io.EOF.
	next(ctx context.Context) (arrow.Record, error)
	// close releases what the sequence holds. It is called once, after the records
	// that were returned have been released. After a failure some of them may have
	// been lost.
	close(failed bool) error
}

// loader is the reader of all sources of rows on the host: it collects
// records until they have enough rows for a table, and copies them to the device
// together.
type loader struct {
	source   Source
	manager  *memory.Manager
	request  Request
	schema   *arrow.Schema
	counters *Counters

	// take, if it is not nil, returns the records of each table: see [Split] and stager. stages is true if
	// a stager takes them from the first table on.
	take   func(ctx context.Context) (*staged, error)
	stages bool
	// early is the records as long as they can be read early, or nil.
	early earlyRecords
	// filter selects rows by codes of dictionaries, or is nil.
	filter *codeFilter

	mu      sync.Mutex
	records records // nil once closed
	// pending are records that are not on the device yet, of pendingRows rows. After a
	// failed copy they stay, and the next call tries again.
	pending     []arrow.Record
	pendingRows int64
	// copied is all pending records on the device, or nil.
	copied *tableCopy
	// most is the number of rows of a table that is not exceeded, or zero: that of the
	// request, or less after memory has not sufficed. weight is the weighted length of raw columns from
	// which on a table gets no further rows.
	most, weight int64
	// later is a record that does not belong into a table with the pending ones.
	later       arrow.Record
	ended       bool
	failed      bool
	rows, bytes int64
}

// newLoader returns a reader of records of a schema.
func newLoader(s Source, m *memory.Manager, request Request, schema *arrow.Schema, r records) *loader {
	return &loader{source: s, manager: m, request: request, schema: schema, counters: request.Counters.or(), records: r, most: request.MostRows, weight: deviceBytes}
}

func (l *loader) Schema() *arrow.Schema { return l.schema }

func (l *loader) Next(ctx context.Context) (*buffer.Buffer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	table, err := l.next(ctx)
	if err != nil {
		if err == io.EOF {
			return nil, io.EOF
		}
		return nil, wrap(l.source, err)
	}
	return table, nil
}

func (l *loader) next(ctx context.Context) (*buffer.Buffer, error) {
	if l.records == nil {
		return nil, fmt.Errorf("the reader is closed: %w", memory.ErrReleased)
	}
	if err := cancel.Error(ctx); err != nil {
		return nil, err
	}
	l.early = nil
	if l.stages {
		if err := l.stage(ctx); err != nil {
			return nil, err
		}
		l.stages = false
	}
	for {
		table, rows, err := l.table(ctx)
		if err != nil {
			return nil, err
		}
		bytes, left := int64(table.Bytes()), rows
		if l.filter != nil {
			left, _ = table.HostRows()
		}
		l.rows += rows
		l.bytes += bytes
		l.counters.Rows.Add(left)
		l.counters.Bytes.Add(bytes)
		if l.request.Progress != nil {
			l.request.Progress(l.rows, l.bytes)
		}
		if left > 0 {
			return table, nil
		}
		if err := table.Release(); err != nil {
			return nil, err
		}
	}
}

// table returns the next table, or io.EOF, and the number of rows that were read for it.
func (l *loader) table(ctx context.Context) (table *buffer.Buffer, rows int64, err error) {
	if err := l.collect(ctx); err != nil {
		l.failed = true
		return nil, 0, err
	}
	if len(l.pending) == 0 {
		return nil, 0, io.EOF
	}
	return l.load(ctx)
}

const (
	// leastRows is the number of rows below which a table is not made smaller.
	leastRows = 256
	// leastRawRows is the number of rows below which the host decodes raw columns if memory is short: of column
	// chunks they are one page or two.
	leastRawRows = 1 << 16
)

// load copies the pending records to the device, or the first half of their rows if memory
// is short, and so on. It drops what it has copied.
func (l *loader) load(ctx context.Context) (table *buffer.Buffer, rows int64, err error) {
	if err := l.unmixed(ctx); err != nil {
		return nil, 0, err
	}
	rows = l.pendingRows
	if l.most > 0 {
		rows = min(rows, l.most)
	}
	for {
		if rows == l.pendingRows {
			if table, err = l.whole(ctx); err == nil {
				err = l.drop()
			}
		} else {
			table, err = l.loadFirst(ctx, rows)
		}
		raw, fault := hasRaw(l.pending), errors.Is(err, delimited.ErrFault)
		if raw && !short(err) && !fault {
			return table, rows, err
		}
		if err != nil && (raw && (fault || rows < leastRawRows) || !raw && l.encoded()) {
			// The host finds the fault. Or the dictionaries, or the bytes, and the values do not fit together: the values
			// alone may.
			if err := l.decode(ctx); err != nil {
				return nil, 0, err
			}
			continue
		}
		if !short(err) || rows < leastRows {
			return table, rows, err
		}
		rows /= 2
		l.most = rows
	}
}

// whole makes a table of all pending records, or of the copy of them.
func (l *loader) whole(ctx context.Context) (*buffer.Buffer, error) {
	copied := l.copied
	l.copied = nil
	if copied == nil {
		return l.copy(ctx, l.pending)
	}
	table, err := copied.table(ctx)
	return release.OnError(table, err, copied.Release())
}

// copy copies records to the device as a table of the reader's schema.
func (l *loader) copy(ctx context.Context, records []arrow.Record) (*buffer.Buffer, error) {
	if !encodes(records[0].Schema(), l.schema) && !hasRaw(records[:1]) {
		return buffer.FromRecords(ctx, l.manager, records, buffer.LoadOptions{Tag: l.request.Tag})
	}
	copied, err := copyTable(ctx, l.target(nil), records)
	if err != nil {
		return nil, err
	}
	table, err := copied.table(ctx)
	return release.OnError(table, err, copied.Release())
}

// target is where raw columns of the reader are copied to.
func (l *loader) target(ahead *device.Stream) rawTarget {
	return rawTarget{manager: l.manager, schema: l.schema, tag: l.request.Tag, ahead: ahead, filter: l.filter}
}

// unmixed decodes raw columns on the host where other pending records have values.
func (l *loader) unmixed(ctx context.Context) (err error) {
	if len(l.pending) < 2 {
		return nil
	}
	if places, mixed := mixedForms(l.pending); mixed {
		return l.replace(func(records []arrow.Record) ([]arrow.Record, error) {
			records, err := withoutRaw(ctx, l.schema, records, func(place int) bool { return places[place] })
			if err != nil {
				return nil, err
			}
			return decodedRecords(l.schema, records, func(place int) bool { return places[place] }), nil
		})
	}
	return nil
}

// replace replaces the pending records by others with the same rows.
func (l *loader) replace(by func(records []arrow.Record) ([]arrow.Record, error)) (err error) {
	defer recovered(&err)
	records, failed := l.pending, l.failed
	l.pending, l.failed = nil, true // if it panics
	l.pending, err = by(records)
	l.failed = failed || err != nil
	return err
}

// encoded reports whether pending records have dictionaries that the schema does not have.
func (l *loader) encoded() bool {
	for _, record := range l.pending {
		if encodes(record.Schema(), l.schema) {
			return true
		}
	}
	return false
}

// decode decodes the dictionaries and the raw columns of pending records.
func (l *loader) decode(ctx context.Context) (err error) {
	return l.replace(func(records []arrow.Record) ([]arrow.Record, error) {
		all := func(int) bool { return true }
		records, err := withoutRaw(ctx, l.schema, records, all)
		if err != nil {
			return nil, err
		}
		return decodedRecords(l.schema, records, all), nil
	})
}

// short reports whether memory did not suffice, or a column cannot have its strings: fewer rows may do.
func short(err error) bool {
	return errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory) ||
		errors.Is(err, chunks.ErrLong) || errors.Is(err, delimited.ErrLong) || errors.Is(err, packed.ErrLong)
}

// loadFirst copies the first pending rows. arrow-go panics when it cuts a record with invalid
// contents.
func (l *loader) loadFirst(ctx context.Context, rows int64) (table *buffer.Buffer, err error) {
	defer recovered(&err)
	first, rest := cut(l.pending, rows)
	defer release.Arrow(first)
	if table, err = l.copy(ctx, first); err != nil {
		release.Arrow(rest)
		return nil, err
	}
	left := l.pendingRows - rows
	err = l.drop()
	l.pending, l.pendingRows = rest, left
	return release.OnError(table, nil, err)
}

// cut divides records after a number of rows. The caller releases both parts.
func cut(list []arrow.Record, rows int64) (first, rest []arrow.Record) {
	for _, record := range list {
		n := min(record.NumRows(), rows)
		rows -= n
		if n > 0 {
			first = append(first, record.NewSlice(0, n))
		}
		if n < record.NumRows() {
			rest = append(rest, record.NewSlice(n, record.NumRows()))
		}
	}
	return first, rest
}

// collect reads records until there are enough for a table. arrow-go panics when it cuts
// a record with invalid contents, which a damaged file can have.
func (l *loader) collect(ctx context.Context) (err error) {
	defer recovered(&err)
	if l.take != nil {
		return l.takeBatch(ctx)
	}
	weighted, most := int64(0), l.request.BatchRows
	if l.most > 0 {
		most = min(most, l.most)
	}
	for !l.ended && (len(l.pending) == 0 || l.pendingRows < most && weighted < l.weight) {
		left := int64(-1)
		if l.request.Limit > 0 {
			if left = l.request.Limit - l.rows - l.pendingRows; left <= 0 {
				l.ended = true
				break
			}
		}
		record, err := l.record(ctx)
		if errors.Is(err, io.EOF) {
			l.ended = true
			break
		}
		if err != nil {
			return err
		}
		if record.NumRows() == 0 {
			record.Release()
			continue
		}
		if len(l.pending) > 0 && !joins(l.pending[0], record) {
			l.later = record
			break
		}
		if left >= 0 && record.NumRows() > left {
			whole := record
			defer whole.Release()
			record = whole.NewSlice(0, left)
		}
		l.pending = append(l.pending, record)
		l.pendingRows += record.NumRows()
		_, length := rawLength(record)
		weighted += length
	}
	return nil
}

// record returns the next record.
func (l *loader) record(ctx context.Context) (arrow.Record, error) {
	if later := l.later; later != nil {
		l.later = nil
		return later, nil
	}
	return l.records.next(ctx)
}

// takeBatch gets the records of the next table, unless some are left.
func (l *loader) takeBatch(ctx context.Context) (err error) {
	if l.ended || len(l.pending) > 0 {
		return nil
	}
	next, err := l.take(ctx)
	if err == io.EOF {
		l.ended = true
		return nil
	}
	if err != nil {
		return err
	}
	l.pending, l.pendingRows, l.copied = next.records, next.rows, next.copied
	return next.err
}

func (l *loader) drop() error {
	release.Arrow(l.pending)
	copied := l.copied
	l.pending, l.pendingRows, l.copied = nil, 0, nil
	return copied.Release()
}

// Close implements [buffer.Reader].
func (l *loader) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records == nil {
		return nil
	}
	err := l.drop()
	if l.later != nil {
		l.later.Release()
		l.later = nil
	}
	closing := l.records
	l.records, l.early = nil, nil
	return wrap(l.source, errors.Join(err, closing.close(l.failed)))
}

// split cuts records that have more rows than most into parts.
type split struct {
	records
	most   int64
	record arrow.Record
	offset int64
}

// splitting returns the records in parts of at most the given number of rows; zero
// means whole records.
func splitting(r records, most int64) records {
	if most <= 0 {
		return r
	}
	return &split{records: r, most: most}
}

func (s *split) next(ctx context.Context) (arrow.Record, error) {
	if s.record == nil {
		record, err := s.records.next(ctx)
		if err != nil || record.NumRows() <= s.most {
			return record, err
		}
		s.record, s.offset = record, 0
	}
	end := min(s.offset+s.most, s.record.NumRows())
	part := s.record.NewSlice(s.offset, end)
	s.offset = end
	if end == s.record.NumRows() {
		s.record.Release()
		s.record = nil
	}
	return part, nil
}

func (s *split) close(failed bool) error {
	if s.record != nil {
		s.record.Release()
		s.record = nil
	}
	return s.records.close(failed)
}
