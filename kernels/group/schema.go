package group

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Schema returns the schema of the result of [Query.Aggregate] for tables of a schema. It
// computes nothing, so that a planner can check a query before there is a table. The
// errors are those of Aggregate.
func Schema(schema *arrow.Schema, keys []Key, aggregates []Aggregate) (*arrow.Schema, error) {
	var fields []arrow.Field
	for i, key := range keys {
		t, nullable, err := key.typeIn(schema)
		if err == nil {
			err = checkKey(t)
		}
		if err != nil {
			return nil, fmt.Errorf("group: schema: %w", &KeyError{i, key, err})
		}
		fields = append(fields, arrow.Field{Name: key.name(i), Type: t, Nullable: nullable})
	}
	p, err := newPlan(schema, aggregates)
	if err != nil {
		return nil, fmt.Errorf("group: schema: %w", err)
	}
	for _, o := range p.outputs {
		fields = append(fields, arrow.Field{Name: o.aggregate.Name(), Type: o.dataType, Nullable: o.nullable})
	}
	return arrow.NewSchema(fields, nil), nil
}

// typeIn returns the type of the key's values, and whether one can be null.
func (k Key) typeIn(schema *arrow.Schema) (arrow.DataType, bool, error) {
	if k.Values != nil {
		return k.Values.Type(), k.Values.NullCount() != 0, nil
	}
	return typeIn(schema, k.expression())
}
