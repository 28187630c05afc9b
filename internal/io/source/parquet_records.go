package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/io/source/parquetschema"
	"github.com/gpuframe/gpuframe/objectstore"
)

const (
	// mostRecordRows is the number of rows of a record at most: larger row groups are
	// decoded in several steps.
	mostRecordRows = 1 << 20
	// mostFixedElements is the number of elements in lists of a fixed size of a record at most: those of rows that are
	// null have memory, and none in the file.
	mostFixedElements = 1 << 24
	// stringWidth is the expected length of a string with its offset, in bytes.
	stringWidth = 16
	// mostDecoded is the memory that row groups in flight may take, beyond the two that
	// always may be.
	mostDecoded = 1 << 30
)

// parquetRecords decodes row groups.
type parquetRecords struct {
	source    *parquetFiles
	schema    *arrow.Schema
	groups    []rowGroup
	rows      int64 // of a record
	allocator arrowmemory.Allocator
	counters  *Counters
	// encoded reports for each column whether its records have dictionaries, and records is
	// their schema.
	encoded []bool
	records *arrow.Schema
	// device reports whether the device decodes column chunks that it can.
	device bool
	// remote reports that the files are objects of a store.
	remote bool
	// processors limits the goroutines that decode at a time.
	processors *readerTurns
	// conditions are those that the host evaluates on dictionaries: see [groupDecoder.selectRows].
	conditions []codeCondition

	mu    sync.Mutex
	users map[*parquetFile]*usedFile
}

// usedFile is a file that row groups in flight are read from.
type usedFile struct {
	users  int
	opened *opened
}

func newParquetRecords(s *parquetFiles, schema *arrow.Schema, groups []rowGroup, request Request, onDevice bool, allocator arrowmemory.Allocator, check func(failed bool) error) *parquetReader {
	p := &parquetRecords{
		source: s, schema: schema, groups: groups, rows: mostRecordRows, device: onDevice, allocator: allocator, counters: request.Counters.or(),
		processors: request.Readahead.reader(), users: map[*parquetFile]*usedFile{},
	}
	for _, most := range []int64{request.BatchRows, request.Limit} {
		if most > 0 {
			p.rows = min(p.rows, most)
		}
	}
	for _, field := range schema.Fields() {
		p.rows = min(p.rows, max(1, mostFixedElements/parquetschema.FixedElements(field.Type)))
	}
	p.remote = s.paths.remote()
	if !onDevice {
		p.conditions = codeConditions(schema, request)
	}
	p.encoded = p.encodedColumns()
	p.records = encodedSchema(schema, p.encoded)
	a := &ahead{
		parts: len(groups), bytes: p.bytes, most: 1 + runtime.GOMAXPROCS(0), mostBytes: mostDecoded,
		decode: p.decode, needed: p.processors.need, closing: check,
	}
	if onDevice {
		a.most = len(groups) // they wait for reads, not for processors
	} else {
		a.most = max(a.most, min(len(groups), s.paths.width()))
	}
	return &parquetReader{a.begin(), p}
}

// leaves returns the file's columns for each column of the result: none for partitions.
func (p *parquetRecords) leaves(f *footer) [][]int {
	leaves := make([][]int, p.schema.NumFields())
	for i, field := range p.schema.Fields() {
		if indices := f.schema.FieldIndices(field.Name); len(indices) > 0 && p.partition(field.Name) < 0 {
			leaves[i] = f.leaves[indices[0]]
		}
	}
	return leaves
}

// partition returns the place of a partition, or -1.
func (p *parquetRecords) partition(name string) int {
	for i, each := range p.source.paths.partitions {
		if each.name == name {
			return i
		}
	}
	return -1
}

// bytes returns the approximate memory of a row group in flight: its bytes without compression,
// or those of its arrays if values of dictionaries are expected to be more. A device decodes most
// columns from their bytes in the file.
func (p *parquetRecords) bytes(part int) int64 {
	group := p.groups[part]
	compressed, decoded := group.footer.bytesOf(group.index, p.leaves(group.footer))
	if group.spans != nil {
		part := float64(group.rows) / float64(group.all())
		compressed, decoded = int64(float64(compressed)*part), int64(float64(decoded)*part)
	}
	if p.device {
		return compressed
	}
	width := int64(0)
	for _, field := range p.schema.Fields() {
		if t, ok := field.Type.(arrow.FixedWidthDataType); ok {
			width += int64(t.Bytes())
		} else {
			width += stringWidth
		}
	}
	decoded = max(decoded, width*min(group.rows, 2*p.rows)) // one record is decoded while one waits
	if p.remote {
		decoded += compressed // its bytes are fetched before they are decoded
	}
	return decoded
}

