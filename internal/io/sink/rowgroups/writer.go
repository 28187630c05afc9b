package rowgroups

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
	"github.com/gpuframe/gpuframe/memory"
)

// Options describe a file.
type Options struct {
	// Codec compresses pages, at a level: 0 is the usual one of the codec.
	Codec parquetformat.Codec
	Level int
	// PageRows is the number of rows of a page. Pages of long values have fewer. 0 means 65,536.
	PageRows int
	// NoDictionaries leaves out dictionaries, OldEncodings those encodings that readers from before 2022 may not have.
	NoDictionaries, OldEncodings bool
	// Bloom has the names of columns with Bloom filters.
	Bloom []string
	// FieldIDs are the IDs of the columns, in their order. Nil means none.
	FieldIDs []FieldID
}

const (
	// groupsInFlight is the number of row groups that wait for the one that is written.
	groupsInFlight = 3
)

// Writer writes a file.
type Writer struct {
	to       io.Writer
	at       int64
	options  Options
	leaves   []leaf
	pageRows int
	// schema and entries are the parts of the footer without the row groups.
	schema  *parquetformat.Schema
	entries []parquetformat.Entry
	// workers are those that have nothing to do.
	workers chan *worker
	// groups are those to write, in order.
	groups chan *group
	done   chan struct{} // closed when no group is written any more
	rows   int64
	// memory has memory of encoded chunks that are written, for each column.
	memory []recycled
	// assembled is memory for the bytes of a row group.
	assembled []byte
	// stored are the row groups in the file.
	stored []storedGroup

	mu     sync.Mutex
	err    error // the first one
	failed chan struct{}
	pinned *memory.PinnedAllocator
}

// recycled is memory for reuse.
type recycled struct {
	mu   sync.Mutex
	free [][]byte
}

func (r *recycled) take() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) == 0 {
		return nil
	}
	last := len(r.free) - 1
	memory := r.free[last]
	r.free = r.free[:last]
	return memory[:0]
}

func (r *recycled) give(memory []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, memory)
}

// worker has what a goroutine needs to encode and compress.
type worker struct {
	scratch  scratch
	compress compressor
}

// NewWriter writes the beginning of a file. The types of the schema are those of values: dictionaries
// have their types of values.
//
// # Ownership
//
// The caller calls [Writer.Close], and [Writer.Abort] in any case.
func NewWriter(to io.Writer, schema *arrow.Schema, o Options) (*Writer, error) {
	w := &Writer{to: to, options: o, pageRows: o.PageRows, groups: make(chan *group, groupsInFlight), done: make(chan struct{}), failed: make(chan struct{})}
	if w.pageRows <= 0 {
		w.pageRows = defaultPageRows
	}
	if err := w.describe(schema); err != nil {
		return nil, err
	}
	n := runtime.GOMAXPROCS(0)
	w.workers = make(chan *worker, n)
	for range n {
		c, err := newCompressor(o.Codec, o.Level)
		if err != nil {
			return nil, err
		}
		w.workers <- &worker{compress: c}
	}
	if err := w.append([]byte(parquetformat.Magic)); err != nil {
		return nil, err
	}
	w.memory = make([]recycled, len(w.leaves))
	go w.writeGroups(w.groups)
	return w, nil
}

// describe makes the schema of the file, and describes the leaves.
func (w *Writer) describe(s *arrow.Schema) error {
	about, err := fileSchema(s, w.options.FieldIDs)
	if err != nil {
		return err
	}
	if w.leaves, err = leavesOf(s, about); err != nil {
		return err
	}
	w.schema, w.entries = about, entriesOf(s.Metadata())
	for i := range w.leaves {
		c := &w.leaves[i]
		c.dictionary, c.plain, c.bloom = !w.options.NoDictionaries, w.options.OldEncodings, slices.Contains(w.options.Bloom, s.Field(c.column).Name)
	}
	return nil
}

// append writes bytes.
func (w *Writer) append(data []byte) error {
	n, err := w.to.Write(data)
	w.at += int64(n)
	return err
}

// fail notes an error.
func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && err != nil {
		w.err = err
		close(w.failed)
	}
}

