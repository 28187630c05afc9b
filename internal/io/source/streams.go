package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/memory"
)

// format is a format of files that are read from the beginning to the end.
type format interface {
	// name is the first word of the source's description.
	name() string
	// learn reads the beginnings of files and returns their decoder.
	learn(files beginnings) (decoder, error)
	// pinned reports whether decoding into pinned memory is useful.
	pinned() bool
}

// decoder decodes files of known columns.
type decoder interface {
	// schema is that of all files.
	schema() *arrow.Schema
	// decode returns a reader of a file, in records of at most rows rows. It need not return
	// columns other than the named ones.
	decode(file *stream, columns []string, rows int, allocator arrowmemory.Allocator) (array.RecordReader, error)
}

// beginnings are the files that columns are learned from.
type beginnings struct {
	ctx    context.Context
	source *streams
	count  int
}

// places returns the places of the files: all, or the first one.
func (b beginnings) places(first bool) int {
	if first {
		return 1
	}
	return b.count
}

// open opens a file for a function.
func (b beginnings) open(place int, read func(file *stream) error) error {
	if err := cancel.Error(b.ctx); err != nil {
		return err
	}
	if err := b.reading(place, read); err != nil {
		return b.fail(place, err)
	}
	return nil
}

func (b beginnings) reading(place int, read func(file *stream) error) (err error) {
	defer recovered(&err)
	file, err := b.source.open(b.ctx, place, new(Counters))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	return read(file)
}

// fail returns the error of a file.
func (b beginnings) fail(place int, err error) error { return b.source.fail(place, damaged(err)) }

// streams is a source of files that are read from the beginning to the end.
type streams struct {
	format format
	paths  *paths
	// open opens a file by its place. The counters count its bytes.
	open func(ctx context.Context, place int, counters *Counters) (*stream, error)
	// once is set for a source that can be opened once. Its schema has been read.
	once bool

	mu sync.Mutex
	// decoder is that of the files, all the schema of the source with partitions.
	decoder decoder
	all     *arrow.Schema
	used    bool
}

// stream is an open file.
type stream struct {
	io.Reader
	// at reads the file at any position. Only an io.ReaderAt has it.
	at *io.SectionReader
	// forward reports that reading from the beginning to the end takes less time than at other positions.
	forward bool
	close   func() error
}

// streams makes a source of paths.
func (f Files) streams(format format, list, extensions []string) (Source, error) {
	matches, err := f.expand(list, extensions)
	if err != nil {
		return nil, pathError(format.name(), list, err)
	}
	openers := make([]opener, len(matches.files))
	for i, each := range matches.files {
		openers[i] = f.opening(each)
	}
	return &streams{format: format, paths: matches, open: func(ctx context.Context, place int, counters *Counters) (*stream, error) {
		open, err := openers[place](ctx, counters)
		if err != nil {
			return nil, err
		}
		var from io.ReaderAt = open
		if open.remote != nil {
			blocks := newObjectBlocks(open.remote, matches.streamsAtATime())
			from, open.close = blocks, blocks.close
		}
		at := io.NewSectionReader(countedAt{from, counters}, 0, open.size)
		file := &stream{Reader: at, at: at, forward: open.remote != nil, close: open.close}
		if _, arrows := format.(ipcFormat); arrows {
			return file, nil
		}
		return decompressed(matches.files[place].name, file)
	}}, nil
}

// newStream makes a source of one reader, which can be opened once. It reads the schema.
func newStream(f format, name string, r io.Reader) (Source, error) {
	if r == nil {
		return nil, pathError(f.name(), []string{name}, fmt.Errorf("the reader is nil: %w", ErrArgument))
	}
	// The bytes that the schema was read from are read again.
	read := &again{from: marked{r}}
	s := &streams{format: f, paths: &paths{patterns: []string{name}, files: []path{{name: name}}}, once: true}
	s.open = func(_ context.Context, _ int, counters *Counters) (*stream, error) {
		return &stream{Reader: counted{read, counters}, close: func() error { return nil }}, nil
	}
	if _, err := s.Schema(context.Background()); err != nil {
		return nil, err
	}
	read.rewind()
	return s, nil
}

// marked marks errors of a reader.
type marked struct{ from io.Reader }