// decode decodes one row group, several columns at a time.
func (p *parquetRecords) decode(ctx context.Context, part int, yield func(arrow.Record) bool) error {
	group := p.groups[part]
	err := p.decodeGroup(ctx, part, yield)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return p.source.fail(group.file, group.index, damaged(err))
}

func (p *parquetRecords) decodeGroup(ctx context.Context, part int, yield func(arrow.Record) bool) (err error) {
	group := p.groups[part]
	used, err := p.use(ctx, group)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.unuse(group.file)) }()
	d := &groupDecoder{
		parquetRecords: p, part: part, group: group, from: used.opened, leaves: p.leaves(group.footer),
		chunks: make([]*columnChunk, p.schema.NumFields()), columns: make([]hostColumn, p.schema.NumFields()),
	}
	defer d.release()
	if err := d.fetchGroup(ctx, used.opened); err != nil {
		return err
	}
	spans, err := d.selectRows(ctx)
	if err != nil {
		return err
	}
	if d.group.spans == nil {
		compressed, _ := group.footer.bytesOf(group.index, d.leaves)
		p.counters.FileBytes.Add(compressed)
	}
	for _, rows := range d.recordsOf(spans) {
		if err := cancel.Error(ctx); err != nil {
			return err
		}
		table, err := d.read(ctx, rows)
		if err != nil {
			return err
		}
		if !yieldTable(table, yield) {
			return nil
		}
	}
	return nil
}

// recordsOf divides rows into those of records. Only if conditions have selected the rows, a record has several spans.
func (d *groupDecoder) recordsOf(spans []span) (records [][]span) {
	left := int64(0)
	for _, s := range spans {
		for s.rows > 0 {
			if left == 0 || !d.selected {
				records, left = append(records, nil), d.rows
			}
			next := span{s.first, min(s.rows, left)}
			last := len(records) - 1
			records[last] = append(records[last], next)
			s.first, s.rows, left = s.first+next.rows, s.rows-next.rows, left-next.rows
		}
	}
	return records
}

// yieldTable yields a table as records, and releases it: several if its columns have
// several chunks.
func yieldTable(table arrow.Table, yield func(arrow.Record) bool) bool {
	defer table.Release()
	if table.NumCols() == 0 {
		return yield(array.NewRecord(table.Schema(), nil, table.NumRows()))
	}
	reader := array.NewTableReader(table, -1)
	defer reader.Release()
	for reader.Next() {
		record := reader.Record()
		record.Retain()
		if !yield(record) {
			return false
		}
	}
	return true
}

// groupDecoder decodes a row group step by step.
type groupDecoder struct {
	*parquetRecords
	part  int // number of the row group
	group rowGroup
	from  io.ReaderAt
	// chunks are the columns that the device decodes, columns those that the host does.
	chunks  []*columnChunk
	columns []hostColumn
	leaves  [][]int
	// parts are those of the column chunks, and bytesOf the bytes that were read of them together with others, or nil
	// before the first rows are read.
	parts   []*chunkPart
	bytesOf []*arrowmemory.Buffer
	// fetched is the bytes of an object of a store, or nil.
	fetched *fetched
	// selected is set if conditions on dictionary codes have selected the rows that are read. matched are the columns of
	// these conditions, by their places, until their values are read.
	selected    bool
	matchedLock sync.Mutex
	matched     map[int]*flatColumn
}

