package timezone

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/kernelset"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/*.ptx.gz
var code embed.FS

var set = kernelset.Set{Files: code, Directory: "cuda"}

// Local is the wall clock of a zone at an instant: a timestamp of the same unit without a
// zone. The operand is a timestamp. The zone of its type has no effect; without a zone it
// is in UTC. It is null if the result exceeds 64 bits.
//
// An unknown name of a zone is an error that wraps device.ErrInvalidValue. Names and rules
// are those of time.LoadLocation; a program that cannot rely on the files of the system
// imports time/tzdata.
func Local(e expr.Expr, zone string) expr.Expr { return expr.Apply(conversion{zone: zone}, e) }

// Instant is the instant at which the wall clock of a zone shows e, a timestamp without a
// zone: a timestamp of the same unit with the zone. A time that a clock shows twice, or
// leaves out, when it is changed becomes the instant that time.Date returns. It is null if
// the result exceeds 64 bits.
func Instant(e expr.Expr, zone string) expr.Expr {
	return expr.Apply(conversion{zone: zone, toInstant: true}, e)
}

type conversion struct {
	zone      string
	toInstant bool
}

// Name implements expr.Operator.
func (c conversion) Name() string {
	if c.toInstant {
		return fmt.Sprintf("instant[%s]", c.zone)
	}
	return fmt.Sprintf("local_time[%s]", c.zone)
}

// Result implements expr.Operator.
func (c conversion) Result(operands []arrow.DataType) (arrow.DataType, error) {
	t, ok := operands[0].(*arrow.TimestampType)
	switch {
	case !ok:
		return nil, fmt.Errorf("%v is no timestamp: %w", operands[0], expr.ErrType)
	case c.toInstant && t.TimeZone != "":
		return nil, fmt.Errorf("%v is an instant already, expected a timestamp without a zone: %w", t, expr.ErrType)
	}
	if _, err := tableOf(c.zone); err != nil {
		return nil, err
	}
	if c.toInstant {
		return &arrow.TimestampType{Unit: t.Unit, TimeZone: c.zone}, nil
	}
	return &arrow.TimestampType{Unit: t.Unit}, nil
}

// Run implements expr.Operator.
func (c conversion) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	of := operands[0]
	t, err := c.Result([]arrow.DataType{of.Type()})
	if err != nil {
		return nil, err
	}
	zone, err := tableOf(c.zone)
	if err != nil {
		return nil, err
	}
	call, err := op.Begin(ctx, options, of)
	if err != nil {
		return nil, err
	}
	in, err := call.View(of)
	if err != nil {
		return nil, err
	}
	return call.NewColumn(op.Result{Type: t, Length: of.Len(), RowCount: of.RowCount(), Nullable: true}, func(out op.Buffers) error {
		unit := exprtree.UnitOf(t)
		switch {
		case of.Len() == 0:
			return nil
		case call.OnHost():
			return c.onHost(in, out, zone, unit)
		}
		return c.onDevice(&call, in, out, zone, unit)
	})
}

func (c conversion) onDevice(call *op.Call, in op.View, out op.Buffers, zone *table, unit int64) error {
	kernel, err := call.Kernel(&set, "timezone", "convert_times")
	if err != nil {
		return err
	}
	n := len(zone.starts)
	block, scratch, err := call.Scratch(8*uint64(n), 8*uint64(n))
	if err != nil {
		return err
	}
	starts, startsErr := memory.Reinterpret[int64](scratch[0])
	offsets, offsetsErr := memory.Reinterpret[int64](scratch[1])
	err = errors.Join(startsErr, offsetsErr)
	if err == nil {
		err = errors.Join(starts.Upload(call.Context(), call.Stream, zone.starts), offsets.Upload(call.Context(), call.Stream, zone.offsets))
	}
	if err == nil {
		toInstant := uint32(0)
		if c.toInstant {
			toInstant = 1
		}
		capacity := in.Column.Len()
		const threads = 256
		err = kernel.Launch(call.Stream, kernels.GridFor((capacity+63)/64*64, threads), device.Dim3{X: threads}, 0, out.Values, out.Valid,
			in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows), uint64(capacity), unit, toInstant,
			kernels.Struct(starts, offsets, uint64(n), cycleEnd, int64(cycleSeconds)))
	}
	return errors.Join(err, block.Release())
}

func (c conversion) onHost(in op.View, out op.Buffers, zone *table, unit int64) error {
	from, err := in.Host()
	if err != nil {
		return err
	}
	to, err := out.Host()
	if err != nil {
		return err
	}
	times, results := op.Elements[int64](from.Values), op.Elements[int64](to.Values)
	clear(results)
	for i := range from.Rows {
		if !from.IsValid(i) {
			continue
		}
		second := times[i] / unit
		if times[i]%unit < 0 {
			second--
		}
		shift := zone.shift(second, c.toInstant) * unit
		if shift > 0 && times[i] > math.MaxInt64-shift || shift < 0 && times[i] < math.MinInt64-shift {
			continue
		}
		results[i] = times[i] + shift
		to.SetValid(i)
	}
	return nil
}
