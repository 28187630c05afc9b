package bind

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// onInput is the binding of a verb with one input.
func onInput(bind func(b *binder, input plan.Node) plan.Node) func(b *binder, inputs []plan.Node) plan.Node {
	return func(b *binder, inputs []plan.Node) plan.Node { return bind(b, inputs[0]) }
}

// Filter keeps the rows in which all conditions are true.
func Filter(conditions []Expr) Verb {
	return Verb{"Filter", arguments{conditions}, onInput(func(b *binder, n plan.Node) plan.Node {
		for _, c := range conditions {
			n = b.filter(n, c)
		}
		return n
	})}
}

// Require fails the run if a condition is not true of a row. Plans are not kept: the failure is not compared.
func Require(condition Expr, failure error) Verb {
	return Verb{name: "Require", bind: onInput(func(b *binder, input plan.Node) plan.Node { return b.require(input, condition, failure) })}
}

// Select keeps only the values of expressions. Those of aggregates alone are one row.
func Select(list []Expr) Verb {
	return Verb{"Select", arguments{list}, onInput(func(b *binder, input plan.Node) plan.Node {
		if areAggregates(list) {
			return b.aggregate(input, nil, list, nil, plan.GroupOptions{})
		}
		return b.project(input, nil, list)
	})}
}

// With adds columns, or replaces those of the same names, for a verb with a name.
func With(name string, list []Expr) Verb {
	return Verb{name, arguments{list}, onInput(func(b *binder, input plan.Node) plan.Node { return b.project(input, input.Schema(), list) })}
}

// Drop leaves out columns.
func Drop(columns []string) Verb {
	columns = slices.Clone(columns)
	return Verb{"Drop", arguments{columns}, onInput(func(b *binder, input plan.Node) plan.Node { return b.drop(input, columns) })}
}

// Rename gives a column another name.
func Rename(from, to string) Verb {
	return Verb{"Rename", arguments{from, to}, onInput(func(b *binder, input plan.Node) plan.Node { return b.rename(input, from, to) })}
}

// Sort orders the rows.
func Sort(keys []Order) Verb {
	exec.UseTop()
	return Verb{"Sort", arguments{keys}, onInput(func(b *binder, input plan.Node) plan.Node { return b.sort(input, keys, plan.All) })}
}

// Top keeps the first rows in the order of keys.
func Top(n int64, keys []Order) Verb {
	exec.UseTop()
	return Verb{"Top", arguments{n, keys}, onInput(func(b *binder, input plan.Node) plan.Node {
		if !b.isCount(n) {
			return input
		}
		return b.sort(input, keys, n)
	})}
}

// Head keeps the first rows.
func Head(n int64) Verb {
	return Verb{"Head", arguments{n}, onInput(func(b *binder, input plan.Node) plan.Node { return b.slice(input, 0, n) })}
}

// Tail keeps the last rows.
func Tail(n int64) Verb {
	return Verb{"Tail", arguments{n}, onInput(func(b *binder, input plan.Node) plan.Node { return b.slice(input, min(-n, 0), n) })}
}

// Slice keeps length rows after the first offset rows.
func Slice(offset, length int64) Verb {
	return Verb{"Slice", arguments{offset, length}, onInput(func(b *binder, input plan.Node) plan.Node {
		if offset < 0 {
			b.report(fmt.Errorf("the offset is %d, expected zero or more: use Tail for the last rows: %w", offset, device.ErrInvalidValue))
			return input
		}
		return b.slice(input, offset, length)
	})}
}

// Distinct keeps the first of rows with equal values in some columns, or in all.
func Distinct(columns []string) Verb {
	exec.UseDistinct()
	columns = slices.Clone(columns)
	return Verb{"Distinct", arguments{columns}, onInput(func(b *binder, input plan.Node) plan.Node {
		n, err := plan.NewDistinct(input, columns...)
		return b.checked(n, err, input, columns...)
	})}
}

// Union yields the rows of all inputs.
func Union() Verb {
	return Verb{"Union", arguments{}, func(b *binder, inputs []plan.Node) plan.Node {
		n, err := plan.NewUnion(inputs...)
		return b.checked(n, err, inputs[0])
	}}
}

// Sets keeps the rows of the first input that the second one has, or does not have, for a verb with a
// name. all compares how often both have a row.
func Sets(name string, kind join.Kind, all bool) Verb {
	exec.UseDistinct()
	exec.UseJoins()
	exec.UseWindows()
	return Verb{name, arguments{}, func(b *binder, inputs []plan.Node) plan.Node {
		n, err := plan.NewSets(inputs[0], inputs[1], kind, all)
		return b.checked(n, err, inputs[0])
	}}
}

// DropNulls leaves out rows with a null in some columns, or in any.
func DropNulls(columns []string) Verb {
	columns = slices.Clone(columns)
	return Verb{"DropNulls", arguments{columns}, onInput(func(b *binder, input plan.Node) plan.Node {
		if len(columns) == 0 {
			return b.dropNulls(input, names(input.Schema()))
		}
		return b.dropNulls(input, columns)
	})}
}

// Aggregate makes a row for each group of each set of keys, of expressions of aggregates.
func Aggregate(keys, list []Expr, sets GroupingSets, options plan.GroupOptions) Verb {
	return Verb{"Agg", arguments{keys, list, sets, options}, onInput(func(b *binder, input plan.Node) plan.Node { return b.aggregate(input, keys, list, sets, options) })}
}

// Explode makes a row of each element of the lists in columns, for a verb with a name.
func Explode(name string, columns []string, options nested.ExplodeOptions) Verb {
	exec.UseExplode()
	columns = slices.Clone(columns)
	return Verb{name: name, bind: onInput(func(b *binder, input plan.Node) plan.Node {
		n, err := plan.NewExplode(input, columns, options)
		return b.checked(n, err, input, columns...)
	})}
}
