package main

import (
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// otherNames returns docs/coming-from.md.
func otherNames(string) (string, error) {
	text := "# Coming from Polars, pandas, SQL or gota\n\n" +
		"`make generate` writes this page from `internal/expr/catalog`. [polars.md](polars.md) lists all names of Polars, [sql.md](sql.md) the SQL of package `sql`.\n\n" +
		"`gpu` is an engine, `q` a query, and `x` is `gpuframe.Col(\"x\")`.\n\n## Tasks\n\n| gpuframe | Polars | pandas | SQL | gota |\n| --- | --- | --- | --- | --- |\n"
	for _, task := range catalog.Tasks() {
		text += "|"
		for _, form := range []string{task.Go, task.Polars, task.Pandas, task.SQL, task.Gota} {
			switch form {
			case "":
				text += " |"
			case "immediately":
				text += " " + form + " |"
			default:
				text += " `" + form + "` |"
			}
		}
		text += "\n"
	}
	text += "\n## Aggregates and windows\n\nThe names in SQL are also those of pipelines on the command line; [functions.md](functions.md) has types and nulls.\n\n| gpuframe | Polars, and gpuframe in Python | SQL |\n| --- | --- | --- |\n"
	for _, f := range catalog.All() {
		if f.Kind != catalog.Aggregated && f.Kind != catalog.Window {
			continue
		}
		python, _, _ := strings.Cut(f.Python, "(")
		if python != "" {
			python = "`" + python + "`"
		}
		text += fmt.Sprintf("| `%s` | %s | `%s` |\n", strings.Join(append([]string{qualified(f)}, f.GoAliases...), "`, `"), python, strings.Join(append([]string{f.Name}, f.Aliases...), "`, `"))
	}
	return text, nil
}
