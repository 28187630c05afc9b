package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/chunks"
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
	// plain is set if a stager also copies records that have neither column chunks nor packed columns.
	plain bool

	mu      sync.Mutex
	records records // nil once closed
	// pending are records that are not on the device yet, of pendingRows rows. After a
	// failed copy they stay, and the next call tries again.
	pending     []arrow.Record
	pendingRows int64
	// copied is the bytes of the column chunks or the packed columns of all pending records on the device, or nil.
	copied deviceBytesOf
	// most is the number of rows of a table that is not exceeded, or zero: that of the
	// request, or less after memory has not sufficed.
	most        int64
	ended       bool
	failed      bool
	rows, bytes int64
}

// newLoader returns a reader of records of a schema.
func newLoader(s Source, m *memory.Manager, request Request, schema *arrow.Schema, r records) *loader {
	return &loader{source: s, manager: m, request: request, schema: schema, counters: request.Counters.or(), records: r, most: request.MostRows}
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
	if l.stages {
		if err := l.stage(ctx); err != nil {
			return nil, err
		}
		l.stages = false
	}
	if err := l.collect(ctx); err != nil {
		l.failed = true
		return nil, err
	}
	if len(l.pending) == 0 {
		return nil, io.EOF
	}
	table, rows, err := l.load(ctx)
	if err != nil {
		return nil, err
	}
	bytes := int64(table.Bytes())
	l.rows += rows
	l.bytes += bytes
	l.counters.Rows.Add(rows)
	l.counters.Bytes.Add(bytes)
	if l.request.Progress != nil {
		l.request.Progress(l.rows, l.bytes)
	}
	return table, nil
}

const (
	// leastRows is the number of rows below which a table is not made smaller.
	leastRows = 256
	// leastChunkRows is the number of rows below which the host decodes column chunks if memory is
	// short: they are one page or two.
	leastChunkRows = 1 << 16
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
		chunked := hasChunks(l.pending) || hasPacked(l.pending)
		if chunked && !short(err) {
			return table, rows, err
		}
		if err != nil && (chunked && rows < leastChunkRows || !chunked && l.encoded()) {
			// The dictionaries, or the pages, and the values do not fit together: the values alone may.
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

// whole copies all pending records. It uses the bytes that are on the device, and gives them back.
func (l *loader) whole(ctx context.Context) (*buffer.Buffer, error) {
	copied := l.copied
	l.copied = nil
	table, err := l.copy(ctx, l.pending, copied)
	return release.OnError(table, err, releaseBytes(copied))
}

// copy copies records to the device as a table of the reader's schema.
func (l *loader) copy(ctx context.Context, records []arrow.Record, copied deviceBytesOf) (*buffer.Buffer, error) {
	if c, ok := copied.(*hostCopy); ok {
		return c.table(ctx, l)
	}
	if hasPacked(records[:1]) {
		return l.copyHost(ctx, records)
	}
	if encodes(records[0].Schema(), l.schema) || hasChunks(records[:1]) {
		chunks, _ := copied.(*chunkBatch)
		return copyDecoded(ctx, l.manager, l.schema, records, l.request.Tag, chunks)
	}
	return buffer.FromRecords(ctx, l.manager, records, buffer.LoadOptions{Tag: l.request.Tag})
}

// unmixed decodes column chunks and packed columns on the host where other pending records have values.
func (l *loader) unmixed(ctx context.Context) (err error) {
	if len(l.pending) < 2 {
		return nil
	}
	if hasPacked(l.pending) && slices.ContainsFunc(l.pending, func(r arrow.Record) bool { return !hasPacked([]arrow.Record{r}) }) {
		return l.decode(ctx)
	}
	if places, mixed := mixedChunks(l.pending); mixed {
		return l.replace(func(records []arrow.Record) ([]arrow.Record, error) {
			return withoutChunks(l.schema, records, func(place int) bool { return places[place] })
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

// decode decodes the dictionaries, column chunks and packed columns of pending records.
func (l *loader) decode(ctx context.Context) (err error) {
	return l.replace(func(records []arrow.Record) ([]arrow.Record, error) {
		records, err := withoutPacked(ctx, l.schema, records)
		if err != nil {
			return nil, err
		}
		if records, err = withoutChunks(l.schema, records, func(int) bool { return true }); err != nil {
			return nil, err
		}
		return decodedRecords(l.schema, records), nil
	})
}

// short reports whether memory did not suffice, or a column cannot have its strings: fewer rows may do.
func short(err error) bool {
	return errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, chunks.ErrLong) || errors.Is(err, packed.ErrLong)
}

// loadFirst copies the first pending rows. arrow-go panics when it cuts a record with invalid
// contents.
func (l *loader) loadFirst(ctx context.Context, rows int64) (table *buffer.Buffer, err error) {
	defer recovered(&err)
	first, rest := cut(l.pending, rows)
	defer releaseRecords(first)
	if table, err = l.copy(ctx, first, nil); err != nil {
		releaseRecords(rest)
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

func releaseRecords(list []arrow.Record) {
	for _, record := range list {
		record.Release()
	}
}

// collect reads records until there are enough for a table. arrow-go panics when it cuts
// a record with invalid contents, which a damaged file can have.
func (l *loader) collect(ctx context.Context) (err error) {
	defer recovered(&err)
	if l.take != nil {
		return l.takeBatch(ctx)
	}
	bytes := int64(0)
	for !l.ended && (len(l.pending) == 0 || l.pendingRows < l.request.BatchRows && bytes < deviceBytes) {
		left := int64(-1)
		if l.request.Limit > 0 {
			if left = l.request.Limit - l.rows - l.pendingRows; left <= 0 {
				l.ended = true
				break
			}
		}
		record, err := l.records.next(ctx)
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
		if left >= 0 && record.NumRows() > left {
			whole := record
			defer whole.Release()
			record = whole.NewSlice(0, left)
		}
		l.pending = append(l.pending, record)
		l.pendingRows += record.NumRows()
		bytes += chunkLength(record)
	}
	return nil
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
	releaseRecords(l.pending)
	copied := l.copied
	l.pending, l.pendingRows, l.copied = nil, 0, nil
	return releaseBytes(copied)
}

// Close implements [buffer.Reader].
func (l *loader) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records == nil {
		return nil
	}
	err := l.drop()
	closing := l.records
	l.records = nil
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
