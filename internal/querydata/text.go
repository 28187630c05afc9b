package querydata

import (
	"maps"

	"github.com/gpuframe/gpuframe"
)

func init() {
	maps.Copy(functions, map[string]function{
		"matches_regex": with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.MatchesRegex(o.member("pattern").text()) }),
		"find_regex":    with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.FindRegex(o.member("pattern").text()) }),
		"count_regex":   with(func(o *object, e gpuframe.Expr) gpuframe.Expr { return e.CountRegex(o.member("pattern").text()) }),
		"extract_regex": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.ExtractRegex(o.member("pattern").text(), o.member("group").count())
		}),
		"replace_regex": with(func(o *object, e gpuframe.Expr) gpuframe.Expr {
			return e.ReplaceRegex(o.member("pattern").text(), o.member("with").text())
		}),
	})
}
