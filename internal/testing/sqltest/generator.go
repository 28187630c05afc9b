package sqltest

import (
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// generator draws nodes. Its depth is the number of levels that nodes may still have below them.
type generator struct {
	*rand.Rand
	depth int
}

// Statement draws a statement with up to a number of levels.
func Statement(r *rand.Rand, depth int) tree.Statement {
	g := &generator{r, depth}
	switch g.IntN(12) {
	case 0:
		return g.create()
	case 1:
		return g.copyTo()
	case 2:
		return &tree.Explain{Analyze: g.chance(2), Statement: g.query()}
	case 3:
		return &tree.Describe{Summarize: g.chance(2), Query: g.selectQuery()}
	}
	return g.query()
}

// Query draws a query with up to a number of levels.
func Query(r *rand.Rand, depth int) *tree.Query {
	return (&generator{r, depth}).query()
}

// Expr draws an expression with up to a number of levels.
func Expr(r *rand.Rand, depth int) tree.Expr {
	return (&generator{r, depth}).expr()
}

// chance returns true in one of n cases.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// deeper calls draw with a level less.
func (g *generator) deeper(draw func()) {
	g.depth--
	draw()
	g.depth++
}

// pick returns an element of a list.
func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// fill draws between least and most elements. It returns nil instead of none.
func fill[T any](g *generator, least, most int, draw func() T) []T {
	list := make([]T, least+g.IntN(most-least+1))
	for i := range list {
		list[i] = draw()
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// names are the names of columns.
var names = []tree.Name{
	{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "Value"}, {Text: "größe"}, {Text: "year"}, {Text: "date"},
	{Text: "x y", Quoted: true}, {Text: `say "no"`, Quoted: true}, {Text: "select", Quoted: true}, {Text: "名前"},
	{Text: "position", Quoted: true}, {Text: "key"}, {Text: "a$1"}, {Text: "Group", Quoted: true},
}

func (g *generator) name() tree.Name { return pick(g, names...) }

// qualified draws a name with up to two names before it.
func (g *generator) qualified() []tree.Name {
	list := []tree.Name{g.name()}
	for len(list) < 3 && g.chance(4) {
		list = append(list, pick(g, tree.Name{Text: "b"}, tree.Name{Text: "from"}, tree.Name{Text: "X", Quoted: true}))
	}
	return list
}

func (g *generator) create() tree.Statement {
	s := &tree.Create{
		View: g.chance(2), Replace: g.chance(2), Temporary: g.chance(3), Name: g.qualified()[:1],
		Columns: fill(g, 0, 2, g.name), Query: g.query(),
	}
	s.IfNotExists = !s.Replace && g.chance(2)
	return s
}

func (g *generator) copyTo() tree.Statement {
	s := &tree.Copy{Path: &tree.Literal{Kind: tree.Text, Text: "out.parquet"}}
	if g.chance(2) {
		s.Table = g.qualified()
	} else {
		s.Query = g.query()
	}
	s.Options = fill(g, 0, 2, func() tree.Option {
		return tree.Option{Name: tree.Name{Text: "format"}, Values: fill(g, 0, 2, func() tree.Expr {
			return &tree.Column{Name: []tree.Name{{Text: "parquet"}}}
		})}
	})
	return s
}
