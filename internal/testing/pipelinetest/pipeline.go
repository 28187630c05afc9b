package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
)

// Pipeline is tables and the steps to run on them.
type Pipeline struct {
	Seed   uint64
	Tables []arrow.Record
	Steps  []Step
}

// Limits bound a pipeline.
type Limits struct {
	// Rows is the maximum number of rows of an initial table, Steps that of steps.
	Rows, Steps int
}

// grown is the maximum growth of a table, as a multiple of the initial rows.
const grown = 4

// DrawPipeline draws a pipeline and runs it on the host meanwhile. An error is a fault
// of the host: a panic, or memory that is still held at the end.
func DrawPipeline(ctx context.Context, host *device.Device, seed uint64, limits Limits) (p *Pipeline, err error) {
	r := rand.New(rand.NewPCG(seed, 6))
	p = &Pipeline{Seed: seed, Tables: drawTables(r, limits.Rows)}
	m, err := newMachine(host, p.Tables)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	names, operators := 0, Operators()
	for range 1 + r.IntN(limits.Steps) {
		operator := operators[r.IntN(len(operators))]
		s := Step{From: r.IntN(registers), With: r.IntN(registers), To: r.IntN(registers), Stream: r.IntN(2)}
		if m.tables[s.From] == nil || m.tables[s.With] == nil {
			s.From, s.With = 0, 1
		}
		d := &Draw{Rand: r, Schema: m.tables[s.From].Schema(), OtherSchema: m.tables[s.With].Schema(), names: &names}
		if d.Rows, err = m.tables[s.From].NumRows(ctx); err == nil {
			d.OtherRows, err = m.tables[s.With].NumRows(ctx)
		}
		if err != nil {
			return p, err
		}
		if d.Rows+d.OtherRows > grown*int64(limits.Rows) {
			continue
		}
		var ok bool
		if s.Text, s.Run, ok = operator.Draw(d); !ok {
			continue
		}
		p.Steps = append(p.Steps, s)
		var fault *panicked
		if failure := m.run(ctx, s); errors.As(failure, &fault) {
			return p, fmt.Errorf("the host, step %d, %v: %w", len(p.Steps)-1, s, failure)
		}
	}
	return p, nil
}

// Compare runs the pipeline on the host and on a device, and returns their difference.
// It compares all tables at the end or, if each is true, after every step, which
// fetches the row counts that would otherwise stay on the device.
func (p *Pipeline) Compare(ctx context.Context, host, dev *device.Device, each bool) (err error) {
	want, err := newMachine(host, p.Tables)
	if err != nil {
		return fmt.Errorf("the host: %w", err)
	}
	defer func() { err = errors.Join(err, want.close()) }()
	got, err := newMachine(dev, p.Tables)
	if err != nil {
		return fmt.Errorf("the device: %w", err)
	}
	defer func() { err = errors.Join(err, got.close()) }()
	for i, s := range p.Steps {
		expected, failure := want.run(ctx, s), got.run(ctx, s)
		if err := sameErrors(expected, failure); err != nil {
			return fmt.Errorf("step %d, %v: %w", i, s, err)
		}
		if each && expected == nil {
			if err := compareRegister(ctx, want, got, s.To); err != nil {
				return fmt.Errorf("step %d, %v: %w", i, s, err)
			}
		}
	}
	for register := range registers {
		if err := compareRegister(ctx, want, got, register); err != nil {
			return fmt.Errorf("r%d at the end: %w", register, err)
		}
	}
	return nil
}

// Shrink returns a pipeline with fewer steps that still differs, and the difference.
func (p *Pipeline) Shrink(ctx context.Context, host, dev *device.Device) (*Pipeline, error) {
	smallest, difference := p, p.Compare(ctx, host, dev, true)
	each := difference != nil
	if !each {
		difference = p.Compare(ctx, host, dev, false)
	}
	for i := len(smallest.Steps) - 1; i >= 0; i-- {
		fewer := *smallest
		fewer.Steps = append(append([]Step{}, smallest.Steps[:i]...), smallest.Steps[i+1:]...)
		if err := fewer.Compare(ctx, host, dev, each); err != nil {
			smallest, difference = &fewer, err
		}
	}
	return smallest, difference
}

// String lists the tables' schemas and the steps.
func (p *Pipeline) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "seed %d\n", p.Seed)
	for i, table := range p.Tables {
		fmt.Fprintf(&s, "r%d has %d rows:", i, table.NumRows())
		for _, f := range table.Schema().Fields() {
			fmt.Fprintf(&s, " %s %v,", f.Name, f.Type)
		}
		s.WriteString("\n")
	}
	for i, step := range p.Steps {
		fmt.Fprintf(&s, "%d: %v\n", i, step)
	}
	return s.String()
}
