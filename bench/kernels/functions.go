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
	"github.com/gpuframe/gpuframe/kernels/nested"
	"github.com/gpuframe/gpuframe/kernels/timezone"
)

// functionFigure is a function of a column "text" of strings, or "value" of numbers.
type functionFigure struct {
	name string
	// bytes are those that a row reads and writes at least, reach is the required part of
	// the copy rate.
	bytes, reach float64
	e            expr.Expr
}

// textWidth is the length of the strings of the first figures.
const textWidth = 64

// functionsAll measures functions of strings and times, regular expressions, and lists that become rows.
func (b *bench) functionsAll(ctx context.Context) error {
	if err := b.copyRate(ctx); err != nil {
		return err
	}
	t := table.New("function", "time", "Grows/s", "of reach", "bar", "against", "")
	for _, measure := range []func(context.Context, *table.Table) error{b.stringFunctions, b.patterns, b.parsers, b.timeFunctions, b.explode} {
		if err := measure(ctx, t); err != nil {
			t.Add("", err.Error())
		}
	}
	return show(fmt.Sprintf("Functions; the device copies %.0f GB/s", b.copied/1e9), t)
}

// functions measures some functions of one table.
func (b *bench) functions(ctx context.Context, t *table.Table, data *buffer.Buffer, figures []functionFigure) {
	for _, f := range figures {
		if !b.match.MatchString(f.name) {
			continue
		}
		rows := int(data.Rows().Count)
		took, err := b.onDevice(ctx, b.evaluate(data, f.e))
		if err != nil {
			t.Add(f.name, err.Error())
			continue
		}
		t.Add(b.line(figure{name: fmt.Sprintf("%s, %d rows", f.name, rows), bytes: f.bytes, reach: f.reach}, rows, took)...)
	}
}

