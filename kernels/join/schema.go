package join

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Schema returns the schema of the result of [Tables] for tables of two schemas. It
// computes nothing, so that a planner can check a join before there is a table. The errors
// are those of Tables.
func Schema(left, right *arrow.Schema, on []On, options Options) (*arrow.Schema, error) {
	schema, err := schemaOf(left, right, on, options)
	if err != nil {
		return nil, fmt.Errorf("join: schema: %w", err)
	}
	return schema, nil
}

func schemaOf(left, right *arrow.Schema, on []On, options Options) (*arrow.Schema, error) {
	if err := options.check(on); err != nil {
		return nil, err
	}
	for i, pair := range on {
		if err := pair.checkTypes(left, right); err != nil {
			return nil, &KeyError{i, pair, err}
		}
	}
	r, err := planResult(left, right, on, &options)
	if err != nil {
		return nil, err
	}
	if !options.Where.IsZero() {
		if err := r.checkCondition(left, right, options.Where); err != nil {
			return nil, err
		}
	}
	return r.schema(left, right, options.Kind), nil
}

// checkCondition refuses conditions that are not booleans.
func (r *result) checkCondition(left, right *arrow.Schema, condition expr.Expr) error {
	var fields []arrow.Field
	for _, c := range r.columns {
		fields = append(fields, c.field(left, right, Inner))
	}
	t, _, err := condition.Type(arrow.NewSchema(fields, nil))
	if err != nil {
		return fmt.Errorf("condition %v: %w", condition, err)
	}
	if t.ID() != arrow.BOOL {
		return fmt.Errorf("the condition %v has type %v, expected bool: %w", condition, t, device.ErrInvalidValue)
	}
	return nil
}

// schema returns the schema of the selected columns.
func (r *result) schema(left, right *arrow.Schema, kind Kind) *arrow.Schema {
	var fields []arrow.Field
	for _, c := range r.columns {
		if c.selected {
			fields = append(fields, c.field(left, right, kind))
		}
	}
	metadata := left.Metadata()
	return arrow.NewSchema(fields, &metadata)
}

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
func planResult(left, right *arrow.Schema, on []On, options *Options) (result, error) {
	shared, isKey := map[int]int{}, map[int]bool{}
	for _, pair := range on {
		if name, ok := pair.shared(); ok {
			a, b := indexOf(left, name), indexOf(right, name)
			if a < 0 || b < 0 {
				continue // the key will be refused
			}
			shared[a], isKey[b] = b, true
		}
	}
	var r result
	used := map[string]bool{}
	for i, f := range left.Fields() {
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
	rights := right.Fields()
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
func known(option string, names []string, schema *arrow.Schema) error {
	for _, name := range names {
		if indexOf(schema, name) < 0 {
			return fmt.Errorf("%s has %q, but the table has no such column: %w", option, name, buffer.ErrSchema)
		}
	}
	return nil
}

func indexOf(schema *arrow.Schema, name string) int {
	return slices.IndexFunc(schema.Fields(), func(f arrow.Field) bool { return f.Name == name })
}

// field returns the field of the column.
func (c resultColumn) field(left, right *arrow.Schema, kind Kind) arrow.Field {
	from, number, missing := left, c.number, kind.keepsRight()
	switch {
	case c.shared >= 0 && kind == Right:
		from, number, missing = right, c.shared, false
	case c.shared >= 0 && kind == Full:
		field := left.Field(number)
		field.Type, field.Nullable = unifiedType(field.Type, right.Field(c.shared).Type), field.Nullable || right.Field(c.shared).Nullable
		return field
	case c.right:
		from, missing = right, kind.keepsLeft()
	}
	field := from.Field(number)
	field.Name, field.Nullable = c.name, field.Nullable || missing
	return field
}
