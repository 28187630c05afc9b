package sql

import (
	"math"
	"path"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// oneRow returns a query of one row, for SELECT without FROM.
func (t *translation) oneRow() gpuframe.Query {
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.Append(0)
	return t.recordOf(t.unique("row"), int64Type, builder)
}

// recordOf returns a query of one column of the rows of a builder.
func (t *translation) recordOf(name string, dataType arrow.DataType, builder array.Builder) gpuframe.Query {
	schema := arrow.NewSchema([]arrow.Field{{Name: name, Type: dataType}}, nil)
	values := builder.NewArray()
	return t.engine.Records(schema, array.NewRecord(schema, []arrow.Array{values}, int64(values.Len())))
}

// files are the files that statements read: those of the process, or a [gpuframe.Files].
type files interface {
	Parquet(paths ...string) gpuframe.Query
	CSV(options gpuframe.CSVOptions, paths ...string) gpuframe.Query
	JSON(options gpuframe.JSONOptions, paths ...string) gpuframe.Query
	IPC(paths ...string) gpuframe.Query
}

// processFiles are the files of the process.
type processFiles struct{ *gpuframe.Engine }

func (f processFiles) CSV(options gpuframe.CSVOptions, paths ...string) gpuframe.Query {
	return f.CSVWith(options, paths...)
}

// fileFormats are the formats of files by the ends of their names.
var fileFormats = map[string]func(f files, paths ...string) gpuframe.Query{
	".parquet": files.Parquet, ".csv": commas, ".tsv": tabs, ".json": lines, ".jsonl": lines, ".ndjson": lines,
	".arrow": files.IPC, ".ipc": files.IPC, ".feather": files.IPC,
}

func commas(f files, paths ...string) gpuframe.Query {
	return f.CSV(gpuframe.CSVOptions{}, paths...)
}

func tabs(f files, paths ...string) gpuframe.Query {
	return f.CSV(gpuframe.CSVOptions{Delimiter: '\t'}, paths...)
}

func lines(f files, paths ...string) gpuframe.Query {
	return f.JSON(gpuframe.JSONOptions{}, paths...)
}

// file returns the query of FROM 'path'.
func (t *translation) file(item *tree.File) gpuframe.Query {
	open, ok := fileFormats[source.Extension(item.Path)]
	if !ok {
		t.fail(item, "the format of %q is not known by its name: use read_parquet, read_csv or read_json", item.Path)
	}
	return open(t.session.files, item.Path)
}

// fileTable returns the name of the table of a file: its name without folders and end.
func fileTable(name string) string {
	base := path.Base(source.WithoutQuery(name))
	if extension := path.Ext(base); !strings.EqualFold(extension, source.Extension(name)) { // of a compression
		base = strings.TrimSuffix(base, extension)
	}
	return strings.TrimSuffix(base, path.Ext(base))
}

// readers are the functions of FROM that read files.
var readers = map[string]func(f files, paths ...string) gpuframe.Query{
	"read_parquet": files.Parquet, "parquet_scan": files.Parquet, "read_json": lines, "read_json_auto": lines, "read_ndjson": lines,
	"read_ipc": files.IPC, "read_csv_auto": commas,
}

// tableFunction translates a function of FROM.
func (t *translation) tableFunction(item *tree.TableFunction) *relation {
	name := strings.ToLower(text(item.Call.Name))
	if item.Ordinality {
		t.fail(item, "WITH ORDINALITY is not supported: use row_number() over ()")
	}
	switch {
	case name == "range" || name == "generate_series":
		return t.series(item, name)
	case name == "read_csv":
		return t.source(item, t.csv(item.Call), item.Alias, "read_csv")
	}
	if format, ok := formatOf(name); ok {
		return t.source(item, t.scanned(item.Call, format), item.Alias, name)
	}
	open, ok := readers[name]
	if !ok {
		t.fail(item.Call, "%s", names.Unknown("table function", name, []string{"read_csv", "read_parquet", "read_json", "read_ipc", "delta_scan", "iceberg_scan", "range", "generate_series", "unnest"}))
	}
	if len(item.Call.Args) > 1 {
		t.fail(item.Call, "options of %s are not supported", name)
	}
	return t.source(item, open(t.session.files, t.paths(item.Call)...), item.Alias, name)
}

// paths returns the paths of the first argument: a text or a list of texts.
func (t *translation) paths(call *tree.Call) (paths []string) {
	if len(call.Args) == 0 {
		t.fail(call, "%s needs a path", text(call.Name))
	}
	empty := &scope{rows: &relation{}, clause: "the arguments of a table function"}
	list := []tree.Expr{call.Args[0].Expr}
	if l, ok := list[0].(*tree.List); ok {
		list = l.Items
	}
	for _, e := range list {
		paths = append(paths, t.literalText(e, t.expr(empty, e), "the path"))
	}
	return paths
}

// csv returns the query of read_csv with its options.
func (t *translation) csv(call *tree.Call) gpuframe.Query {
	options := gpuframe.CSVOptions{}
	empty := &scope{rows: &relation{}, clause: "the arguments of a table function"}
	for _, a := range namedArguments(call) {
		v := t.expr(empty, a.Expr)
		switch strings.ToLower(a.Name.Text) {
		case "header":
			header, ok := v.constant.(bool)
			if !ok {
				t.fail(a.Expr, "header is true or false")
			}
			options.NoHeader = !header
		case "delim", "sep":
			runes := []rune(t.literalText(a.Expr, v, "the delimiter"))
			if len(runes) != 1 {
				t.fail(a.Expr, "the delimiter has %d characters, expected 1", len(runes))
			}
			options.Delimiter = runes[0]
		case "nullstr":
			options.Nulls = []string{t.literalText(a.Expr, v, "the text of nulls")}
		default:
			t.fail(a.Expr, "%s", names.Unknown("option of read_csv", a.Name.Text, []string{"header", "delim", "sep", "nullstr"}))
		}
	}
	return t.session.files.CSV(options, t.paths(call)...)
}

// series translates range and generate_series: integers from a start to an end, which generate_series includes.
func (t *translation) series(item *tree.TableFunction, name string) *relation {
	empty := &scope{rows: &relation{}, clause: "the arguments of a table function"}
	bounds := []int{0, 0, 1}
	for i, a := range item.Call.Args {
		if i > 2 {
			t.fail(a.Expr, "%s has more than 3 arguments", name)
		}
		bounds[i] = t.whole(a.Expr, t.expr(empty, a.Expr), "a bound")
	}
	start, end, step := bounds[0], bounds[1], bounds[2]
	if len(item.Call.Args) == 1 {
		start, end = 0, bounds[0]
	}
	if step == 0 || len(item.Call.Args) == 0 {
		t.fail(item.Call, "%s needs an end, and a step other than 0", name)
	}
	if rows := (float64(end) - float64(start)) / float64(step); rows > math.MaxInt32-1 {
		t.fail(item.Call, "%s has %.0f rows, at most %d are supported", name, rows, math.MaxInt32-1)
	}
	if name == "generate_series" {
		end += step / max(step, -step)
	}
	count := max(0, (end-start+step-step/max(step, -step))/step)
	id := t.unique(name)
	q := t.oneRow().Select(gpuframe.LitOf(int64Type, int64(count)).Sequence().As(id)).ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, id)
	q = q.Select(gpuframe.Col(id).Mul(int64(step)).Add(int64(start)).As(id))
	r := &relation{query: q, columns: []*column{{table: name, name: name, id: id, dataType: int64Type}}}
	return t.aliased(item, r, item.Alias, name)
}

// unnested joins each row of the tables before it with the elements of a list: of that row, or of literals. It returns
// nil for other functions.
func (t *translation) unnested(s *scope, before *tableSet, item *tree.TableFunction) *tableSet {
	call := unnestOf(item.Call)
	if call == nil {
		return nil
	}
	rows := t.assemble(before)
	name := "unnest"
	c := t.elements(rows, call)
	if c == nil {
		v := t.listValue(t.below(s, rows, "the argument of unnest"), call)
		c = t.attach(rows, v, name)
		c.dataType, c.bits = concreteType(elementOf(v.dataType)), 0
		rows.query = rows.query.ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, c.id)
	}
	c.table, c.name = name, name
	if item.Alias.Name.Text != "" {
		c.table, c.name = item.Alias.Name.Text, item.Alias.Name.Text
	}
	if len(item.Alias.Columns) > 0 {
		c.name = item.Alias.Columns[0].Text
	}
	rows.columns = append(rows.columns[:len(rows.columns):len(rows.columns)], c)
	return leaf(rows)
}
