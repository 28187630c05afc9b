package source

import (
	"context"
	"errors"
	"io"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Lacks reports whether the dictionary and the Bloom filter of a condition's column exclude a
// row group of a source of one Parquet file.
func Lacks(ctx context.Context, s Source, rowGroup int, condition expr.Expr) (dictionary, known, filter bool) {
	file := s.(*parquetFiles).files[0]
	footer, err := file.footer(ctx)
	if err != nil {
		panic(err)
	}
	g := groupValues{rowGroup: rowGroup0(file, footer, rowGroup), ctx: ctx}
	defer g.close()
	m := membersOf([]expr.Expr{condition})
	if len(m) != 1 {
		return false, false, false
	}
	dictionary, known = g.dictionaryLacks(ctx, m[0])
	return dictionary, known, g.filterLacks(m[0])
}

func rowGroup0(file *parquetFile, footer *footer, index int) rowGroup {
	return rowGroup{file: file, footer: footer, index: index, rows: footer.metadata.Groups[index].Rows}
}

// SetLeastEncodedRows sets the least number of rows of a record with dictionaries. Call restore
// afterwards.
func SetLeastEncodedRows(rows int64) (restore func()) {
	before := leastEncodedRows
	leastEncodedRows = rows
	return func() { leastEncodedRows = before }
}

// SetChunksOnDevice sets whether devices decode column chunks, and returns a function that sets
// what was before.
func SetChunksOnDevice(on bool) (reset func()) {
	before := chunksOnDevice
	chunksOnDevice = on
	return func() { chunksOnDevice = before }
}

// SetTexts sets whether devices decode texts of files, the length of texts, and that of the parts in which they are
// read. It returns a function that sets what was before.
func SetTexts(on bool, length, piece int) (reset func()) {
	beforeOn, before, beforeFirst, beforePiece := textsOnDevice, textBytes, firstTextBytes, textPiece
	textsOnDevice, textBytes, firstTextBytes, textPiece = on, length, length, piece
	return func() {
		textsOnDevice, textBytes, firstTextBytes, textPiece = beforeOn, before, beforeFirst, beforePiece
	}
}

// SetObjects sets the length of the end of an object that is read with its first part, the greatest gap between ranges that
// are read together, and the length of a request and of a block. It returns a function that sets what was before.
func SetObjects(end, gap int64, piece int, block int64) (reset func()) {
	beforeEnd, beforeGap, beforePiece, beforeBlock := endBytes, mostFetchGap, fetchPiece, objectBlockBytes
	endBytes, mostFetchGap, fetchPiece, objectBlockBytes = end, gap, piece, block
	return func() {
		endBytes, mostFetchGap, fetchPiece, objectBlockBytes = beforeEnd, beforeGap, beforePiece, beforeBlock
	}
}

// BlocksAhead returns the number of blocks that each of several files requests in advance.
func BlocksAhead(files int) int64 { return blocksAhead(files) }

// GroupBytes returns the memory that is counted for the first row group of a Parquet source that the host decodes.
func GroupBytes(ctx context.Context, s Source) (int64, error) {
	files := s.(*parquetFiles)
	schema, err := files.Schema(ctx)
	if err != nil {
		return 0, err
	}
	groups, err := files.rowGroups(ctx, schema, Request{})
	if err != nil {
		return 0, err
	}
	p := &parquetRecords{source: files, schema: schema, groups: groups, rows: mostRecordRows, remote: files.paths.remote()}
	return p.bytes(0), nil
}

// Paths returns the names of the files of a source, with the values of their partitions.
func Paths(s Source) (names []string, values [][]*string) {
	var all *paths
	switch s := s.(type) {
	case *parquetFiles:
		all = s.paths
	case *streams:
		all = s.paths
	}
	for _, file := range all.files {
		names, values = append(names, file.name), append(values, file.values)
	}
	return names, values
}

// DecodeParquet decodes columns of a source of Parquet files into memory of an allocator, and
// releases them.
func DecodeParquet(ctx context.Context, of Source, columns []string, allocator arrowmemory.Allocator) (rows int64, err error) {
	s := of.(*parquetFiles)
	schema, err := s.Schema(ctx)
	if err != nil {
		return 0, err
	}
	selected, err := project(schema, columns)
	if err != nil {
		return 0, err
	}
	groups, err := s.rowGroups(ctx, schema, Request{})
	if err != nil {
		return 0, err
	}
	records := newParquetRecords(s, selected.schema, groups, Request{Readahead: &Readahead{turns: turns{free: 2}}}, false, allocator, func(bool) error { return nil })
	defer func() { err = errors.Join(err, records.close(err != nil)) }()
	for {
		record, err := records.next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += record.NumRows()
		record.Release()
	}
}

// Flat reports for each column of the first row group of a source of one Parquet file whether
// package pages decodes it.
func Flat(ctx context.Context, of Source) (flat []bool, err error) {
	s := of.(*parquetFiles)
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	footer, err := s.files[0].footer(ctx)
	if err != nil {
		return nil, err
	}
	p := &parquetRecords{source: s, schema: schema, records: schema}
	d := &groupDecoder{parquetRecords: p, group: rowGroup0(s.files[0], footer, 0), leaves: p.leaves(footer)}
	for i := range schema.Fields() {
		_, is := d.flat(i)
		flat = append(flat, is)
	}
	return flat, nil
}

// SetDeviceBytes sets the length of column chunks from which on a table gets no further rows, and returns a
// function that sets what was before.
func SetDeviceBytes(bytes int64) (reset func()) {
	before := deviceBytes
	deviceBytes = bytes
	return func() { deviceBytes = before }
}

// Staged waits until a reader has staged as many tables as it does, and returns the number of copies on the
// device.
func Staged(r buffer.Reader) (copied int) {
	s := r.(*loader).records.(*stager)
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) < mostStaged && s.ended == nil || s.copying > 0 {
		changed := s.changed
		s.mu.Unlock()
		<-changed
		s.mu.Lock()
	}
	for _, each := range s.waiting {
		if each.copied != nil {
			copied++
		}
	}
	return copied
}

