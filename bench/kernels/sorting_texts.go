package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// addRate measures work on rows, and adds a line with the required number of rows in a
// second, in 10^9, or zero for none. Work that fails gets a line too. Names that do not match
// are left out.
func (b *bench) addRate(ctx context.Context, t *table.Table, name string, rows int, required float64, w work) {
	if !b.match.MatchString(name) {
		return
	}
	took, err := b.onDevice(ctx, w)
	if err != nil {
		t.Add(name, err.Error())
		return
	}
	rate := float64(rows) / took.Seconds() / 1e9
	bar := ""
	if required > 0 {
		bar = fmt.Sprintf("≥ %.1f %s", required, verdict(rate >= required))
	}
	t.Add(fmt.Sprintf("%s, %d rows", name, rows), milliseconds(took), fmt.Sprintf("%.2f", rate), bar)
}

// texts are strings to sort, a part of the rows of numbers.
var texts = []struct {
	name     string
	part     int
	required float64
	write    func(r *rand.Rand, to []byte) []byte
}{
	{"12 random bytes", 4, 1.2, func(r *rand.Rand, to []byte) []byte {
		for range 12 {
			to = append(to, byte(r.Uint32()&0x7f))
		}
		return to
	}},
	{"ids of 10^6 values", 2, 1.2, func(r *rand.Rand, to []byte) []byte { return fmt.Appendf(to, "id%010d", r.IntN(1_000_000)) }},
	{"URLs", 8, 0.5, func(r *rand.Rand, to []byte) []byte {
		return fmt.Appendf(to, "https://www.example.com/catalogue/products/%d/reviews/%d", r.IntN(1000), r.IntN(1_000_000))
	}},
}

// sortTexts measures the row numbers of sorts by strings.
func (b *bench) sortTexts(ctx context.Context, t *table.Table) error {
	r := rand.New(rand.NewPCG(1, 2))
	for _, text := range texts {
		if !b.match.MatchString(text.name) {
			continue // the host takes seconds to make them
		}
		rows := b.rows / text.part
		data, err := b.uploadTexts(ctx, rows, func(to []byte) []byte { return text.write(r, to) })
		if err != nil {
			return err
		}
		b.addRate(ctx, t, text.name, rows, text.required, indicesBy("text")(b, data))
		if err := data.Release(); err != nil {
			return err
		}
	}
	return nil
}

// uploadTexts uploads a column "text".
func (b *bench) uploadTexts(ctx context.Context, rows int, write func(to []byte) []byte) (*buffer.Buffer, error) {
	offsets, text := make([]int32, rows+1), []byte(nil)
	for i := range rows {
		text = write(text)
		offsets[i+1] = int32(len(text))
	}
	values := array.NewData(arrow.BinaryTypes.String, rows, []*arrowmemory.Buffer{
		nil, arrowmemory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), arrowmemory.NewBufferBytes(text),
	}, nil, 0, 0)
	defer values.Release()
	a := array.MakeFromData(values)
	defer a.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: a.DataType()}}, nil)
	record := array.NewRecord(schema, []arrow.Array{a}, int64(rows))
	defer record.Release()
	return buffer.FromRecords(ctx, b.mgr, []arrow.Record{record}, buffer.LoadOptions{Stream: b.stream})
}

// searchAll measures searches of sorted and of random values in as many sorted ones, and
// operators that sort.
func (b *bench) searchAll(ctx context.Context, t *table.Table) (err error) {
	rows := b.rows / 2
	numbers, err := b.rowNumbers(ctx, rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, numbers.Release()) }()
	i64 := arrow.PrimitiveTypes.Int64
	random := expr.Hash(expr.Col("row"), expr.Lit(int64(1))).BitAnd(expr.Lit(uint64(1<<27 - 1)))
	var tables []*buffer.Buffer
	for _, key := range []expr.Expr{expr.Col("row").CastWrap(i64).Mul(expr.Lit(int64(2))), random.CastWrap(i64)} {
		projected, err := expr.Project(ctx, numbers, []expr.Expr{key.As("key")}, b.options())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, projected.Release()) }()
		tables = append(tables, projected)
	}
	keys := keysNamed([]string{"key"})
	find := func(values *buffer.Buffer) work {
		return func(ctx context.Context) (releaser, error) {
			return order.Search(ctx, tables[0], values, keys, order.SearchOptions{Options: b.options(), Unchecked: true})
		}
	}
	b.addRate(ctx, t, "search of sorted i64", rows, 30, find(tables[0]))
	b.addRate(ctx, t, "search of random i64", rows, 4, find(tables[1]))
	b.addRate(ctx, t, "dense rank of i64", rows, 0, func(ctx context.Context) (releaser, error) {
		return order.Rank(ctx, tables[1], keys, order.RankOptions{Options: b.options(), Method: order.Dense})
	})
	b.addRate(ctx, t, "is sorted, i64", rows, 0, func(ctx context.Context) (releaser, error) {
		_, err := order.IsSorted(ctx, tables[0], keys, b.options())
		return nothing{}, err
	})
	b.addRate(ctx, t, "top 10,000 rows by i64", rows, 0, func(ctx context.Context) (releaser, error) {
		return order.TopK(ctx, tables[1], 10_000, []order.Key{{Column: "key", Descending: true}}, b.options())
	})
	return nil
}
