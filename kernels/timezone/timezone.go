package timezone

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/expr/hosteval"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//go:embed cuda/*.ptx.packed
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

// Instant is the first instant at which the wall clock of a zone shows e, a timestamp without a
// zone, or a later time: a timestamp of the same unit with the zone. So a time that the clock
// shows twice is the first of both, times that it leaves out are the first instant after the gap,
// and the midnight of a day is the beginning of the day. It is null if the result exceeds 64 bits.
func Instant(e expr.Expr, zone string) expr.Expr {
	return expr.Apply(conversion{zone: zone, toInstant: true}, e)
}

type conversion struct {
	zone      string
	toInstant bool
	// part is the part of the wall clock that is computed, or "" for all of it.
	part string
}

// parts are the parts of a wall clock, in the order of exprtree. The first six are
// calendar_part of timezone.cu.
var parts = []string{"year", "quarter", "month", "day", "day_of_year", "weekday", "hour", "minute", "second", "subsecond"}

// Part implements expr.PartOperator: a part of a wall clock takes one kernel.
func (c conversion) Part(name string) (expr.Operator, bool) {
	if c.toInstant || c.part != "" || !slices.Contains(parts, name) {
		return nil, false
	}
	return conversion{zone: c.zone, part: name}, true
}

// Name implements expr.Operator.
func (c conversion) Name() string {
	if c.part != "" {
		return fmt.Sprintf("%s_in[%s]", c.part, c.zone)
	}
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
	switch {
	case c.part != "":
		return arrow.PrimitiveTypes.Int64, nil
	case c.toInstant:
		return &arrow.TimestampType{Unit: t.Unit, TimeZone: c.zone}, nil
	}
	return &arrow.TimestampType{Unit: t.Unit}, nil
}

// Run implements expr.Operator.
func (c conversion) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	times := operands[0]
	t, err := c.Result([]arrow.DataType{times.Type()})
	if err != nil {
		return nil, err
	}
	zone, err := tableOf(c.zone)
	if err != nil {
		return nil, err
	}
	call, err := op.Begin(ctx, options, times)
	if err != nil {
		return nil, err
	}
	in, err := call.View(times)
	if err != nil {
		return nil, err
	}
	return call.NewColumn(op.Result{Type: t, Length: times.Len(), RowCount: times.RowCount(), Nullable: true}, func(out op.Buffers) error {
		unit := exprtree.UnitOf(times.Type())
		switch {
		case times.Len() == 0:
			return nil
		case call.OnHost():
			return c.onHost(in, out, zone, unit)
		}
		return c.onDevice(&call, in, out, zone, unit)
	})
}

// The kernels compute tileRows rows with each block, which has a copy of the slots.
const (
	threads  = 512
	tileRows = 4 * threads
	// mostBlocks is several blocks for each multiprocessor, which share the cost of the copy.
	mostBlocks = 2048
)

func (c conversion) onDevice(call *op.Call, in op.View, out op.Buffers, zone *table, unit int64) error {
	entry, choice := "convert_times", any(uint32(0))
	switch {
	case c.part != "":
		entry, choice = "part_times", partArgument(c.part)
	case c.toInstant:
		choice = uint32(1)
	}
	kernel, err := call.Kernel(&set, "timezone", entry)
	if err != nil {
		return err
	}
	n := len(zone.starts)
	block, scratch, err := call.Scratch(8*uint64(n), 8*uint64(n), 8*uint64(n), 8*slotCount)
	if err != nil {
		return err
	}
	starts, startsErr := memory.Reinterpret[int64](scratch[0])
	offsets, offsetsErr := memory.Reinterpret[int64](scratch[1])
	walls, wallsErr := memory.Reinterpret[int64](scratch[2])
	slots, slotsErr := memory.Reinterpret[uint64](scratch[3])
	err = errors.Join(startsErr, offsetsErr, wallsErr, slotsErr)
	if err == nil {
		err = errors.Join(starts.Upload(call.Context(), call.Stream, zone.starts), offsets.Upload(call.Context(), call.Stream, zone.offsets),
			walls.Upload(call.Context(), call.Stream, zone.walls), slots.Upload(call.Context(), call.Stream, zone.slots))
	}
	if err == nil {
		capacity := in.Column.Len()
		l := tableLayout{starts: starts, offsets: offsets, walls: walls, slots: slots, count: uint64(n), cycleEnd: cycleEnd, cycle: int64(cycleSeconds)}
		grid := device.Dim3{X: uint32(min((capacity+tileRows-1)/tileRows, mostBlocks))}
		err = kernel.Launch(call.Stream, grid, device.Dim3{X: threads}, 0, out.Values, out.Valid,
			in.Values, in.Valid, uint64(in.Bit), in.Counted, int64(in.Rows), uint64(capacity), unitArgument(unit), choice,
			l.asArgument())
	}
	return errors.Join(err, block.Release())
}

// unitArgument is Unit of timezone.cu.
func unitArgument(unit int64) any {
	shift := max(bits.Len64(uint64(unit))-2, 0) // the reciprocal fits 63 bits
	divisor := uint64(max(unit, 2))             // the kernels do not divide by 1
	reciprocal, _ := bits.Div64(1<<shift%divisor, 0, divisor)
	l := unitLayout{size: unit, reciprocal: int64(reciprocal), shift: uint32(shift)}
	return l.asArgument()
}

// partArgument is Part of timezone.cu.
func partArgument(part string) any {
	clock := func(divisor, modulus uint64) partLayout {
		reciprocal := func(n uint64) uint32 { return uint32((1<<32 + n - 1) / n) } // 0 for 1
		return partLayout{divide: reciprocal(divisor), modulo: reciprocal(modulus), modulus: uint32(modulus), kind: 6}
	}
	var l partLayout
	switch part {
	case "hour":
		l = clock(3600, 24)
	case "minute":
		l = clock(60, 60)
	case "second":
		l = clock(1, 60)
	case "subsecond":
		l.kind = 7
	default:
		l.kind = uint32(slices.Index(parts, part))
	}
	return l.asArgument()
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
		second, rest := hosteval.FloorDivide(times[i], unit)
		shift := zone.toLocal(second) * unit
		if c.toInstant {
			shift = zone.toInstant(second, rest, unit)
		}
		if shift > 0 && times[i] > math.MaxInt64-shift || shift < 0 && times[i] < math.MinInt64-shift {
			continue
		}
		results[i] = times[i] + shift
		if c.part != "" {
			results[i] = partOf(c.part, results[i], unit)
		}
		to.SetValid(i)
	}
	return nil
}

// partOf is a part of the time that a clock shows.
func partOf(part string, local, unit int64) int64 {
	second, subsecond := hosteval.FloorDivide(local, unit)
	day, within := hosteval.FloorDivide(second, 86_400)
	switch part {
	case "hour":
		return within / 3600
	case "minute":
		return within / 60 % 60
	case "second":
		return within % 60
	case "subsecond":
		return subsecond * (1_000_000_000 / unit)
	}
	return hosteval.CalendarPart(exprtree.Year+exprtree.Op(slices.Index(parts, part)), day)
}
