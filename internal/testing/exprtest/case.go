package exprtest

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Options configure the drawn cases. The zero value is right for most tests.
type Options struct {
	// Rows are the numbers of rows to choose from; nil means some up to 70.
	Rows []int
	// Columns is the maximum number of columns, 10 if it is zero. Depth is the maximum
	// depth of expressions, 4 if it is zero; Expressions their maximum number, 3 if it
	// is zero.
	Columns, Depth, Expressions int
	// Exact leaves out Exp, Log, Power, Sin and Cos, which devices may round
	// differently.
	Exact bool
	// Strings adds expressions that make strings, as results and as operands.
	Strings bool
	// NoStrings leaves out columns of strings, NoDecimals decimals.
	NoStrings, NoDecimals bool
}

// Case is a table and expressions over it.
type Case struct {
	Schema      *arrow.Schema
	Arrays      []arrow.Array
	Rows        int
	Expressions []expr.Expr
	// Program is the result of binding the expressions to the schema.
	Program *exprtree.Program
}

// Inputs returns the arrays that the program takes, borrowed.
func (c *Case) Inputs() []arrow.Array {
	inputs := make([]arrow.Array, len(c.Program.Inputs))
	for i, place := range c.Program.Inputs {
		inputs[i] = c.Arrays[place]
	}
	return inputs
}

// Record returns the table as a record, which the caller releases.
func (c *Case) Record() arrow.Record { return array.NewRecord(c.Schema, c.Arrays, int64(c.Rows)) }

// Release releases the arrays.
func (c *Case) Release() {
	release.Arrow(c.Arrays)
}

// Draw makes a case. The caller releases it.
func Draw(t *rapid.T, options Options) *Case {
	rows := options.Rows
	if rows == nil {
		rows = []int{0, 1, 2, 7, 31, 32, 33, 64, 70}
	}
	c := &Case{Rows: rapid.SampledFrom(rows).Draw(t, "rows")}
	g := &generator{t: t, options: options, zone: rapid.SampledFrom([]string{"", "UTC"}).Draw(t, "zone")}
	values := NewValues(rapid.Uint64().Draw(t, "seed"))
	g.offsets = values.Rand
	var fields []arrow.Field
	first := g.offsets.IntN(int(classes))
	for i := range nonZero(options.Columns, 10) - g.choose("fewer", nonZero(options.Columns, 10)) {
		kind := class((first + i) % int(classes))
		for options.NoStrings && kind == stringValues || options.NoDecimals && kind == decimals {
			kind = integers
		}
		dataType := g.typeOf(kind)
		name := fmt.Sprintf("c%d", i)
		fields = append(fields, arrow.Field{Name: name, Type: dataType, Nullable: true})
		g.columns[kind] = append(g.columns[kind], expr.Col(name))
		values.Sliced = rapid.Bool().Draw(t, "sliced")
		values.Nulls = rapid.SampledFrom([]arraytest.Nulls{arraytest.SomeNull, arraytest.NoneNull, arraytest.AllNull, arraytest.SomeNull}).Draw(t, "nulls")
		c.Arrays = append(c.Arrays, values.Array(dataType, c.Rows))
	}
	c.Schema = arrow.NewSchema(fields, nil)
	for range 1 + g.choose("expressions", nonZero(options.Expressions, 3)) {
		c.Expressions = append(c.Expressions, g.bindable(c.Schema, nonZero(options.Depth, 4)))
	}
	c.Program = Program(t, c.Schema, c.Expressions...)
	return c
}

// Program binds expressions to a schema and returns the program.
func Program(t interface{ Fatalf(string, ...any) }, schema *arrow.Schema, expressions ...expr.Expr) *exprtree.Program {
	bound, err := expr.Bind(schema, expressions...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return (*exprtree.Bound)(bound).Program()
}

func nonZero(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}
