package join

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/release"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// resultColumn is a column of a result.
type resultColumn struct {
	// name is that of the result, number that of the column in its table.
	name   string
	right  bool
	number int
	// shared is the number of the right key with the same name, or −1.
	shared int
	// selected is set if the column is part of the result. Conditions may name all.
	selected bool
}

// result is the columns of a result.
type result struct{ columns []resultColumn }

// planResult names the columns of a result.
func planResult(left, right *buffer.Buffer, on []On, options *Options) (result, error) {
	shared, isKey := map[int]int{}, map[int]bool{}
	for _, pair := range on {
		if name, ok := pair.shared(); ok {
			a, b := indexOf(left, name), indexOf(right, name)
			if a >= 0 && b >= 0 {
				shared[a], isKey[b] = b, true
			}
		}
	}
	var r result
	used := map[string]bool{}
	for i, f := range left.Schema().Fields() {
		c := resultColumn{name: f.Name, number: i, shared: -1, selected: isSelected(options.LeftColumns, f.Name)}
		if number, ok := shared[i]; ok {
			c.shared = number
		}
		used[f.Name] = true
		r.columns = append(r.columns, c)
	}
	suffix := options.Suffix
	if suffix == "" {
		suffix = "_right"
	}
	rights := right.Schema().Fields()
	for i, f := range rights {
		if isKey[i] {
			continue
		}
		name := f.Name
		for used[name] || name != f.Name && hasOther(rights, name) {
			name += suffix
		}
		used[name] = true
		r.columns = append(r.columns, resultColumn{
			name: name, right: true, number: i, shared: -1, selected: !options.Kind.leftOnly() && isSelected(options.RightColumns, f.Name),
		})
	}
	return r, errors.Join(known("LeftColumns", options.LeftColumns, left), known("RightColumns", options.RightColumns, right))
}

// hasOther reports whether a field has a name.
func hasOther(fields []arrow.Field, name string) bool {
	return slices.ContainsFunc(fields, func(f arrow.Field) bool { return f.Name == name })
}

func isSelected(names []string, name string) bool {
	return names == nil || slices.Contains(names, name)
}

// known refuses names that a table does not have.
func known(option string, names []string, table *buffer.Buffer) error {
	for _, name := range names {
		if _, err := table.ColumnByName(name); err != nil {
			return fmt.Errorf("%s: %w", option, err)
		}
	}
	return nil
}

func indexOf(table *buffer.Buffer, name string) int {
	return slices.IndexFunc(table.Schema().Fields(), func(f arrow.Field) bool { return f.Name == name })
}

// table gathers the columns of the result.
func (r *run) table(j *joined) (*buffer.Buffer, error) {
	var held release.Stack
	made, err := r.gather(&held, j)
	return release.OnError(made, err, held.Release())
}

// gather gathers columns, which held releases, and makes a table of them.
func (r *run) gather(held *release.Stack, j *joined) (*buffer.Buffer, error) {
	left, err := j.pairs.numbers(j.left)
	if err != nil {
		return nil, err
	}
	held.Add(left)
	right, err := j.pairs.numbers(j.right)
	if err != nil {
		return nil, err
	}
	held.Add(right)
	var fields []arrow.Field
	var columns []*column.Column
	for _, c := range r.result.columns {
		if !c.selected {
			continue
		}
		field, made, err := r.gatherColumn(c, j, left, right)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.name, err)
		}
		held.Add(made)
		fields, columns = append(fields, field), append(columns, made)
	}
	metadata := r.left.Schema().Metadata()
	return buffer.New(arrow.NewSchema(fields, &metadata), columns, buffer.Rows{Count: int64(j.pairs.rows), Manager: r.call.Manager})
}

// gatherColumn gathers a column. A key with the name of its right key has the values of
// the right table where the left row is missing.
func (r *run) gatherColumn(c resultColumn, j *joined, left, right *column.Column) (arrow.Field, *column.Column, error) {
	from, rows, number, missing := r.left, left, c.number, j.leftMissing
	switch {
	case c.shared >= 0 && r.options.Kind == Full:
		return r.gatherShared(c, left, right)
	case c.shared >= 0 && r.options.Kind == Right:
		from, rows, number, missing = r.right, right, c.shared, j.rightMissing
	case c.right:
		from, rows, missing = r.right, right, j.rightMissing
	}
	field := from.Schema().Field(number)
	field.Name, field.Nullable = c.name, field.Nullable || missing
	made, err := r.take(from.Column(number), rows, missing)
	return field, made, err
}

// take takes rows of a column. noRow is null if rows may be missing.
func (r *run) take(c, rows *column.Column, missing bool) (*column.Column, error) {
	bounds := selection.Trust
	if missing {
		bounds = selection.Null
	}
	return selection.TakeColumnWith(r.call.Context(), c, rows, selection.TakeOptions{
		Options: r.resultOptions(), Bounds: bounds, Distinct: r.options.Kind.leftOnly(),
	})
}

// gatherShared gathers a key of a full join from both tables: the right rows are behind
// the left ones in a concatenation of both.
func (r *run) gatherShared(c resultColumn, left, right *column.Column) (arrow.Field, *column.Column, error) {
	a, b := r.left.Column(c.number), r.right.Column(c.shared)
	field := r.left.Schema().Field(c.number)
	if err := checkSide("concatenated", int64(a.Len())+int64(b.Len())); err != nil {
		return field, nil, err
	}
	if !arrow.TypeEqual(a.Type(), b.Type()) {
		return field, nil, fmt.Errorf("a full join needs one type for both keys, but the left one is %v, the right one %v: cast one of them: %w", a.Type(), b.Type(), device.ErrNotSupported)
	}
	field.Nullable = field.Nullable || r.right.Schema().Field(c.shared).Nullable
	both, err := selection.ConcatColumns(r.call.Context(), []*column.Column{a, b}, r.scratch())
	if err != nil {
		return field, nil, err
	}
	if left.Len() == 0 {
		taken, err := r.take(both, left, false)
		taken, err = release.OnError(taken, err, both.Release())
		return field, taken, err
	}
	block, slices, err := r.uint32s(left.Len())
	if err != nil {
		return field, nil, errors.Join(err, both.Release())
	}
	taken, err := r.takeShared(both, left, right, slices)
	taken, err = release.OnError(taken, err, both.Release(), block.Release())
	if err == nil {
		field.Type = taken.Type()
	}
	return field, taken, err
}

func (r *run) takeShared(both, left, right *column.Column, slices []memory.Slice[uint32]) (*column.Column, error) {
	lefts, leftErr := uint32sOf(left)
	rights, rightErr := uint32sOf(right)
	if err := errors.Join(leftErr, rightErr, r.settle()); err != nil {
		return nil, err
	}
	var err error
	if r.call.OnHost() {
		err = r.sharedOnHost(slices[0], lefts, rights)
	} else {
		err = r.sharedOnDevice(slices[0], lefts, rights)
	}
	if err != nil {
		return nil, err
	}
	rows, err := selection.RowNumbers(slices[0], nil)
	if err != nil {
		return nil, err
	}
	taken, err := r.take(both, rows, false)
	return release.OnError(taken, err, rows.Release())
}
