package source

import (
	"bytes"
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// member is a condition that compares a column with literals for equality: that it is one
// of them.
type member struct {
	condition expr.Expr
	column    string
	literals  []any
}

// membersOf returns the conditions of this form, all of which each row must meet.
func membersOf(conditions []expr.Expr) (members []member) {
	for _, condition := range conditions {
		operands := condition.Operands()
		switch condition.Operation() {
		case "as", "and", "and_strict":
			members = append(members, membersOf(operands)...)
		case "equal", "in":
			if m, ok := memberOf(condition, operands); ok {
				members = append(members, m)
			}
		}
	}
	return members
}

func memberOf(condition expr.Expr, operands []expr.Expr) (member, bool) {
	if len(operands) < 2 {
		return member{}, false
	}
	if _, ok := operands[1].Column(); ok && len(operands) == 2 {
		operands = []expr.Expr{operands[1], operands[0]}
	}
	m := member{condition: condition}
	var ok bool
	if m.column, ok = operands[0].Column(); !ok {
		return member{}, false
	}
	for _, operand := range operands[1:] {
		value, ok := operand.Literal()
		if !ok || value == nil || isNaN(value) {
			return member{}, false
		}
		m.literals = append(m.literals, value)
	}
	return m, true
}

func isNaN(value any) bool {
	switch v := value.(type) {
	case float64:
		return math.IsNaN(v)
	case float32:
		return v != v
	}
	return false
}

// excludeMembers sets possible to false for row groups that have none of the values of a
// condition, by their dictionaries and Bloom filters. It returns how many it found by each.
// A dictionary or filter that cannot be read excludes nothing.
func (s *parquetFiles) excludeMembers(ctx context.Context, groups []rowGroup, conditions []expr.Expr, counters *Counters, possible []bool) (dictionaries, filters int64, err error) {
	members := membersOf(conditions)
	if len(members) == 0 {
		return 0, 0, nil
	}
	var byDictionary, byFilter atomic.Int64
	err = s.inParallel(ctx, len(groups), func(i int) error {
		if !possible[i] {
			return nil
		}
		g := groupValues{rowGroup: groups[i], ctx: ctx, counters: counters}
		defer g.close()
		if s.paths.remote() {
			if g.compressed() <= int64(fetchPiece) {
				return nil // an answer takes as long as the row group
			}
			defer g.fetchValues(members).release()
		}
		for _, m := range members {
			if s.isPartition(m.column) {
				continue
			}
			count := &byDictionary
			absent, known := g.dictionaryLacks(ctx, m)
			if !known {
				count = &byFilter
				absent = g.filterLacks(m)
			}
			if absent {
				possible[i] = false
				count.Add(1)
				return nil
			}
		}
		return nil
	})
	return byDictionary.Load(), byFilter.Load(), err
}

func (s *parquetFiles) isPartition(column string) bool {
	for _, p := range s.paths.partitions {
		if p.name == column {
			return true
		}
	}
	return false
}

// groupValues reads the dictionaries and filters of a row group.
type groupValues struct {
	rowGroup
	ctx      context.Context
	counters *Counters
	opened   *opened
	// fetched has the dictionaries and filters of an object of a store, or is nil.
	fetched *fetched
}

// compressed is the length of the row group in the file.
func (g *groupValues) compressed() (length int64) {
	for _, chunk := range g.footer.metadata.Groups[g.index].Chunks {
		length += chunk.Compressed
	}
	return length
}

// fetchValues reads the dictionaries of the columns of conditions, and filters of columns without, at the same time. What fails is
// read again, alone.
func (g *groupValues) fetchValues(members []member) *fetched {
	f := &fetched{}
	if g.open() != nil || g.opened.remote == nil {
		return f
	}
	var ranges []byteRange
	for _, m := range members {
		if leaf, _, ok := g.leaf(m.column); ok {
			place, ok := g.dictionaryRange(leaf)
			if !ok {
				place, ok = g.filterRange(leaf)
			}
			if ok {
				ranges = append(ranges, place)
			}
		}
	}
	f.from = g.opened.remote
	if f.fetch(g.ctx, ranges, arrowmemory.DefaultAllocator, noTurn) == nil {
		g.fetched = f
	}
	return f
}

// dictionaryRange returns where the dictionary of a column chunk is, if it has all values and is short.
func (g *groupValues) dictionaryRange(leaf int) (byteRange, bool) {
	if !g.footer.dictionaryOnly(g.index, leaf) {
		return byteRange{}, false
	}
	chunk := g.footer.about(g.index, leaf)
	start, length := chunk.DictionaryPage, chunk.DataPage-chunk.DictionaryPage
	return byteRange{start, length}, start > 0 && length > 0 && length <= mostDictionaryPage && length <= g.footer.size-start
}

func (g *groupValues) close() {
	if g.opened != nil {
		_ = g.opened.close() // it was only read
	}
}

// readAt reads bytes of the file, which it opens.
func (g *groupValues) readAt(data []byte, offset int64) error {
	if err := g.open(); err != nil {
		return err
	}
	if g.fetched != nil {
		_, err := g.fetched.ReadAt(data, offset)
		return err
	}
	_, err := g.opened.ReadAt(data, offset)
	return err
}

func (g *groupValues) open() (err error) {
	if g.opened != nil {
		return nil
	}
	if g.opened, err = g.file.open(g.ctx, g.counters); err != nil {
		return err
	}
	if !g.opened.equal(g.footer.version) {
		return errors.New("the file has changed")
	}
	return nil
}

// leaf returns the only leaf of a column that is not nested and can be read, with its type.
func (g *groupValues) leaf(column string) (leaf int, t arrow.DataType, ok bool) {
	indices := g.footer.schema.FieldIndices(column)
	if len(indices) == 0 || len(g.footer.leaves[indices[0]]) != 1 || g.footer.refused[indices[0]] != nil || g.footer.converts(column) {
		return 0, nil, false
	}
	leaf, t = g.footer.leaves[indices[0]][0], g.footer.schema.Field(indices[0]).Type
	if d, encoded := t.(*arrow.DictionaryType); encoded {
		t = d.ValueType
	}
	about := g.footer.column(leaf)
	chunk := g.footer.about(g.index, leaf)
	return leaf, t, prune.Comparable(t) && about.MaxRepetition == 0 && about.MaxDefinition <= 1 && !chunk.IsEncrypted
}

// mostDictionaryPage is the compressed length of a dictionary that is read to find out
// whether its row group has to be.
const mostDictionaryPage = 2 << 20

// dictionaryLacks reports whether no value of a column chunk meets the condition, if all
// values are in its dictionary.
func (g *groupValues) dictionaryLacks(ctx context.Context, m member) (lacks, known bool) {
	leaf, t, ok := g.leaf(m.column)
	if !ok {
		return false, false
	}
	place, ok := g.dictionaryRange(leaf)
	if !ok {
		return false, false
	}
	data := make([]byte, place.length)
	if g.readAt(data, place.offset) != nil {
		return false, false
	}
	if plain, ok := g.plainLiterals(m, leaf, t); ok {
		return g.dictionaryLacksPlain(data, leaf, plain)
	}
	values, err := g.dictionary(data, leaf, t)
	if err != nil {
		return false, false
	}
	defer values.Release()
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: m.column, Type: t, Nullable: true}}, nil), []arrow.Array{values}, int64(values.Len()))
	defer record.Release()
	results, err := expr.EvaluateRecord(ctx, record, []expr.Expr{m.condition})
	if err != nil {
		return false, false
	}
	defer results[0].Release()
	matches, ok := results[0].(*array.Boolean)
	if !ok {
		return false, false
	}
	for i := range matches.Len() {
		if matches.IsValid(i) && matches.Value(i) {
			return false, true
		}
	}
	return true, true
}

