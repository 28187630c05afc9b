package learn

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// OneHot is a column of 0 and 1 for each category, of type uint8. Their names are those of the column and the
// category: city_Oslo.
type OneHot struct {
	Categories []Categories    `json:"categories"`
	Options    CategoryOptions `json:"options"`
}

// FitOneHot finds the categories of columns of texts, integers or bools.
func FitOneHot(ctx context.Context, q gpuframe.Query, o CategoryOptions, columns ...string) (OneHot, error) {
	list, err := fitCategories(ctx, q, o, columns)
	return OneHot{list, o}, err
}

// Names are the names of the columns of categories, those of nulls and of unknown categories last: city_null and
// city_unknown.
func (o OneHot) Names() []string {
	var list []string
	for _, c := range o.Categories {
		list = append(list, c.names(o.Options)...)
	}
	return list
}

func (c Categories) names(o CategoryOptions) []string {
	var list []string
	for _, v := range c.Values {
		list = append(list, fmt.Sprintf("%s_%v", c.Column, v))
	}
	if o.NullCategory {
		list = append(list, c.Column+"_null")
	}
	if o.Unknown == UnknownCategory {
		list = append(list, c.Column+"_unknown")
	}
	return list
}

// Apply replaces the columns by those of the categories, which come last.
func (o OneHot) Apply(q gpuframe.Query) gpuframe.Query {
	for _, c := range o.Categories {
		var columns []gpuframe.Expression
		for code, name := range c.names(o.Options) {
			isCode := gpuframe.Col(foundColumn).Eq(int64(code)).FillNull(false)
			columns = append(columns, isCode.Cast(arrow.PrimitiveTypes.Uint8).As(name))
		}
		q = c.coded(q, o.Options).Drop(c.Column).With(columns...).Drop(foundColumn)
	}
	return q
}
