package learn

import (
	"context"

	"github.com/gpuframe/gpuframe"
)

// Labels are codes of categories: the numbers of the categories of each column, from 0.
type Labels struct {
	Categories []Categories    `json:"categories"`
	Options    CategoryOptions `json:"options"`
}

// FitLabels finds the categories of columns of texts, integers or bools.
func FitLabels(ctx context.Context, q gpuframe.Query, o CategoryOptions, columns ...string) (Labels, error) {
	list, err := fitCategories(ctx, q, o, columns)
	return Labels{list, o}, err
}

// Apply replaces the columns by codes of type int64.
func (l Labels) Apply(q gpuframe.Query) gpuframe.Query {
	for _, c := range l.Categories {
		q = c.coded(q, l.Options).With(gpuframe.Col(foundColumn).As(c.Column)).Drop(foundColumn)
	}
	return q
}

// coded adds foundColumn: the code of a value.
func (c Categories) coded(q gpuframe.Query, o CategoryOptions) gpuframe.Query {
	codes := make([]int64, len(c.Values))
	for i := range codes {
		codes[i] = int64(i)
	}
	q = c.checked(lookup(q, c, codes), o)
	column, code := gpuframe.Col(c.Column), gpuframe.Col(foundColumn)
	next := int64(len(c.Values))
	if o.NullCategory {
		code = gpuframe.If(column.IsNull(), next, code)
		next++
	}
	if o.Unknown == UnknownCategory {
		code = gpuframe.If(column.IsValid().And(gpuframe.Col(foundColumn).IsNull()), next, code)
	}
	return q.With(code.As(foundColumn))
}
