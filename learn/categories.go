package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe"
)

// Unknown is the treatment of categories that were not fitted.
type Unknown string

const (
	// UnknownFails ends the run with an error that wraps [ErrUnknown]. It is the default.
	UnknownFails Unknown = ""
	// UnknownNull makes the code null; all one-hot columns are 0.
	UnknownNull Unknown = "null"
	// UnknownCategory makes a further category of them, the last one.
	UnknownCategory Unknown = "category"
)

// CategoryOptions configure [FitLabels] and [FitOneHot].
type CategoryOptions struct {
	Unknown Unknown `json:"unknown,omitempty"`
	// NullCategory makes a category of nulls, after the others. Without it codes of nulls are null, and one-hot
	// columns 0.
	NullCategory bool `json:"null_category,omitempty"`
}

// Categories are those of a column, in ascending order.
type Categories struct {
	Column string  `json:"column"`
	Values []Value `json:"values"`
}

// fitCategories finds the categories of columns.
func fitCategories(ctx context.Context, q gpuframe.Query, o CategoryOptions, columns []string) ([]Categories, error) {
	if o.Unknown != UnknownFails && o.Unknown != UnknownNull && o.Unknown != UnknownCategory {
		return nil, fmt.Errorf("learn: Unknown is %q, expected %q, %q or %q: %w", o.Unknown, UnknownFails, UnknownNull, UnknownCategory, ErrOption)
	}
	list := make([]Categories, len(columns))
	for i, name := range columns {
		t, err := typeOf(ctx, q, name)
		if err != nil {
			return nil, err
		}
		stored, ok := storage(t)
		if !ok {
			return nil, fmt.Errorf("learn: categories of %q, which is %v, expected texts, integers or bools: %w", name, t, ErrType)
		}
		value := category(name, stored).As("value")
		f, err := q.Select(value).DropNulls().Distinct().Sort(gpuframe.Col("value")).Collect(ctx)
		if err != nil {
			return nil, fmt.Errorf("learn: categories of %q: %w", name, err)
		}
		list[i].Column = name
		list[i].Values, err = values(ctx, f, "value", stored)
		if err = errors.Join(err, f.Release()); err != nil {
			return nil, fmt.Errorf("learn: categories of %q: %w", name, err)
		}
	}
	return list, nil
}

// checked makes a run fail for a category of foundColumn that was not fitted.
func (c Categories) checked(q gpuframe.Query, o CategoryOptions) gpuframe.Query {
	if o.Unknown != UnknownFails {
		return q
	}
	known := gpuframe.Col(foundColumn).IsValid().Or(gpuframe.Col(c.Column).IsNull())
	return q.Require(known, &unknownCategory{column: c.Column})
}
