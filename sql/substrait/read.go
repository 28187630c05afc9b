package substrait

import (
	"strings"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// read translates a table: of the session, of the plan, or of files.
func (t *translator) read(path string, r *substraitpb.ReadRel) (*block, error) {
	alias := t.alias()
	b := &block{}
	names := topNames(r.GetBaseSchema())
	switch source := r.GetReadType().(type) {
	case *substraitpb.ReadRel_NamedTable_:
		list := source.NamedTable.GetNames()
		if len(list) == 0 {
			return nil, failed(path+".namedTable", "it has no name")
		}
		last, whole := strings.ToLower(list[len(list)-1]), strings.Join(list, ".")
		if other, ok := t.tables[last]; ok && !strings.EqualFold(other, whole) {
			return nil, failed(path+".namedTable", "the tables %s and %s have one name in a session", other, whole)
		}
		t.tables[last] = whole
		b.from = &tree.TableName{Name: []tree.Name{quoted(list[len(list)-1])}, Alias: tree.Alias{Name: quoted(alias)}}
	case *substraitpb.ReadRel_VirtualTable_:
		var err error
		if b.from, err = t.virtual(path+".virtualTable", source.VirtualTable, alias, names); err != nil {
			return nil, err
		}
	case *substraitpb.ReadRel_LocalFiles_:
		from, err := files(path+".localFiles", source.LocalFiles, alias)
		if err != nil {
			return nil, err
		}
		b.from = from
	default:
		return nil, failed(path, "the table is neither named, nor virtual, nor of local files: register it in the session and name it")
	}
	for _, name := range names {
		b.fields = append(b.fields, column(alias, name))
	}
	if f := r.GetFilter(); f != nil {
		e, err := t.expression(path+".filter", b, f)
		if err != nil {
			return nil, err
		}
		b.filter(e)
	}
	return t.masked(path+".projection", b, r.GetProjection())
}

// masked keeps the columns of a projection.
func (t *translator) masked(path string, b *block, mask *substraitpb.Expression_MaskExpression) (*block, error) {
	if mask.GetSelect() == nil {
		return b, nil
	}
	var fields []tree.Expr
	for i, item := range mask.GetSelect().GetStructItems() {
		if item.GetChild() != nil {
			return nil, failed(element(path, i), "parts of nested columns are not supported: read the column, and project its field")
		}
		f, err := b.field(element(path, i), item.GetField())
		if err != nil {
			return nil, err
		}
		if err := t.use(path, f); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	b.fields = fields
	return b, nil
}

// topNames returns the names of columns. A schema also has the names of fields of structs, depth first.
func topNames(schema *substraitpb.NamedStruct) []string {
	names := schema.GetNames()
	types := schema.GetStruct().GetTypes()
	if len(types) == 0 { // a producer that leaves out types
		return names
	}
	var list []string
	for _, typ := range types {
		if len(names) == 0 {
			break
		}
		list = append(list, names[0])
		names = names[min(len(names), 1+namesWithin(typ)):]
	}
	return list
}

// namesWithin returns the number of names that a type has in a schema.
func namesWithin(typ *substraitpb.Type) (n int) {
	switch k := typ.GetKind().(type) {
	case *substraitpb.Type_Struct_:
		for _, field := range k.Struct.GetTypes() {
			n += 1 + namesWithin(field)
		}
	case *substraitpb.Type_List_:
		n = namesWithin(k.List.GetType())
	case *substraitpb.Type_Map_:
		n = namesWithin(k.Map.GetKey()) + namesWithin(k.Map.GetValue())
	}
	return n
}

// virtual translates a table of literals.
func (t *translator) virtual(path string, v *substraitpb.ReadRel_VirtualTable, alias string, names []string) (tree.Table, error) {
	var rows [][]tree.Expr
	for i, row := range v.GetValues() { // the form before expressions
		var list []tree.Expr
		for _, field := range row.GetFields() {
			e, err := literal(element(path+".values", i), field)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		rows = append(rows, list)
	}
	for i, row := range v.GetExpressions() {
		list, err := t.expressions(element(path+".expressions", i), &block{}, row.GetFields())
		if err != nil {
			return nil, err
		}
		rows = append(rows, list)
	}
	if len(rows) == 0 {
		return nil, failed(path, "it has no rows")
	}
	for i, row := range rows {
		switch {
		case len(names) == 0: // one row for expressions without a table; its value has no meaning
			rows[i] = []tree.Expr{integer(1)}
		case len(row) != len(names):
			return nil, failed(element(path, i), "a row has %d values for %d columns", len(row), len(names))
		}
	}
	table := &tree.Subquery{Query: &tree.Query{Body: &tree.Values{Rows: rows}}, Alias: tree.Alias{Name: quoted(alias)}}
	for _, name := range names {
		table.Alias.Columns = append(table.Alias.Columns, quoted(name))
	}
	return table, nil
}

// files translates local files of one format to a function that reads them.
func files(path string, l *substraitpb.ReadRel_LocalFiles, alias string) (tree.Table, error) {
	var function string
	list := &tree.List{}
	for i, item := range l.GetItems() {
		at := element(path, i)
		if item.GetStart() != 0 || item.GetLength() != 0 {
			return nil, failed(at, "parts of files are not supported")
		}
		var reader string
		switch item.GetFileFormat().(type) {
		case *substraitpb.ReadRel_LocalFiles_FileOrFiles_Parquet:
			reader = "read_parquet"
		case *substraitpb.ReadRel_LocalFiles_FileOrFiles_Arrow:
			reader = "read_ipc"
		default:
			return nil, failed(at, "its format is neither Parquet nor Arrow")
		}
		if function != "" && reader != function {
			return nil, failed(at, "files of two formats in one table")
		}
		function = reader
		name := item.GetUriFile() + item.GetUriPath() + item.GetUriPathGlob()
		if folder := item.GetUriFolder(); folder != "" {
			name = strings.TrimSuffix(folder, "/") + "/"
		}
		list.Items = append(list.Items, textLiteral(strings.TrimPrefix(name, "file://")))
	}
	if len(list.Items) == 0 {
		return nil, failed(path, "it has no files")
	}
	var argument tree.Expr = list
	if len(list.Items) == 1 {
		argument = list.Items[0]
	}
	return &tree.TableFunction{Call: call(function, argument), Alias: tree.Alias{Name: quoted(alias)}}, nil
}
