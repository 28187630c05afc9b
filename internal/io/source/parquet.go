package source

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/memory"
)

// parquetFiles is a source of Parquet files of one schema.
type parquetFiles struct {
	paths *paths
	files []*parquetFile
	// table is that which lists the files, or nil.
	table *TableFiles

	mu     sync.Mutex
	schema *arrow.Schema
}

// Parquet is a source of Parquet files: files, patterns of [filepath.Glob], and folders,
// with all files below them that end in .parquet, .parq or .pq.
//
// # Schema
//
// The first file's columns are the source's. Every file must have these columns, of the
// same types, in any order. Folders named key=value, below the given folder or the first
// wildcard, add a column for each key: of int64 if all values are integers, otherwise of
// strings. It replaces a column of the files of the same name.
//
// A column of a type that is not known, such as a map with optional keys or a logical type that is
// newer than this package, has its physical type in the schema. Reading it is an error that wraps
// [ErrUnsupported]; the other columns of the file are read.
//
// # What is read
//
// A reader reads the requested columns of row groups in which a row can meet the
// conditions: statistics of the file and values of folders exclude the others. A condition
// that a column equals a literal, or one of several, also excludes row groups by the
// dictionary of the column if all its values are there, or by its Bloom filter. A page index
// also excludes pages: their rows are left out, and of the other columns the pages that have only
// such rows. Several goroutines read columns and row groups ahead of the reader. A GPU decodes most columns
// itself, also lists and structs, by package chunks. The host decodes the others by package pages, into pinned memory for
// a GPU. Footers are read once and again if a file has changed.
func (f Files) Parquet(list []string) (Source, error) {
	matches, err := f.expand(list, []string{".parquet", ".parq", ".pq"})
	if err != nil {
		return nil, pathError("parquet", list, err)
	}
	s := &parquetFiles{paths: matches}
	for _, each := range matches.files {
		s.files = append(s.files, &parquetFile{path: each.name, values: each.values, open: f.opening(each)})
	}
	return s, nil
}

// ParquetReaderAt is a source of one Parquet file in r, of size bytes. The name stands
// for its path in plans and errors. The source may be opened many times if r may be read
// concurrently.
func ParquetReaderAt(name string, r io.ReaderAt, size int64) (Source, error) {
	if r == nil || size < 0 {
		return nil, pathError("parquet", []string{name}, fmt.Errorf("the reader is nil or its size %d negative: %w", size, ErrArgument))
	}
	return &parquetFiles{
		paths: &paths{patterns: []string{name}, files: []path{{name: name}}},
		files: []*parquetFile{{path: name, open: openReaderAt(r, size)}},
	}, nil
}

// pathError is the error of a constructor.
func pathError(format string, patterns []string, err error) error {
	return &Error{Source: fmt.Sprintf("%s %v", format, (&paths{patterns: displayed(patterns)}).String()), Path: pathOf(err), RowGroup: -1, Err: plainPath(err)}
}

func (s *parquetFiles) String() string {
	if s.table != nil {
		return s.paths.String()
	}
	return "parquet " + s.paths.String()
}

func (s *parquetFiles) Schema(ctx context.Context) (*arrow.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.schema != nil {
		return s.schema, nil
	}
	f, err := s.files[0].footer(ctx)
	if err != nil {
		return nil, s.fail(s.files[0], -1, err)
	}
	s.schema = s.withPartitions(f.schema)
	return s.schema, nil
}

// withPartitions returns the schema of rows of a file: its columns, nullable, and those
// of its folders.
func (s *parquetFiles) withPartitions(file *arrow.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, field := range file.Fields() {
		if !slices.ContainsFunc(s.paths.partitions, func(p partition) bool { return p.name == field.Name }) {
			fields = append(fields, arrow.Field{Name: field.Name, Type: field.Type, Nullable: field.Nullable || len(s.files) > 1})
		}
	}
	for _, p := range s.paths.partitions {
		fields = append(fields, p.field())
	}
	return arrow.NewSchema(fields, nil)
}

// fail is an error about a file.
func (s *parquetFiles) fail(f *parquetFile, rowGroup int, err error) error {
	return &Error{Source: s.String(), Path: f.path, RowGroup: rowGroup, Err: plainPath(err)}
}

// footers returns the footers of all files, after a check that they have the source's
// schema.
func (s *parquetFiles) footers(ctx context.Context) ([]*footer, error) {
	return s.footersOf(ctx, s.files)
}

func (s *parquetFiles) footersOf(ctx context.Context, files []*parquetFile) ([]*footer, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	footers := make([]*footer, len(files))
	err = s.inParallel(ctx, len(files), func(i int) error {
		f, err := files[i].footer(ctx)
		if err == nil && s.table == nil {
			err = f.match(schema, s.paths.partitions)
		}
		if err != nil {
			return s.fail(files[i], -1, err)
		}
		footers[i] = f
		return nil
	})
	return footers, err
}

// readable returns the error of a column with a type in a file that cannot be read.
func (s *parquetFiles) readable(ctx context.Context, columns []string, groups []rowGroup) error {
	if s.table != nil {
		for _, group := range groups {
			if err := group.footer.readable(columns); err != nil {
				return s.fail(group.file, -1, err)
			}
		}
		return nil
	}
	footers, err := s.footers(ctx)
	if err != nil {
		return wrap(s, err)
	}
	for i, f := range footers {
		if err := f.readable(columns); err != nil {
			return s.fail(s.files[i], -1, err)
		}
	}
	return nil
}