// stringFunctions measures functions of strings of 64 bytes, one in eight of which has the
// text that is looked for.
func (b *bench) stringFunctions(ctx context.Context, t *table.Table) (err error) {
	const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789 .,-"
	r := rand.New(rand.NewPCG(3, 4))
	pool := make([]byte, 1<<20)
	for i := range pool {
		pool[i] = alphabet[r.IntN(len(alphabet))]
	}
	data, err := b.uploadTexts(ctx, b.rows/8, func(to []byte) []byte {
		at := r.IntN(len(pool) - textWidth)
		to = append(to, pool[at:at+textWidth]...)
		if at%8 == 0 {
			copy(to[len(to)-textWidth+at/8%(textWidth-8):], "gpuframe")
		}
		return to
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	text := expr.Col("text")
	b.functions(ctx, t, data, []functionFigure{
		{"contains 8 bytes", textWidth, 0.5, text.Contains(expr.Lit("gpuframe"))},
		{"like", textWidth, 0, text.Like("%gpu%frame%")},
		{"upper", 2 * textWidth, 0.3, text.Upper()},
		{"characters 3 to 34", textWidth + 32, 0.3, text.Substring(3, 32)},
		{"replace 8 bytes", 2 * textWidth, 0.3, text.Replace(expr.Lit("gpuframe"), expr.Lit("frames"))},
		{"split by a byte", 2 * textWidth, 0.3, nested.Split(text, ",")},
		{"length in characters", textWidth, 0, text.LengthChars()},
	})
	return nil
}

// parsers measures casts of text. The bar is 40 GB of text in a second.
func (b *bench) parsers(ctx context.Context, t *table.Table) error {
	r := rand.New(rand.NewPCG(5, 6))
	const second = 1_000_000_000
	for _, c := range []struct {
		name string
		to   arrow.DataType
		text func(to []byte) []byte
	}{
		{"parse f64", arrow.PrimitiveTypes.Float64, func(to []byte) []byte { return fmt.Appendf(to, "%.6f", r.Float64()*1000) }},
		{"parse i64", arrow.PrimitiveTypes.Int64, func(to []byte) []byte { return fmt.Appendf(to, "%d", r.Int64N(1e12)) }},
		{"parse timestamps", &arrow.TimestampType{Unit: arrow.Second}, func(to []byte) []byte {
			at := r.IntN(second)
			return fmt.Appendf(to, "20%02d-%02d-%02d %02d:%02d:%02d", at%50, 1+at/50%12, 1+at/600%28, at/16800%24, at/403200%60, at/24192000%60)
		}},
	} {
		if !b.match.MatchString(c.name) {
			continue
		}
		rows, bytes := b.rows/16, 0 // a sixteenth, because the host takes long to write them
		data, err := b.uploadTexts(ctx, rows, func(to []byte) []byte {
			to = c.text(to)
			bytes = len(to)
			return to
		})
		if err != nil {
			return err
		}
		took, err := b.onDevice(ctx, b.evaluate(data, expr.Col("text").Cast(c.to)))
		if err != nil {
			t.Add(c.name, err.Error())
		} else {
			rate := float64(bytes) / took.Seconds() / 1e9
			t.Add(fmt.Sprintf("%s, %d rows", c.name, rows), milliseconds(took), fmt.Sprintf("%.1f", float64(rows)/took.Seconds()/1e9), "",
				fmt.Sprintf("%.1f GB/s of text, ≥ 40 %s", rate, verdict(rate >= 40)))
		}
		if err := data.Release(); err != nil {
			return err
		}
	}
	return nil
}

// timeFunctions measures functions of timestamps of fifty years.
func (b *bench) timeFunctions(ctx context.Context, t *table.Table) (err error) {
	at := expr.Hash(expr.Col("row"), expr.Lit(int64(7))).BitAnd(expr.Lit(uint64(1<<30 - 1))).CastWrap(arrow.PrimitiveTypes.Int64)
	data, err := b.project(ctx, b.rows, func(int) []expr.Expr {
		return []expr.Expr{at.CastWrap(&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}).As("value")}
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	b.functions(ctx, t, data, []functionFigure{
		{"hour in UTC", 16, 0, expr.Col("value").Hour()},
		{"hour in Berlin", 16, 0.7, timezone.Local(expr.Col("value"), "Europe/Berlin").Hour()},
		{"truncate to months", 16, 0, expr.Col("value").Truncate("month")},
	})
	return nil
}

// explode measures lists of eight float64 that become rows with the column "row".
func (b *bench) explode(ctx context.Context, t *table.Table) (err error) {
	const length = 8
	if !b.match.MatchString("explode") {
		return nil
	}
	rows := b.rows / length
	offsets, numbers := make([]int32, rows+1), make([]int32, rows)
	for i := range rows {
		offsets[i+1], numbers[i] = int32(length*(i+1)), int32(i)
	}
	items := array.NewData(arrow.PrimitiveTypes.Float64, rows*length, []*arrowmemory.Buffer{
		nil, arrowmemory.NewBufferBytes(make([]byte, 8*rows*length)),
	}, nil, 0, 0)
	defer items.Release()
	lists := array.NewData(arrow.ListOf(arrow.PrimitiveTypes.Float64), rows, []*arrowmemory.Buffer{
		nil, arrowmemory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)),
	}, []arrow.ArrayData{items}, 0, 0)
	defer lists.Release()
	row := array.NewData(arrow.PrimitiveTypes.Int32, rows, []*arrowmemory.Buffer{
		nil, arrowmemory.NewBufferBytes(arrow.Int32Traits.CastToBytes(numbers)),
	}, nil, 0, 0)
	defer row.Release()
	listArray, rowArray := array.MakeFromData(lists), array.MakeFromData(row)
	defer listArray.Release()
	defer rowArray.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "items", Type: listArray.DataType()}, {Name: "row", Type: rowArray.DataType()}}, nil)
	record := array.NewRecord(schema, []arrow.Array{listArray, rowArray}, int64(rows))
	defer record.Release()
	data, err := buffer.FromRecords(ctx, b.mgr, []arrow.Record{record}, buffer.LoadOptions{Stream: b.stream})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	took, err := b.onDevice(ctx, func(ctx context.Context) (releaser, error) {
		return nested.Explode(ctx, data, []string{"items"}, nested.ExplodeOptions{Options: b.options()})
	})
	if err != nil {
		return err
	}
	// A value is read and written, its row's number is written; offsets and numbers are read
	// once for a list.
	bytes := 8 + 8 + 4 + 8.0/length
	t.Add(b.line(figure{name: fmt.Sprintf("explode lists of %d, %d values", length, rows*length), bytes: bytes, reach: 0.6}, rows*length, took)...)
	return nil
}
