package join

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// condition evaluates the further condition of a match.
type condition struct {
	*sides
	probesRight bool
}

// refine returns the matches for which the condition is true. It evaluates the condition
// on the pairs of all matches, or of those that its bounds leave.
func (k *condition) refine(m *matches) (*matches, error) {
	narrowed, err := k.narrow(m)
	if err != nil {
		return nil, err
	}
	if narrowed == nil {
		return k.refinePairs(m, false)
	}
	refined, err := k.refinePairs(narrowed, true)
	return release.OnError(refined, err, narrowed.Release())
}

// refinePairs evaluates the condition on the pairs of matches. Those of a row are in any order if
// unordered is set.
func (k *condition) refinePairs(m *matches, unordered bool) (*matches, error) {
	p, err := m.expand(k.call, everyMatch, 0)
	if err != nil {
		return nil, err
	}
	var held release.Stack
	held.Add(p)
	refined, err := func() (*matches, error) {
		kept, err := k.keptPairs(&held, p)
		if err == nil && unordered {
			kept, err = k.inOrder(&held, kept)
		}
		if err != nil {
			return nil, err
		}
		refined, err := newMatches(k.call, m.probe, m.build)
		if err != nil {
			return nil, err
		}
		return release.OnError(refined, refined.fillPairs(k.call, kept))
	}()
	return release.OnError(refined, err, held.Release())
}

// keptPairs returns the pairs for which the condition is true, as columns of both sides. It
// waits for their number.
func (k *condition) keptPairs(held *release.Stack, p *pairs) (*buffer.Buffer, error) {
	probe, err := p.numbers(p.probe)
	if err != nil {
		return nil, err
	}
	held.Add(probe)
	build, err := p.numbers(p.build)
	if err != nil {
		return nil, err
	}
	held.Add(build)
	left, right := probe, build
	if k.probesRight {
		left, right = build, probe
	}
	mask, err := k.evaluate(held, left, right)
	if err != nil {
		return nil, err
	}
	both, err := tableOf([]string{"probe", "build"}, []*column.Column{probe, build}, buffer.Rows{Count: int64(p.rows), Manager: k.Manager})
	if err != nil {
		return nil, err
	}
	held.Add(both)
	return k.filter(held, both, mask)
}

// evaluate evaluates the condition for pairs of rows.
func (k *condition) evaluate(held *release.Stack, left, right *column.Column) (*column.Column, error) {
	table, err := k.inputs(held, left, right)
	if err != nil {
		return nil, err
	}
	truths, err := expr.Evaluate(k.Context(), table, []expr.Expr{k.options.Where}, k.scratch())
	if err != nil {
		return nil, fmt.Errorf("condition %v: %w", k.options.Where, err)
	}
	held.Add(truths[0])
	return truths[0], nil
}

// inputs gathers the columns that the condition names.
func (k *condition) inputs(held *release.Stack, left, right *column.Column) (*buffer.Buffer, error) {
	wanted := map[string]bool{}
	for _, name := range k.options.Where.Columns() {
		wanted[name] = true
	}
	var names []string
	var columns []*column.Column
	for _, c := range k.result.columns {
		if !wanted[c.name] {
			continue
		}
		table, rows := k.left, left
		if c.right {
			table, rows = k.right, right
		}
		taken, err := selection.TakeColumnWith(k.Context(), table.Column(c.number), rows, selection.TakeOptions{Options: k.scratch(), Bounds: selection.Trust})
		if err != nil {
			return nil, err
		}
		held.Add(taken)
		names, columns = append(names, c.name), append(columns, taken)
	}
	table, err := tableOf(names, columns, buffer.Rows{Count: int64(left.Len()), Manager: k.Manager})
	if err == nil {
		held.Add(table)
	}
	return table, err
}

// fillPairs makes matches of pairs that are in the order of the probe side.
func (m *matches) fillPairs(c *call, kept *buffer.Buffer) error {
	list := kept.Column(1)
	if err := list.Retain(); err != nil {
		return err
	}
	m.held.Add(list)
	if m.probe == 0 {
		return nil
	}
	probe, err := uint32sOf(kept.Column(0))
	if err != nil {
		return err
	}
	if m.list, err = uint32sOf(list); err != nil {
		return err
	}
	if err := errors.Join(m.first.Fill(c.Stream, 0), m.count.Fill(c.Stream, 0), c.waitIdle()); err != nil || probe.Len() == 0 {
		return err
	}
	if c.OnHost() {
		return m.runsOnHost(probe)
	}
	block, ends, err := c.uint32s(m.probe)
	if err != nil {
		return err
	}
	return errors.Join(ends[0].Fill(c.Stream, 0), m.runsOnDevice(c, probe, ends[0]), block.Release())
}

// runsOnHost writes the first element and the length of each run of equal numbers.
func (m *matches) runsOnHost(probe memory.Slice[uint32]) error {
	rows, rowsErr := probe.Host()
	first, firstErr := m.first.Host()
	count, countErr := m.count.Host()
	if err := errors.Join(rowsErr, firstErr, countErr); err != nil {
		return err
	}
	for i, row := range rows {
		if count[row] == 0 {
			first[row] = uint32(i)
		}
		count[row]++
	}
	return nil
}

func (m *matches) runsOnDevice(c *call, probe, ends memory.Slice[uint32]) error {
	err := c.launch("pairs", "runs_of_rows", probe.Len(), m.first, ends, probe, uint64(probe.Len()))
	return errors.Join(err, spansOnDevice(c, m.count, m.first, ends, memory.Slice[uint8]{}))
}