// Rows reads the footers of all files. Of a table it is what its metadata say.
func (s *parquetFiles) Rows(ctx context.Context) (rows int64, exact bool) {
	if s.table != nil {
		return s.table.rows(), false
	}
	footers, err := s.footers(ctx)
	if err != nil {
		return -1, false
	}
	for _, f := range footers {
		rows += f.metadata.Rows
	}
	return rows, true
}

// Bounds has bounds of numbers, dates and times, if every row group has them, and the files are not those of a table.
func (s *parquetFiles) Bounds(ctx context.Context, column string) (low, high any, ok bool) {
	if s.table != nil {
		return nil, nil, false
	}
	footers, err := s.footers(ctx)
	if err != nil {
		return nil, nil, false
	}
	var all prune.Range
	for i, f := range footers {
		for rowGroup := range f.metadata.Groups {
			r := s.statistics(s.files[i], f, rowGroup, column)
			if r.Valid == 0 {
				continue
			}
			if all, ok = all.Union(r); !ok {
				return nil, nil, false
			}
		}
	}
	return all.Low, all.High, all.Low != nil
}

// statistics returns the range of a column in a row group.
func (s *parquetFiles) statistics(f *parquetFile, footer *footer, rowGroup int, column string) prune.Range {
	if f.listed != nil {
		return f.statistics(footer, rowGroup, column)
	}
	for i, p := range s.paths.partitions {
		if p.name == column {
			return p.span(f.values[i], footer.metadata.Groups[rowGroup].Rows)
		}
	}
	return footer.statistics(rowGroup, column)
}

func (s *parquetFiles) Open(ctx context.Context, m *memory.Manager, request Request) (buffer.Reader, error) {
	return s.openGroups(ctx, m, request, nil)
}

// openGroups opens a reader of the row groups of a request, or of those that choose returns of them.
func (s *parquetFiles) openGroups(ctx context.Context, m *memory.Manager, request Request, choose func([]rowGroup) []rowGroup) (buffer.Reader, error) {
	if request.Readahead == nil {
		request.Readahead = NewReadahead(m)
	}
	ctx = withRequests(ctx, request.Readahead.described)
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	selected, err := project(schema, request.Columns)
	if err != nil {
		return nil, wrap(s, err)
	}
	find := func() ([]rowGroup, error) { return s.rowGroups(ctx, schema, request) }
	if request.Numbered {
		find = func() ([]rowGroup, error) {
			return chooseOnce(request.Readahead, s, request.Where, func() ([]rowGroup, error) { return s.rowGroups(ctx, schema, request) })
		}
	}
	groups, err := find()
	if err != nil {
		return nil, wrap(s, err)
	}
	if choose != nil {
		groups = choose(groups)
	}
	if err := s.readable(ctx, append(columnsOf(request.Where), fieldNames(selected.schema)...), groups); err != nil {
		return nil, err
	}
	s.paths.report(request.Counters)
	onDevice := decodesChunks(m)
	if request.BatchRows == 0 {
		request.BatchRows = batchRows(onDevice, request)
	}
	allocator, check := hostMemory(m)
	records := newParquetRecords(s, selected.schema, groups, request, onDevice, allocator, check)
	l := newLoader(s, m, request, selected.schema, records)
	l.stages = onDevice
	if onDevice {
		l.filter = newCodeFilter(selected.schema, request)
	}
	if onDevice || s.paths.remote() {
		l.early = records
	}
	return l, nil
}

// inParallel is inParallel for files: those of stores wait for answers and not for processors.
func (s *parquetFiles) inParallel(ctx context.Context, n int, f func(i int) error) error {
	return concurrently(ctx, n, s.paths.width(), f)
}

// rowGroup is a row group that has to be read.
type rowGroup struct {
	file   *parquetFile
	footer *footer
	index  int
	// rows is the number of rows that are read, and spans are those, in order, or nil for all.
	rows  int64
	spans []span
}

// all is the number of rows in the file.
func (g rowGroup) all() int64 { return g.footer.metadata.Groups[g.index].Rows }

// rowGroups returns the row groups in which a row can meet the conditions of a request,
// as far as its limit reaches.
func (s *parquetFiles) rowGroups(ctx context.Context, schema *arrow.Schema, request Request) ([]rowGroup, error) {
	all, possible, err := s.possible(ctx, schema, request.Where)
	if err != nil {
		return nil, err
	}
	dictionaries, filters, err := s.excludeMembers(ctx, all, request.Where, request.Counters, possible)
	if err != nil {
		return nil, err
	}
	indices, err := s.excludePages(ctx, schema, all, request.Where, request.Counters, possible)
	if err != nil {
		return nil, err
	}
	var groups []rowGroup
	var rows int64
	read := map[*parquetFile]bool{}
	counters := request.Counters.or()
	for i, group := range all {
		if request.Limit > 0 && rows >= request.Limit {
			break
		}
		if !possible[i] {
			counters.SkippedRowGroups.Add(1)
			continue
		}
		groups, rows = append(groups, group), rows+group.rows
		read[group.file] = true
	}
	counters.RowGroups.Add(int64(len(groups)))
	counters.SkippedByDictionary.Add(dictionaries)
	counters.SkippedByFilter.Add(filters)
	counters.SkippedByIndex.Add(indices)
	counters.Files.Add(int64(len(read)))
	counters.SkippedFiles.Add(int64(len(s.files) - len(read)))
	return groups, nil
}
