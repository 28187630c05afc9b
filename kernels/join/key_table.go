package join

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// keyTable returns a table of keys, which held releases.
func keyTable(held *release.Stack, columns []*column.Column) (*buffer.Buffer, []order.Key, error) {
	keys, names := orderKeys(len(columns)), make([]string, len(columns))
	for i := range columns {
		names[i] = keys[i].Column
	}
	table, err := tableOf(names, columns, buffer.Rows{Count: int64(columns[0].Len())})
	if err == nil {
		held.Add(table)
	}
	return table, keys, err
}

// orderKeys returns the keys of such a table.
func orderKeys(n int) []order.Key {
	keys := make([]order.Key, n)
	for i := range keys {
		keys[i].Column = fmt.Sprint("key ", i)
	}
	return keys
}

// validKeys returns booleans that are false for rows with a null in any column, or nil if no key
// is null or nulls match.
func validKeys(c *call, held *release.Stack, keys *buffer.Buffer) (*column.Column, error) {
	if c.nullsEqual || keys.Capacity() == 0 {
		return nil, nil
	}
	var all expr.Expr
	for i := range keys.NumColumns() {
		key := keys.Column(i)
		if !op.Nullable(key) && (key.Dictionary() == nil || key.Dictionary().NullCount() == 0) && key.NullCount() == 0 {
			continue
		}
		if valid := expr.Col(keys.Schema().Field(i).Name).IsValid(); all.IsZero() {
			all = valid
		} else {
			all = all.AndStrict(valid)
		}
	}
	if all.IsZero() {
		return nil, nil
	}
	allValid, err := expr.Evaluate(c.Context(), keys, []expr.Expr{all}, c.scratch())
	if err != nil {
		return nil, err
	}
	held.Add(allValid[0])
	return allValid[0], nil
}

// firstColumns returns a table of the first n columns, which held releases.
func firstColumns(held *release.Stack, table *buffer.Buffer, n int) (*buffer.Buffer, error) {
	names := make([]string, n)
	for i := range names {
		names[i] = table.Schema().Field(i).Name
	}
	selected, err := table.Select(names...)
	if err == nil {
		held.Add(selected)
	}
	return selected, err
}

// usableOf returns booleans that are false for rows with a null, or with NaN as one of some keys. It returns nil if all
// rows can match.
func usableOf(c *call, held *release.Stack, keys *buffer.Buffer, numbers ...int) (*column.Column, error) {
	valid, err := validKeys(c, held, keys)
	if err != nil || keys.Capacity() == 0 {
		return nil, err
	}
	var all expr.Expr
	for _, i := range numbers {
		if familyOf(keys.Column(i).Type()) != floats {
			continue
		}
		isNumber := expr.Col(keys.Schema().Field(i).Name).IsNaN().Not()
		if keys.Column(i).Type().ID() == arrow.FLOAT16 { // which expressions do not compute with
			if keys, isNumber, err = numbersOfHalves(c, held, keys, i); err != nil {
				return nil, err
			}
		}
		if number := isNumber.FillNull(expr.Lit(false)); all.IsZero() {
			all = number
		} else {
			all = all.AndStrict(number)
		}
	}
	if all.IsZero() {
		return valid, nil
	}
	if valid != nil {
		if keys, err = keys.AppendColumn(arrow.Field{Name: "valid", Type: valid.Type()}, valid); err != nil {
			return nil, err
		}
		held.Add(keys)
		all = all.AndStrict(expr.Col("valid"))
	}
	usable, err := expr.Evaluate(c.Context(), keys, []expr.Expr{all}, c.scratch())
	if err != nil {
		return nil, err
	}
	held.Add(usable[0])
	return usable[0], nil
}

// numbersOfHalves returns an expression that is false for the NaNs of a column of float16, and
// the table with a column that it reads: the bits of the values.
func numbersOfHalves(c *call, held *release.Stack, keys *buffer.Buffer, number int) (*buffer.Buffer, expr.Expr, error) {
	const sign, infinity = 1 << 15, 0x7c00
	data := keys.Column(number).Data()
	data.Type = arrow.PrimitiveTypes.Uint16
	bits, err := column.New(data)
	if err != nil {
		return nil, expr.Expr{}, err
	}
	held.Add(bits)
	name := keys.Schema().Field(number).Name + " bits"
	table, err := keys.AppendColumn(arrow.Field{Name: name, Type: data.Type, Nullable: true}, bits)
	if err != nil {
		return nil, expr.Expr{}, err
	}
	held.Add(table)
	return table, expr.Col(name).BitAnd(expr.Lit(uint16(sign - 1))).Le(expr.Lit(uint16(infinity))), nil
}

// filterRows returns the rows of a table for which a mask is true, and their numbers.
func filterRows(c *call, held *release.Stack, table *buffer.Buffer, mask *column.Column) (*buffer.Buffer, *column.Column, error) {
	n := mask.Len()
	block, slices, err := c.uint32s(n)
	if err != nil {
		return nil, nil, err
	}
	held.Add(block)
	if err := errors.Join(c.waitIdle(), c.numberRows(slices[0])); err != nil {
		return nil, nil, err
	}
	numbers, err := selection.RowNumbers(slices[0], nil)
	if err != nil {
		return nil, nil, err
	}
	held.Add(numbers)
	numbered, err := table.AppendColumn(arrow.Field{Name: "row", Type: numbers.Type()}, numbers)
	if err != nil {
		return nil, nil, err
	}
	held.Add(numbered)
	exact, err := c.filter(held, numbered, mask)
	if err != nil {
		return nil, nil, err
	}
	keys, err := firstColumns(held, exact, table.NumColumns())
	return keys, exact.Column(table.NumColumns()), err
}
