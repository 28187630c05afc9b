package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/radix/ablation"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// ablated is a sort of a column of keys.
type ablated struct {
	name string
	key  expr.Expr
	radix.Sort
}

// ablations are what the parts of the radix sort are worth: forms of its passes, and the
// detection of sorted and of constant digits.
func (b *bench) ablations() (list []ablated) {
	row := expr.Col("row").CastWrap(arrow.PrimitiveTypes.Uint64)
	random := expr.Hash(row, expr.Lit(int64(1)))
	keys := map[int]expr.Expr{32: random.CastWrap(arrow.PrimitiveTypes.Uint32), 64: random}
	const never = 1<<31 - 1
	for _, width := range []int{32, 64} {
		list = append(list, ablated{fmt.Sprintf("u%d, by all digits, as it is", width), keys[width], radix.Sort{Width: width, Limits: radix.Limits{Finishing: never}}})
		for _, v := range ablation.Variants() {
			if v.Width == width {
				list = append(list, ablated{fmt.Sprintf("u%d, %s", width, v.Name), keys[width], radix.Sort{Width: width, Limits: v.Limits}})
			}
		}
	}
	for _, k := range []struct {
		name string
		key  expr.Expr
	}{
		{"random", random}, {"sorted", row}, {"equal", row.BitAnd(expr.Lit(uint64(0)))}, {"below 2^20", random.BitAnd(expr.Lit(uint64(1<<20 - 1)))},
	} {
		for _, l := range []struct {
			name string
			radix.Limits
		}{
			{"as it is", radix.Limits{}}, {"by all digits", radix.Limits{Finishing: never}},
			{"by all digits, nothing detected", radix.Limits{Finishing: never, Undetected: true}},
		} {
			list = append(list, ablated{fmt.Sprintf("u64 %s, %s", k.name, l.name), k.key, radix.Sort{Width: 64, Limits: l.Limits}})
		}
	}
	return list
}

// ablate measures each choice of the radix sort by the time without it.
func (b *bench) ablate(ctx context.Context) (err error) {
	numbers, err := b.rowNumbers(ctx, b.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, numbers.Release()) }()
	t := table.New("radix sort", "time", "Grows/s")
	for _, a := range b.ablations() {
		if !b.match.MatchString(a.name) {
			continue
		}
		if err := b.ablateOne(ctx, t, numbers, a); err != nil {
			t.Add(a.name, err.Error())
		}
	}
	return show(fmt.Sprintf("Choices of the radix sort, %d rows", b.rows), t)
}

func (b *bench) ablateOne(ctx context.Context, t *table.Table, numbers *buffer.Buffer, a ablated) (err error) {
	data, err := expr.Project(ctx, numbers, []expr.Expr{a.key.As("key")}, b.options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	call, err := op.Begin(ctx, b.options())
	if err != nil {
		return err
	}
	a.High, a.Rows, a.Input = a.Width, b.rows, true
	sizes := a.InputScratch()
	block, buffers, err := call.Scratch(a.KeyBytes(), sizes[1], sizes[3])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	memories := radix.Buffers{Input: data.Column(0).Buffer(1), Keys: [2]memory.Slice[uint8](buffers[:2]), State: buffers[2]}
	took, err := b.onDevice(ctx, func(context.Context) (releaser, error) { return nothing{}, a.Run(&call, memories) })
	if err != nil {
		return err
	}
	t.Add(a.name, milliseconds(took), fmt.Sprintf("%.1f", float64(b.rows)/took.Seconds()/1e9))
	return nil
}
