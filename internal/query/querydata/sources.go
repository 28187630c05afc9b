package querydata

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// paths returns the paths of files that a step reads.
func (d *decoder) paths(o *object) []string {
	v := o.member("paths")
	list := v.texts()
	if len(list) == 0 {
		v.expected("a list of one or more paths")
	}
	return list
}

// files returns the sources of files.
func (d *decoder) files() gpuframe.Files { return d.engine.Files(d.options.Files) }

func (d *decoder) given(o *object, _ []gpuframe.Query) gpuframe.Query {
	v := o.member("number")
	n := v.integer()
	if n < 0 || n >= int64(len(d.options.Given)) {
		v.expected("the number of a query that is given")
		return gpuframe.Query{}
	}
	return d.options.Given[n]
}

func (d *decoder) table(o *object, _ []gpuframe.Query) gpuframe.Query {
	v := o.member("name")
	name := v.text()
	if d.err != nil {
		return gpuframe.Query{}
	}
	if d.options.Table == nil {
		d.fail(v.place, "the table %q: there are no tables with names here", name)
		return gpuframe.Query{}
	}
	q, err := d.options.Table(name)
	if err != nil {
		d.fail(v.place, "%v", err)
	}
	return q
}

func (d *decoder) parquet(o *object, _ []gpuframe.Query) gpuframe.Query {
	return source(d, d.paths(o), d.files().Parquet)
}

func (d *decoder) ipc(o *object, _ []gpuframe.Query) gpuframe.Query {
	return source(d, d.paths(o), d.files().IPC)
}

// source makes the query of a source, unless there was an error.
func source(d *decoder, paths []string, scan func(...string) gpuframe.Query) gpuframe.Query {
	if d.err != nil {
		return gpuframe.Query{}
	}
	return scan(paths...)
}

func (d *decoder) csv(o *object, _ []gpuframe.Query) gpuframe.Query {
	options := gpuframe.CSVOptions{Nulls: o.member("nulls").texts()}
	if delimiter := o.member("delimiter"); !delimiter.missing() {
		options.Delimiter = delimiter.character()
	}
	if header := o.member("header"); !header.missing() {
		options.NoHeader = !header.flag()
	}
	if rows := o.member("infer_rows"); !rows.missing() {
		options.InferRows = rows.count()
	}
	if strict := o.member("strict"); !strict.missing() {
		options.Strict = strict.flag()
	}
	if types := o.member("types"); !types.missing() {
		byColumn := types.object()
		options.Types = map[string]arrow.DataType{}
		for name := range byColumn.members {
			options.Types[name] = byColumn.member(name).dataType()
		}
	}
	return source(d, d.paths(o), func(paths ...string) gpuframe.Query { return d.files().CSV(options, paths...) })
}

func (d *decoder) jsonLines(o *object, _ []gpuframe.Query) gpuframe.Query {
	var options gpuframe.JSONOptions
	if rows := o.member("infer_rows"); !rows.missing() {
		options.InferRows = rows.count()
	}
	if strict := o.member("strict"); !strict.missing() {
		options.Strict = strict.flag()
	}
	if schema := o.member("schema"); !schema.missing() {
		options.Schema = d.columns(schema)
	}
	return source(d, d.paths(o), func(paths ...string) gpuframe.Query { return d.files().JSON(options, paths...) })
}

// columns returns the columns of files of JSON lines.
func (d *decoder) columns(schema value) *arrow.Schema {
	var fields []arrow.Field
	for _, v := range schema.list() {
		f := v.object()
		field := arrow.Field{Name: f.member("name").text(), Type: f.member("type").dataType(), Nullable: true}
		if nullable := f.member("nullable"); !nullable.missing() {
			field.Nullable = nullable.flag()
		}
		f.end()
		fields = append(fields, field)
	}
	return arrow.NewSchema(fields, nil)
}