// SetHostRows sets the number of rows of segments of host tables, and of tables that are read from them. Call restore
// afterwards.
func SetHostRows(segment, table int64) (restore func()) {
	before, tableBefore := segmentRows, hostRows
	segmentRows, hostRows = segment, table
	return func() { segmentRows, hostRows = before, tableBefore }
}

// SetPageIndices sets whether page indices are used, and returns a function that sets what was before.
func SetPageIndices(on bool) (reset func()) {
	before := pageIndices
	pageIndices = on
	return func() { pageIndices = before }
}

// Nested reports for each column of the first row group of a source of one Parquet file whether a device decodes it as a list
// or a struct.
func Nested(ctx context.Context, of Source) (nested []bool, err error) {
	s := of.(*parquetFiles)
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	footer, err := s.files[0].footer(ctx)
	if err != nil {
		return nil, err
	}
	p := &parquetRecords{source: s, schema: schema, records: schema, device: true, allocator: arrowmemory.DefaultAllocator, counters: new(Counters), users: map[*parquetFile]*usedFile{}}
	d := &groupDecoder{parquetRecords: p, group: rowGroup0(s.files[0], footer, 0), leaves: p.leaves(footer)}
	used, err := p.use(ctx, d.group)
	if err != nil {
		return nil, err
	}
	d.from = used.opened
	for i := range schema.Fields() {
		c, err := d.openNested(i)
		if err != nil {
			return nil, err
		}
		if nested = append(nested, c != nil); c != nil {
			c.bytes.Release()
		}
	}
	return nested, p.unuse(d.group.file)
}

// SetCodes sets the numbers of rows of a row group from which on rows are selected by codes, and of those between two of them that
// are left out. It returns a function that sets what was before.
func SetCodes(least, unmatched int64) (reset func()) {
	beforeLeast, before := leastMatchedRows, leastUnmatched
	leastMatchedRows, leastUnmatched = least, unmatched
	return func() { leastMatchedRows, leastUnmatched = beforeLeast, before }
}
