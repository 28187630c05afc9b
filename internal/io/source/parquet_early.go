package source

import (
	"context"
	"math"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// A query needs several sources in an order. A GPU's reader of Parquet files reads while the query
// works on others: it fills pinned memory, and copies nothing to the device. So does a reader of objects of a store, also of the
// host: with 50 ms until an answer begins, query 8 of TPC-H would wait for eleven of them in sequence.

// EarlyReader is a reader that reads before its first table is needed.
type EarlyReader interface {
	buffer.Reader
	// Begin begins to read, as far as the [Readahead] allows it. Other readers come first once their tables are needed.
	Begin()
	// Narrow adds conditions to those of the request: further rows that do not meet them may be left out. After the
	// first table it does nothing.
	Narrow(ctx context.Context, where []expr.Expr) error
}

// ReadsEarly reports whether readers of a source read early for a manager's device. A reader that later learns bounds of columns
// does not, if it reads objects and bounds may leave out row groups: what is left out is not requested.
func ReadsEarly(ctx context.Context, s Source, m *memory.Manager, columns ...string) bool {
	early, ok := s.(earlySource)
	return ok && early.readsEarly(ctx, m, columns)
}

// earlySource is a source whose readers may read early.
type earlySource interface {
	Source
	readsEarly(ctx context.Context, m *memory.Manager, columns []string) bool
}

func (s *parquetFiles) readsEarly(ctx context.Context, m *memory.Manager, columns []string) bool {
	if !s.paths.remote() {
		return decodesChunks(m)
	}
	for _, column := range columns {
		if s.table != nil || s.clustered(ctx, column) {
			return false
		}
	}
	return true
}

// clustered reports whether row groups have at most half of the range of a column, on average, or ranges that are not known.
func (s *parquetFiles) clustered(ctx context.Context, column string) bool {
	footers, err := s.footers(ctx)
	if err != nil {
		return true
	}
	low, high, sum, groups := math.Inf(1), math.Inf(-1), 0.0, 0
	for i, f := range footers {
		for rowGroup := range f.metadata.Groups {
			r := s.statistics(s.files[i], f, rowGroup, column)
			if r.Valid == 0 {
				continue
			}
			from, isNumber := number(r.Low)
			to, too := number(r.High)
			if !isNumber || !too {
				return true
			}
			low, high, sum, groups = min(low, from), max(high, to), sum+to-from, groups+1
		}
	}
	return groups > 1 && sum <= float64(groups)*(high-low)/2
}

// number returns a bound as a float.
func number(bound any) (float64, bool) {
	switch x := bound.(type) {
	case int64:
		return float64(x), true
	case uint64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// earlyRecords are records that can be read before they are needed.
type earlyRecords interface {
	begin()
	narrow(ctx context.Context, where []expr.Expr) error
}

// Begin implements [EarlyReader].
func (l *loader) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early != nil {
		l.early.begin()
	}
}

// Narrow implements [EarlyReader].
func (l *loader) Narrow(ctx context.Context, where []expr.Expr) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early == nil {
		return nil
	}
	return wrap(l.source, l.early.narrow(ctx, where))
}

// parquetReader is the records of row groups.
type parquetReader struct {
	*ahead
	records *parquetRecords
}

// begin implements [earlyRecords].
func (r *parquetReader) begin() { r.fill(r.records.processors.takeEarly) }

// narrow implements [earlyRecords]. Row groups that were read already are dropped.
func (r *parquetReader) narrow(ctx context.Context, where []expr.Expr) error {
	if len(where) == 0 {
		return nil
	}
	p := r.records
	schema, err := p.source.Schema(ctx)
	if err != nil {
		return err
	}
	possible, err := prune.Possible(ctx, schema, where, len(p.groups), func(part int, column string) prune.Range {
		group := p.groups[part]
		return p.source.statistics(group.file, group.footer, group.index, column)
	})
	if err != nil {
		return err
	}
	r.without = make([]bool, len(possible))
	files, left := map[*parquetFile]bool{}, map[*parquetFile]bool{}
	for i, ok := range possible {
		r.without[i] = !ok
		files[p.groups[i].file] = true
		if ok {
			left[p.groups[i].file] = true
			continue
		}
		p.counters.RowGroups.Add(-1)
		p.counters.SkippedRowGroups.Add(1)
	}
	p.counters.Files.Add(int64(len(left) - len(files)))
	p.counters.SkippedFiles.Add(int64(len(files) - len(left)))
	return nil
}

var _ EarlyReader = (*loader)(nil)