func (m marked) Read(p []byte) (int, error) {
	n, err := m.from.Read(p)
	return n, readError(err)
}

// again is a reader of which the beginning can be read twice.
type again struct {
	from io.Reader
	// kept are the bytes that were read before the call of rewind.
	kept    []byte
	rewound bool
}

func (a *again) Read(p []byte) (int, error) {
	if a.rewound && len(a.kept) > 0 {
		n := copy(p, a.kept)
		a.kept = a.kept[n:]
		return n, nil
	}
	n, err := a.from.Read(p)
	if !a.rewound {
		a.kept = append(a.kept, p[:n]...)
	}
	return n, err
}

func (a *again) rewind() { a.rewound = true }

func (s *streams) String() string { return s.format.name() + " " + s.paths.String() }

func (s *streams) fail(place int, err error) error {
	return &Error{Source: s.String(), Path: s.paths.files[place].name, RowGroup: -1, Err: plainPath(err)}
}

func (s *streams) Schema(ctx context.Context) (*arrow.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all != nil {
		return s.all, nil
	}
	learned, err := s.format.learn(beginnings{ctx, s, len(s.paths.files)})
	if err != nil {
		return nil, err
	}
	s.decoder = learned
	var fields []arrow.Field
	for _, field := range learned.schema().Fields() {
		if !slices.ContainsFunc(s.paths.partitions, func(p partition) bool { return p.name == field.Name }) {
			fields = append(fields, field)
		}
	}
	for _, p := range s.paths.partitions {
		fields = append(fields, p.field())
	}
	s.all = nullableWhere(arrow.NewSchema(fields, nil), unread)
	return s.all, nil
}

func (s *streams) Rows(context.Context) (rows int64, exact bool) { return -1, false }

func (s *streams) Bounds(context.Context, string) (low, high any, ok bool) { return nil, nil, false }

func (s *streams) Open(ctx context.Context, m *memory.Manager, request Request) (buffer.Reader, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	selected, err := project(schema, request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	places, err := s.places(ctx, schema, request)
	if err != nil {
		return nil, wrap(s, err)
	}
	if s.once {
		s.mu.Lock()
		used := s.used
		s.used = true
		s.mu.Unlock()
		if used {
			return nil, wrap(s, fmt.Errorf("it was opened before: collect its rows into a table to read them again: %w", ErrUsed))
		}
	}
	s.paths.report(request.Counters)
	r := &streamRecords{source: s, manager: m, schema: selected.schema, allocator: arrowmemory.DefaultAllocator, counters: request.Counters.or()}
	if d, ok := s.decoder.(deviceDecoder); ok {
		r.onDevice = d.onDevice(m, r.columns())
	}
	if request.BatchRows == 0 {
		request.BatchRows = batchRows(r.onDevice, request)
	}
	r.rows = int(min(request.BatchRows, streamRows))
	closing, bytes := func(bool) error { return nil }, 0
	if r.onDevice {
		r.allocator, closing = hostMemory(m)
		bytes = textBytes
	} else if s.format.pinned() {
		var free func(failed bool) error
		r.allocator, free = hostMemory(m)
		// arrow-go loses buffers of a message that is cut off, also without an error.
		closing = func(bool) error { return free(true) }
	}
	a := &ahead{
		parts: len(places), most: s.paths.streamsAtATime(), mostBytes: mostTexts, closing: closing,
		bytes: func(part int) int64 { return int64(bytes) + s.paths.blockBytes(places[part]) },
		decode: func(ctx context.Context, part int, yield func(arrow.Record) bool) error {
			return r.decode(ctx, places[part], yield)
		},
	}
	l := newLoader(s, m, request, selected.schema, splitting(a.begin(), request.BatchRows))
	l.stages = r.onDevice
	return l, nil
}

// streamRows is the number of rows that are decoded into one record at most.
const streamRows = 1 << 16

// places returns the files in which a row can meet the conditions of a request,
// according to the folders that they are in.
func (s *streams) places(ctx context.Context, schema *arrow.Schema, request Request) ([]int, error) {
	possible, err := prune.Possible(ctx, schema, request.Where, len(s.paths.files), func(part int, column string) prune.Range {
		for i, p := range s.paths.partitions {
			if p.name == column {
				return p.span(s.paths.files[part].values[i], -1)
			}
		}
		return prune.Unknown
	})
	if err != nil {
		return nil, err
	}
	var places []int
	for place, ok := range possible {
		if ok {
			places = append(places, place)
		}
	}
	counters := request.Counters.or()
	counters.Files.Add(int64(len(places)))
	counters.SkippedFiles.Add(int64(len(possible) - len(places)))
	return places, nil
}

// streamRecords decodes files.
type streamRecords struct {
	source    *streams
	schema    *arrow.Schema
	rows      int // of a record
	allocator arrowmemory.Allocator
	counters  *Counters
	// onDevice reports that records have texts, which the device of the manager decodes.
	onDevice bool
	manager  *memory.Manager
}

// columns are the columns of the schema that the files have.
func (r *streamRecords) columns() (columns []string) {
	for _, field := range r.schema.Fields() {
		if len(r.source.decoder.schema().FieldIndices(field.Name)) > 0 && !slices.Contains(columns, field.Name) {
			columns = append(columns, field.Name)
		}
	}
	return columns
}

// open returns a reader of a file's records.
func (r *streamRecords) open(ctx context.Context, file *stream, place int) (array.RecordReader, error) {
	if !r.onDevice {
		return r.source.decoder.decode(file, r.columns(), r.rows, r.allocator)
	}
	fail := func(err error) error { return r.source.fail(place, err) }
	return r.source.decoder.(deviceDecoder).texts(ctx, r.manager, file, r.columns(), r.allocator, fail)
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	counters *Counters
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.counters.FileBytes.Add(int64(n))
	return n, err
}

// countedAt counts the bytes that are read.
type countedAt struct {
	from     io.ReaderAt
	counters *Counters
}

func (c countedAt) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.from.ReadAt(p, offset)
	c.counters.FileBytes.Add(int64(n))
	return n, err
}

