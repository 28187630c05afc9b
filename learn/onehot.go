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

// FitOneHot finds the categories of columns of texts, integers or bools. Two columns of categories with one name, or
// one with the name of a column of the query, are an error that wraps [ErrOption].
func FitOneHot(ctx context.Context, q gpuframe.Query, o CategoryOptions, columns ...string) (OneHot, error) {
	list, err := fitCategories(ctx, q, o, columns)
	if err != nil {
		return OneHot{}, err
	}
	encoding := OneHot{list, o}
	return encoding, encoding.check(ctx, q)
}

// check refuses equal names, and those of columns of the query.
func (o OneHot) check(ctx context.Context, q gpuframe.Query) error {
	schema, err := q.Schema(ctx)
	if err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	taken := map[string]string{}
	for _, f := range schema.Fields() {
		taken[f.Name] = "a column of the query"
	}
	for _, c := range o.Categories {
		for _, name := range c.names(o.Options) {
			if other, ok := taken[name]; ok {
				return fmt.Errorf("learn: the one-hot column %q of column %q has the name of %s: rename one of the columns before the fit: %w", name, c.Column, other, ErrOption)
			}
			taken[name] = fmt.Sprintf("a one-hot column of column %q", c.Column)
		}
	}
	return nil
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

// Apply replaces the columns by those of the categories, which come last. A column of the query with one of their
// names is a problem of the query.
func (o OneHot) Apply(q gpuframe.Query) gpuframe.Query {
	for _, c := range o.Categories {
		names := c.names(o.Options)
		var columns []gpuframe.Expression
		for code := range names {
			isCode := gpuframe.Col(foundColumn).Eq(int64(code)).FillNull(false)
			columns = append(columns, isCode.Cast(arrow.PrimitiveTypes.Uint8).As(hotColumn(code)))
		}
		q = c.coded(q, o.Options).Drop(c.Column).With(columns...).Drop(foundColumn)
		for code, name := range names {
			q = q.Rename(hotColumn(code), name) // With would replace a column of this name
		}
	}
	return q
}

// hotColumn is the name of a column of a category between the verbs of Apply.
func hotColumn(code int) string { return fmt.Sprint("\x01hot ", code) }
