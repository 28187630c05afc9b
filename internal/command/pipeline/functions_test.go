package pipeline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/command/pipeline"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// argument is an argument of a function as text, and in documents.
type argument struct{ text, document string }

// arguments are two arguments of each type.
var arguments = map[catalog.Type][2]argument{
	catalog.Operand:     {columnArgument("qty"), columnArgument("price")},
	catalog.Operands:    {columnArgument("price"), {"7", `{"function": "literal", "value": 7}`}},
	catalog.Expression:  {columnArgument("qty"), columnArgument("city")},
	catalog.Expressions: {columnArgument("city"), columnArgument("open")},
	catalog.Whole:       {{"-2", "-2"}, {"3", "3"}},
	catalog.Float:       {{"0.5", "0.5"}, {"1", "1"}},
	catalog.Numbers:     {{"0.25", "0.25"}, {"-2", "-2"}},
	catalog.Text:        {{"'it''s'", `"it's"`}, {`"b"`, `"b"`}},
	catalog.Texts:       {{"'c'", `"c"`}, {"'d'", `"d"`}},
	catalog.Character:   {{"'!'", `"!"`}, {"'é'", `"é"`}},
	catalog.Literal:     {{"5 minutes", `{"function": "literal", "type": "duration", "value": 300000000000}`}, {"'a'", `{"function": "literal", "value": "a"}`}},
	catalog.DataType:    {{"timestamp[ms, Europe/Oslo]", `"timestamp[ms, Europe/Oslo]"`}, {"date", `"date32"`}},
	catalog.Unit:        {{"'day'", `"day"`}, {"'month'", `"month"`}},
	catalog.Zone:        {{"'Europe/Oslo'", `"Europe/Oslo"`}, {"'UTC'", `"UTC"`}},
	catalog.Dates:       {{"date '2026-12-25'", `"2026-12-25"`}, {"date '2026-12-26'", `"2026-12-26"`}},
}

func columnArgument(name string) argument {
	return argument{name, fmt.Sprintf(`{"function": "column", "name": %q}`, name)}
}

// grammar has the texts and documents of functions with other grammar.
var grammar = map[string]argument{
	"in":       {"qty in (price, 7)", `{"function": "in", "arguments": [` + columnArgument("qty").document + `, ` + columnArgument("price").document + `, {"function": "literal", "value": 7}]}`},
	"over":     {"qty over (city)", `{"function": "over", "by": [` + columnArgument("city").document + `], "arguments": [` + columnArgument("qty").document + `]}`},
	"order_by": {"first(qty order by city desc)", `{"function": "order_by", "order": [{"value": ` + columnArgument("city").document + `, "descending": true}], "arguments": [{"function": "first", "arguments": [` + columnArgument("qty").document + `]}]}`},
	"literal":  {"'a'", `{"function": "literal", "value": "a"}`},
}

// calls returns texts and documents that call a function by a name, with all numbers of arguments
// up to two further ones.
func calls(f *catalog.Function, name string) (list []argument) {
	if c, ok := grammar[f.Name]; ok {
		return []argument{c}
	}
	least, most := f.Arguments()
	for n := least; n <= min(most, least+2); n++ {
		var texts, operands []string
		members := map[string][]string{}
		var many []string
		for i := range n {
			p := f.Parameters[min(i, len(f.Parameters)-1)]
			a := arguments[p.Type][i%2]
			texts = append(texts, a.text)
			if p.Type.IsOperand() {
				operands = append(operands, a.document)
				continue
			}
			members[p.Name] = append(members[p.Name], a.document)
			if p.Type.Many() {
				many = append(many, p.Name)
			}
		}
		document := fmt.Sprintf(`{"function": %q`, f.Name)
		if len(operands) > 0 {
			document += `, "arguments": [` + strings.Join(operands, ", ") + `]`
		}
		for member, values := range members {
			value := values[0]
			if len(many) > 0 && many[0] == member {
				value = "[" + strings.Join(values, ", ") + "]"
			}
			document += fmt.Sprintf(`, %q: %s`, member, value)
		}
		list = append(list, argument{name + "(" + strings.Join(texts, ", ") + ")", document + "}"})
	}
	return list
}

// selected returns the first expression that a text selects, in the document of the text.
func selected(t *testing.T, text string) (expression any, document string) {
	p, err := pipeline.Parse("pipeline", "select "+text)
	require.NoError(t, err, text)
	document, err = p.Document(map[string]any{"verb": "given", "number": 0})
	require.NoError(t, err)
	var parsed struct{ Steps []struct{ Expressions []any } }
	require.NoError(t, json.Unmarshal([]byte(document), &parsed))
	return parsed.Steps[1].Expressions[0], document
}

// TestFunctions calls every function of the catalog by each of its names: the document has the call
// that other programs send, and decodes.
func TestFunctions(t *testing.T) {
	e := engine(t)
	options := querydata.Options{Given: []gpuframe.Query{sales(e)}}
	for _, f := range catalog.All() {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			for _, c := range calls(f, name) {
				got, document := selected(t, c.text)
				var want any
				require.NoError(t, json.Unmarshal([]byte(c.document), &want))
				require.Equal(t, want, got, c.text)
				_, err := querydata.Decode(t.Context(), e, []byte(document), options)
				require.NoError(t, err, c.text)
			}
		}
		if f.Example != "" {
			_, err := pipeline.Parse("pipeline", "select "+f.Example)
			require.NoError(t, err)
		}
	}
}

// TestArguments refuses arguments of other types, and names them.
func TestArguments(t *testing.T) {
	for text, want := range map[string]string{
		"lag(price)":                           "1:8: lag has 1 arguments, expected 2",
		"row_number(price)":                    "1:8: row_number has 1 arguments, expected 0",
		"count(price, qty)":                    "1:8: count has 2 arguments, expected 0 or 1",
		"round(price, 1, 2)":                   "1:8: round has 3 arguments, expected 1 or 2",
		"coalesce()":                           "1:8: coalesce has 0 arguments, expected 1 or more",
		"like(city, 'a', 'b', 'c')":            "1:8: like has 4 arguments, expected 2 or 3",
		"lag(price, 1.5)":                      "lag: argument 2 must be a whole number",
		"lag(price, 1 day)":                    "lag: argument 2 must be a whole number",
		"quantile(price, 'a')":                 "quantile: argument 2 must be a number",
		"replace(city, 'a', 1)":                "replace: argument 3 must be a text",
		"replace(city, date '2026-01-01', '')": "replace: argument 2 must be a text",
		"pad_end(city, 3, 'ab')":               "pad_end: argument 3 must be one character",
		"session(qty, price)":                  "session: argument 2 must be a literal",
		"is_business_day(ts, 'June')":          "is_business_day: argument 2 must be a date such as date '2026-01-31'",
		"cast(price, decimal(50, 2))":          `1:20: no type is called "decimal(50, 2)"`,
		"cast(price, timestamp[ms)":            `1:33: found the end, expected "]"`,
		"cast(price, 'int')":                   `1:20: no type is called "int"`,
		"1.5 day":                              "1:8: 1.5 is no whole number of days",
		"9223372036854775807 days":             "1:8: 9223372036854775807 is no whole number of days",
		"in (1, 2)":                            `1:8: found "in", expected an expression`,
		"\"\xff\"":                             "1:9: the text is no UTF-8",
	} {
		_, err := pipeline.Parse("pipeline", "select "+text)
		require.ErrorContains(t, err, want, text)
		require.ErrorIs(t, err, pipeline.ErrSyntax)
	}
}