// errFound ends the decoding of a dictionary.
var errFound = errors.New("a value meets the condition")

// dictionaryLacksPlain reports whether a dictionary has none of some values, in the bytes of the encoding PLAIN.
func (g *groupValues) dictionaryLacksPlain(data []byte, leaf int, plain [][]byte) (lacks, known bool) {
	width := 0
	switch g.footer.column(leaf).Physical {
	case parquetformat.Int32:
		width = 4
	case parquetformat.Int64, parquetformat.Double:
		width = 8
	}
	err := pages.Dictionary(data, pages.Column{Codec: g.codec(leaf)}, width, func(value []byte) error {
		for _, p := range plain {
			if bytes.Equal(value, p) {
				return errFound
			}
		}
		return nil
	})
	return err == nil, err == nil || errors.Is(err, errFound)
}

func (g *groupValues) codec(leaf int) parquetformat.Codec {
	return g.footer.about(g.index, leaf).Codec
}

// dictionaryOnly reports whether all values of a column chunk are encoded by its dictionary,
// according to its metadata. Writers continue with other encodings when a dictionary grows
// large.
func (f *footer) dictionaryOnly(rowGroup, leaf int) bool {
	chunk := f.about(rowGroup, leaf)
	if !chunk.HasDictionary {
		return false
	}
	isDictionary := func(encoding int) bool {
		return encoding == pages.PlainDictionary || encoding == pages.RLEDictionary
	}
	if len(chunk.Counts) > 0 {
		known := false
		for _, count := range chunk.Counts {
			if kind := count.Kind; count.Count == 0 || kind != pages.DataPage && kind != pages.DataPage2 {
				continue
			}
			if !isDictionary(count.Encoding) {
				return false
			}
			known = true
		}
		return known
	}
	// Without counts, plain can be the encoding of the dictionary, or of values.
	known := false
	for _, encoding := range chunk.Encodings {
		switch {
		case isDictionary(encoding):
			known = true
		case encoding != pages.RLE && encoding != pages.BitPacked:
			return false
		}
	}
	return known
}

var errNoValue = errors.New("a value has no bound")

// dictionary decodes a page of values of a column. NaN, which equals no literal, becomes
// null.
func (g *groupValues) dictionary(data []byte, leaf int, t arrow.DataType) (arrow.Array, error) {
	column := g.footer.column(leaf)
	width := 0
	switch column.Physical {
	case parquetformat.Int32, parquetformat.Float:
		if width = 4; t.ID() == arrow.FLOAT64 {
			return nil, errNoValue
		}
	case parquetformat.Int64, parquetformat.Double:
		if width = 8; t.ID() == arrow.FLOAT32 {
			return nil, errNoValue
		}
	case parquetformat.FixedLenByteArray:
		if width = column.Length; width <= 0 {
			return nil, errNoValue
		}
	case parquetformat.ByteArray:
	default:
		return nil, errNoValue
	}
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, t)
	defer builder.Release()
	err := pages.Dictionary(data, pages.Column{Codec: g.codec(leaf)}, width, func(value []byte) error {
		bound := decodeBound(value, column, t)
		if bound == nil && !arrow.IsFloating(t.ID()) || !prune.Append(builder, bound) {
			return errNoValue
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return builder.NewArray(), nil
}
