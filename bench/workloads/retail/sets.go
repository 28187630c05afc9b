package retail

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// groupingSets groups by several sets of the keys of the first set, which are texts. A key that a set lacks is null.
func groupingSets(q gpuframe.Query, sets [][]string, aggregates ...gpuframe.Expression) gpuframe.Query {
	columns := append([]string{}, sets[0]...)
	for _, a := range aggregates {
		columns = append(columns, a.(gpuframe.Expr).Name())
	}
	parts := make([]gpuframe.Query, len(sets))
	for i, set := range sets {
		var missing []gpuframe.Expression
		for _, key := range sets[0] {
			missing = append(missing, gpuframe.LitOf(arrow.BinaryTypes.String, nil).As(key))
		}
		for _, key := range set {
			for at, m := range missing {
				if m.(gpuframe.Expr).Name() == key {
					missing = append(missing[:at], missing[at+1:]...)
					break
				}
			}
		}
		parts[i] = q.GroupBy(set).Agg(aggregates...).With(missing...).Select(columns)
	}
	return parts[0].Union(parts[1:]...)
}