// read decodes the next rows of all columns: those of a span, or of several if they are selected.
func (d *groupDecoder) read(ctx context.Context, rows []span) (arrow.Table, error) {
	if d.parts == nil {
		d.readRegions(ctx)
	}
	chunks, failures := make([]*arrow.Chunked, len(d.columns)), make([]error, len(d.columns))
	var decoding sync.WaitGroup
	for i := range d.columns {
		decoding.Add(1)
		d.processors.run(d.part, func() {
			defer decoding.Done()
			if ctx.Err() == nil {
				chunks[i], failures[i] = d.column(ctx, i, rows)
			}
		})
	}
	decoding.Wait()
	err := cancel.Error(ctx)
	for i, failure := range failures {
		if failure != nil {
			field := d.schema.Field(i)
			err = errors.Join(err, fmt.Errorf("column %q of %v: %w", field.Name, field.Type, failure))
		}
	}
	defer func() {
		for _, chunk := range chunks {
			if chunk != nil {
				chunk.Release()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	columns, fields := make([]arrow.Column, len(chunks)), d.records.Fields()
	for i, chunk := range chunks {
		if formOf(chunk.DataType()) != nil {
			fields[i].Type = chunk.DataType()
		}
		columns[i] = *arrow.NewColumn(fields[i], chunk)
	}
	defer func() {
		for i := range columns {
			columns[i].Release()
		}
	}()
	return array.NewTable(arrow.NewSchema(fields, nil), columns, rowsOf(rows)), nil
}

// column decodes the next rows of a column. A panic about the file's contents becomes an error.
func (d *groupDecoder) column(ctx context.Context, i int, rows []span) (chunk *arrow.Chunked, err error) {
	defer recovered(&err)
	field, length := d.schema.Field(i), rowsOf(rows)
	if place := d.partition(field.Name); place >= 0 {
		values := d.source.paths.partitions[place].array(d.group.file.values[place], int(length))
		defer values.Release()
		return arrow.NewChunked(field.Type, []arrow.Array{values}), nil
	}
	if chunk, err := d.tableColumn(i, rows); chunk != nil || err != nil {
		return chunk, err
	}
	if d.chunks[i] == nil && d.columns[i] == nil {
		if d.chunks[i], err = d.openChunk(i); err == nil && d.chunks[i] == nil {
			d.chunks[i], err = d.openNested(i)
		}
		if err == nil && d.chunks[i] == nil {
			d.columns[i], err = d.openHost(i)
		}
		if err != nil {
			return nil, err
		}
	}
	if d.chunks[i] != nil {
		return d.chunks[i].rows(rows[0].first, length), nil
	}
	if chunk, err = d.columns[i].next(d.fileType(i), rows); err != nil {
		return nil, err
	}
	if chunk, err = d.conform(i, chunk); err != nil {
		return nil, err
	}
	fail := func(format string, arguments ...any) (*arrow.Chunked, error) {
		chunk.Release()
		return nil, fmt.Errorf(format, arguments...)
	}
	if int64(chunk.Len()) != length {
		return fail("it has %d values for %d rows: %w", chunk.Len(), length, ErrContents)
	}
	if !arrow.TypeEqual(chunk.DataType(), d.records.Field(i).Type) {
		return fail("its values are of %v: %w", chunk.DataType(), ErrUnsupported)
	}
	return chunk, nil
}

func (d *groupDecoder) release() {
	if d.fetched != nil {
		d.fetched.release()
	}
	for _, chunk := range d.chunks {
		if chunk != nil {
			chunk.bytes.Release()
		}
	}
	for _, bytes := range d.bytesOf {
		if bytes != nil {
			bytes.Release()
		}
	}
	for _, column := range d.columns {
		if column != nil {
			column.release()
		}
	}
	for _, column := range d.matched {
		column.release()
	}
}

// use opens the file of a row group, or shares it with other row groups in flight.
func (p *parquetRecords) use(ctx context.Context, group rowGroup) (*usedFile, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if used := p.users[group.file]; used != nil {
		used.users++
		return used, nil
	}
	open, err := group.file.open(ctx, p.counters)
	if err != nil {
		return nil, err
	}
	if !open.equal(group.footer.version) {
		err := fmt.Errorf("the file changed while it was read: %w", ErrContents)
		if open.remote != nil {
			err = readError(objectstore.ErrChanged)
		}
		return nil, errors.Join(err, open.close())
	}
	used := &usedFile{users: 1, opened: open}
	p.users[group.file] = used
	return used, nil
}

func (p *parquetRecords) unuse(f *parquetFile) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.users[f]
	if used.users--; used.users > 0 {
		return nil
	}
	delete(p.users, f)
	return used.opened.close()
}
