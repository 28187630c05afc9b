package join

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// refine returns the matches for which the condition is true. It evaluates the condition
// on the pairs of all matches.
func (r *run) refine(m *matches, probesRight bool) (*matches, error) {
	p, err := r.expand(m, everyMatch, 0)
	if err != nil {
		return nil, err
	}
	var held release.Stack
	held.Add(p)
	refined, err := r.refinePairs(&held, m, p, probesRight)
	return release.OnError(refined, err, held.Release())
}

func (r *run) refinePairs(held *release.Stack, m *matches, p *pairs, probesRight bool) (*matches, error) {
	kept, err := r.keptPairs(held, p, probesRight)
	if err != nil {
		return nil, err
	}
	return r.matchesOf(m, kept)
}

// keptPairs returns the pairs for which the condition is true, as columns of both sides. It
// waits for their number.
func (r *run) keptPairs(held *release.Stack, p *pairs, probesRight bool) (*buffer.Buffer, error) {
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
	if probesRight {
		left, right = build, probe
	}
	condition, err := r.condition(held, left, right)
	if err != nil {
		return nil, err
	}
	both, err := tableOf([]string{"probe", "build"}, []*column.Column{probe, build}, buffer.Rows{Count: int64(p.rows), Manager: r.call.Manager})
	if err != nil {
		return nil, err
	}
	held.Add(both)
	kept, err := selection.FilterMask(r.call.Context(), both, condition, r.scratch())
	if err != nil {
		return nil, err
	}
	held.Add(kept)
	n, err := kept.NumRows(r.call.Context())
	if err != nil {
		return nil, err
	}
	exact, err := kept.Slice(0, n)
	if err == nil {
		held.Add(exact)
	}
	return exact, err
}

// condition evaluates the condition for pairs of rows.
func (r *run) condition(held *release.Stack, left, right *column.Column) (*column.Column, error) {
	table, err := r.conditionTable(held, left, right)
	if err != nil {
		return nil, err
	}
	truths, err := expr.Evaluate(r.call.Context(), table, []expr.Expr{r.options.Where}, r.scratch())
	if err != nil {
		return nil, fmt.Errorf("condition %v: %w", r.options.Where, err)
	}
	held.Add(truths[0])
	return truths[0], nil
}

// conditionTable gathers the columns that the condition names.
func (r *run) conditionTable(held *release.Stack, left, right *column.Column) (*buffer.Buffer, error) {
	wanted := map[string]bool{}
	for _, name := range r.options.Where.Columns() {
		wanted[name] = true
	}
	var names []string
	var columns []*column.Column
	for _, c := range r.result.columns {
		if !wanted[c.name] {
			continue
		}
		table, rows := r.left, left
		if c.right {
			table, rows = r.right, right
		}
		taken, err := selection.TakeColumnWith(r.call.Context(), table.Column(c.number), rows, selection.TakeOptions{Options: r.scratch(), Bounds: selection.Trust})
		if err != nil {
			return nil, err
		}
		held.Add(taken)
		names, columns = append(names, c.name), append(columns, taken)
	}
	table, err := tableOf(names, columns, buffer.Rows{Count: int64(left.Len()), Manager: r.call.Manager})
	if err == nil {
		held.Add(table)
	}
	return table, err
}

// matchesOf returns the matches of a table of pairs in the order of the probe side.
func (r *run) matchesOf(m *matches, kept *buffer.Buffer) (*matches, error) {
	refined, err := r.newMatches(m.probe, m.build)
	if err != nil {
		return nil, err
	}
	if err := r.fillOf(refined, kept); err != nil {
		return nil, errors.Join(err, refined.Release())
	}
	return refined, nil
}

func (r *run) fillOf(m *matches, kept *buffer.Buffer) error {
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
	if err := errors.Join(m.first.Fill(r.call.Stream, 0), m.count.Fill(r.call.Stream, 0), r.waitIdle()); err != nil || probe.Len() == 0 {
		return err
	}
	if r.call.OnHost() {
		return r.runsOnHost(m, probe)
	}
	block, ends, err := r.uint32s(m.probe)
	if err != nil {
		return err
	}
	return errors.Join(ends[0].Fill(r.call.Stream, 0), r.runsOnDevice(m, probe, ends[0]), block.Release())
}