func (r *streamRecords) decode(ctx context.Context, place int, yield func(arrow.Record) bool) error {
	err := r.decodeFile(ctx, place, yield)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return r.source.fail(place, damaged(err))
}

func (r *streamRecords) decodeFile(ctx context.Context, place int, yield func(arrow.Record) bool) (err error) {
	defer recovered(&err)
	file, err := r.source.open(ctx, place, r.counters)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	reader, err := r.open(ctx, file, place)
	if err != nil {
		return err
	}
	defer reader.Release()
	for {
		if err := cancel.Error(ctx); err != nil {
			return err
		}
		more := reader.Next()
		// arrow-go's readers of CSV return a record with nulls and the error.
		// An error that only wraps io.EOF is not the end: arrow-go met the end within a message.
		if err := reader.Err(); err != nil && err != io.EOF {
			return err
		}
		if !more {
			return nil
		}
		record, err := r.arranged(reader.Record(), place)
		if err != nil {
			return err
		}
		if !yield(record) {
			return nil
		}
	}
}

// arranged returns a record with the columns of the request.
func (r *streamRecords) arranged(record arrow.Record, place int) (arrow.Record, error) {
	columns, fields := make([]arrow.Array, r.schema.NumFields()), r.schema.Fields()
	for i, field := range r.schema.Fields() {
		partition := slices.IndexFunc(r.source.paths.partitions, func(p partition) bool { return p.name == field.Name })
		if partition >= 0 {
			columns[i] = r.source.paths.partitions[partition].array(r.source.paths.files[place].values[partition], int(record.NumRows()))
			defer columns[i].Release()
			continue
		}
		indices := record.Schema().FieldIndices(field.Name)
		if len(indices) == 0 {
			return nil, unknownColumn(field.Name, fieldNames(record.Schema()), buffer.ErrSchema)
		}
		columns[i] = record.Column(indices[0])
		fields[i].Type = columns[i].DataType()
		if has := valueType(fields[i].Type); !arrow.TypeEqual(has, field.Type) {
			return nil, fmt.Errorf("column %q is of type %v, in the first file of %v: %w", field.Name, has, field.Type, buffer.ErrSchema)
		}
	}
	if !r.onDevice {
		return array.NewRecord(r.schema, columns, record.NumRows()), nil
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows()), nil
}