func (w *Writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// group is a row group that is encoded.
type group struct {
	rows    int
	chunks  []*groupChunk
	pending sync.WaitGroup
}

// groupChunk is a column chunk that is encoded, and its pages as they are in the file: first that of the
// dictionary, if the chunk has a dictionary.
type groupChunk struct {
	*chunk
	bodies []pageBody
	// stored is whether the pages stay without compression.
	stored bool
}

// pageBody are the bytes of a page behind its header.
type pageBody struct {
	data []byte
	sum  uint32
}

func newBody(data []byte) pageBody { return pageBody{data, crc32.ChecksumIEEE(data)} }

// Write encodes a row group of records with the columns of the schema. It waits only if several row
// groups are not written yet.
//
// # Errors
//
// An error may be that of an earlier row group. After an error the file is of no use.
func (w *Writer) Write(ctx context.Context, records []arrow.Record) error {
	rows := 0
	for _, record := range records {
		rows += int(record.NumRows())
	}
	g := &RowGroup{rows: rows, encoders: make([]encoder, len(w.leaves))}
	for i := range g.encoders {
		c := &w.leaves[i]
		arrays := make([]arrow.Array, len(records))
		for n, record := range records {
			arrays[n] = record.Column(c.column)
			arrays[n].Retain()
		}
		if c.path != nil {
			g.encoders[i] = newNestedEncoder(c, arrays)
		} else {
			g.encoders[i] = &arrayEncoder{c, arrays}
		}
	}
	return w.WriteGroup(ctx, g)
}

// RowGroup has the columns of a row group in memory of the host.
type RowGroup struct {
	rows     int
	encoders []encoder
}

// Release releases a row group that is not written.
func (g *RowGroup) Release() {
	for _, e := range g.encoders {
		if e != nil {
			e.release()
		}
	}
	g.encoders = nil
}

// encoder encodes a column chunk. Its bytes are appended to raw.
type encoder interface {
	encode(pageRows int, raw []byte, s *scratch) (*chunk, error)
	// release releases what the encoder retains.
	release()
}

// arrayEncoder encodes arrays of a flat column.
type arrayEncoder struct {
	leaf   *leaf
	arrays []arrow.Array
}

func (e *arrayEncoder) encode(pageRows int, raw []byte, s *scratch) (*chunk, error) {
	r, err := gatherRows(e.leaf, e.arrays)
	if err != nil {
		return nil, err
	}
	return encodeParts(e.leaf, partsOf(e.arrays), r, pageRows, raw, s)
}

// encodeParts encodes a column chunk of arrays.
func encodeParts(c *leaf, parts []part, r rows, pageRows int, raw []byte, s *scratch) (*chunk, error) {
	if x := indexCoded(c, parts, r, s); x != nil {
		return encodePages(c, pages.RLEDictionary, nil, x, r, pageRows, raw, s), nil
	}
	v, err := gather(c, parts, r, s)
	if err != nil {
		return nil, err
	}
	return encode(c, v, r, pageRows, raw, s), nil
}

func (e *arrayEncoder) release() {
	release.Arrow(e.arrays)
}

// WriteGroup is [Writer.Write] of a row group, which it releases.
func (w *Writer) WriteGroup(ctx context.Context, r *RowGroup) error {
	g := &group{rows: r.rows, chunks: make([]*groupChunk, len(r.encoders))}
	g.pending.Add(len(r.encoders))
	select {
	case w.groups <- g:
		for i, e := range r.encoders {
			go w.encodeChunk(g, i, e)
		}
		return nil
	case <-w.failed:
		r.Release()
		return w.failure()
	case <-ctx.Done():
		r.Release()
		return context.Cause(ctx)
	}
}

// encodeChunk encodes a column chunk and begins to compress its pages.
func (w *Writer) encodeChunk(g *group, i int, e encoder) {
	defer g.pending.Done()
	k, err := w.encoded(i, e)
	e.release()
	if err != nil {
		w.fail(err)
		return
	}
	w.compressChunk(g, i, k)
}

func (w *Writer) encoded(i int, e encoder) (*chunk, error) {
	worker := <-w.workers
	defer func() { w.workers <- worker }()
	if w.failure() != nil {
		return nil, errStopped
	}
	k, err := e.encode(w.pageRows, w.memory[i].take(), &worker.scratch)
	if err != nil {
		return nil, err
	}
	k.rows.validity, k.rows.levels = nil, nil
	return k, k.check()
}

var errStopped = errors.New("the file is not written any more")

// compressChunk compresses the pages of a chunk, unless two of them do not get smaller.
func (w *Writer) compressChunk(g *group, i int, k *chunk) {
	c := &groupChunk{chunk: k, stored: w.options.Codec == parquetformat.Uncompressed}
	g.chunks[i] = c
	raws := k.bodies()
	c.bodies = make([]pageBody, len(raws))
	sample := []int{len(raws) - 1, len(raws) / 2}
	if sample[0] == sample[1] {
		sample = sample[:1]
	}
	if !c.stored {
		raw, compressed := 0, 0
		for _, at := range sample {
			w.compressPage(&c.bodies[at], raws[at])
			raw, compressed = raw+len(raws[at]), compressed+len(c.bodies[at].data)
		}
		c.stored = !worthCompressing(raw, compressed)
	}
	if c.stored {
		for at := range raws {
			c.bodies[at] = newBody(raws[at])
		}
		return
	}
	for at := range raws {
		if !slices.Contains(sample, at) {
			g.pending.Go(func() { w.compressPage(&c.bodies[at], raws[at]) })
		}
	}
}

// bodies returns the pages without compression.
func (k *chunk) bodies() (raws [][]byte) {
	if k.distinct > 0 {
		raws = append(raws, k.raw[k.dictionary.begin:k.dictionary.end])
	}
	for _, p := range k.pages {
		raws = append(raws, k.raw[p.begin:p.end])
	}
	return raws
}

func (w *Writer) compressPage(to *pageBody, raw []byte) {
	worker := <-w.workers
	defer func() { w.workers <- worker }()
	if w.failure() != nil {
		return
	}
	body, err := worker.compress(worker.scratch.body, raw)
	w.fail(err)
	worker.scratch.body, *to = body, newBody(bytes.Clone(body))
}

// worthCompressing reports whether compression saves more than 1/32 of the bytes. Below that, decompression costs readers
// more time than the bytes do.
func worthCompressing(raw, compressed int) bool { return compressed < raw-raw/32 }

// writeGroups writes row groups as they are encoded.
func (w *Writer) writeGroups(groups <-chan *group) {
	defer close(w.done)
	for g := range groups {
		g.pending.Wait()
		if w.failure() == nil {
			w.fail(w.writeGroup(g))
		}
	}
}

// writeGroup writes a row group: its column chunks in one piece, and Bloom filters.
func (w *Writer) writeGroup(g *group) error {
	stored := storedGroup{rows: g.rows, begin: w.at}
	length := int64(0)
	for _, c := range g.chunks {
		k := newStoredChunk(c, w.options.Codec, w.at+length)
		stored.chunks, length = append(stored.chunks, k), length+k.compressed
	}
	w.assembled = resized(w.assembled, int(length))
	var copies sync.WaitGroup
	for i, k := range stored.chunks {
		copies.Go(func() { k.copyPages(w.assembled[k.begin-w.at:], g.chunks[i].bodies) })
	}
	copies.Wait()
	if err := w.append(w.assembled); err != nil {
		return err
	}
	for i, k := range stored.chunks {
		w.memory[i].give(k.raw)
		k.raw, k.headers = nil, nil
		if k.bloom == nil {
			continue
		}
		k.bloomBegin = w.at
		if err := errors.Join(w.append(k.bloom.header()), w.append(k.bloom)); err != nil {
			return err
		}
		k.bloomLength, k.bloom = int(w.at-k.bloomBegin), nil
	}
	w.stored, w.rows = append(w.stored, stored), w.rows+int64(g.rows)
	return nil
}

// Close writes what follows the row groups.
func (w *Writer) Close(ctx context.Context) error {
	w.stop()
	if err := w.failure(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	footer, err := w.appendIndexes()
	if err != nil {
		return err
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.append(append(footer, parquetformat.Magic...))
}

// stop waits until no group is written any more.
func (w *Writer) stop() {
	if w.groups != nil {
		close(w.groups)
		w.groups = nil
	}
	<-w.done
}

// Abort ends all goroutines. After Close it only releases memory. Row groups that are not written are
// released before.
func (w *Writer) Abort() {
	w.fail(errStopped)
	w.stop()
	if w.pinned != nil {
		w.pinned.FreeAll() // none is left, unless an encoder failed
	}
}

// appendIndexes writes the indexes of all pages, and returns the footer.
func (w *Writer) appendIndexes() ([]byte, error) {
	for _, place := range []func(*storedChunk) *indexPlace{
		func(k *storedChunk) *indexPlace { return &k.columnIndex },
		func(k *storedChunk) *indexPlace { return &k.offsetIndex },
	} {
		for _, g := range w.stored {
			for _, k := range g.chunks {
				index := place(k)
				index.begin = w.at
				if err := w.append(index.data); err != nil {
					return nil, err
				}
			}
		}
	}
	footer := parquetformat.Encode(w.schema, w.rows, func(t *thrift.Encoder) {
		t.Elements(thrift.Struct, len(w.stored), func(i int) { t.Element(func() { w.stored[i].appendMetadata(t, i) }) })
	}, w.entries, createdBy)
	if len(footer) > math.MaxInt32 {
		return nil, fmt.Errorf("a footer of %d bytes: write fewer row groups", len(footer))
	}
	return footer, nil
}
