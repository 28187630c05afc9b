package source_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

const csvText = "\uFEFFcity,price,n,day,at,yes\n" +
	"Oslo,3.5,1,2024-05-01,2024-05-01 12:00:00,true\n" +
	"\"New\nYork\",,-2,2024-05-02,2024-05-01 12:00:00.5,false\n" +
	",1e3,9007199254740993,,,\n"

const jsonText = `{"city": "Oslo", "price": 3.5, "n": 1, "list": [1, 2], "in": {"x": true}}
{"n": 9007199254740993, "city": "New\nYork", "other": null}

{"price": 1000, "city": null, "n": -2, "list": [], "in": {"y": "z"}}
`

func schemaText(t testing.TB, s source.Source) string {
	t.Helper()
	schema, err := s.Schema(t.Context())
	require.NoError(t, err)
	var parts []string
	for _, field := range schema.Fields() {
		parts = append(parts, field.Name+" "+field.Type.String())
	}
	return strings.Join(parts, ", ")
}

// rowsText returns the rows of a source as JSON.
func rowsText(t testing.TB, s source.Source, m *memory.Manager, request source.Request) string {
	t.Helper()
	var text strings.Builder
	for _, record := range read(t, s, m, request) {
		require.NoError(t, array.RecordToJSON(record, &text))
	}
	return text.String()
}

func TestCSV(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		path := write(t, []byte(csvText), t.TempDir(), "a.csv")
		file := func() (source.Source, error) { return source.Files{}.CSV([]string{path}, source.CSVOptions{}) }
		stream := func() (source.Source, error) {
			return source.CSVReader("stream", iotest.OneByteReader(strings.NewReader(csvText)), source.CSVOptions{})
		}
		for name, open := range map[string]func() (source.Source, error){"file": file, "stream": stream} {
			s, err := open()
			require.NoError(t, err)
			assert.Equal(t, "city utf8, price float64, n int64, day date32, at timestamp[ms, tz=UTC], yes bool", schemaText(t, s), name)
			want := `{"at":"2024-05-01 12:00:00Z","city":"Oslo","day":"2024-05-01","n":1,"price":3.5,"yes":true}
{"at":"2024-05-01 12:00:00.5Z","city":"New\nYork","day":"2024-05-02","n":-2,"price":null,"yes":false}
{"at":null,"city":null,"day":null,"n":9007199254740993,"price":1000,"yes":null}
`
			assert.Equal(t, want, rowsText(t, s, m, source.Request{}))
			s, err = open()
			require.NoError(t, err)
			assert.Equal(t, `{"city":"Oslo","n":1}`+"\n"+`{"city":"New\nYork","n":-2}`+"\n", rowsText(t, s, m, source.Request{Columns: []string{"n", "city"}, Limit: 2, BatchRows: 1}))
		}
		s, err := stream()
		require.NoError(t, err)
		read(t, s, m, source.Request{})
		_, err = s.Open(t.Context(), m, source.Request{})
		require.ErrorIs(t, err, source.ErrUsed)
	})
}

// TestErrorsNameTheirFileOnce opens a file that is missing.
func TestErrorsNameTheirFileOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing.csv")
	_, err := source.Files{}.CSV([]string{path}, source.CSVOptions{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, 1, strings.Count(err.Error(), path), err)
}

func TestCSVOptions(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		open := func(text string, options source.CSVOptions) (source.Source, error) {
			return source.CSVReader("text", strings.NewReader(text), options)
		}
		s, err := open("1\t2\nNA\tx\n", source.CSVOptions{Delimiter: '\t', NoHeader: true, Nulls: []string{"NA"}})
		require.NoError(t, err)
		assert.Equal(t, "f0 int64, f1 utf8", schemaText(t, s))
		assert.Equal(t, `{"f0":1,"f1":"2"}`+"\n"+`{"f0":null,"f1":"x"}`+"\n", rowsText(t, s, m, source.Request{}))

		s, err = open("a,b\n1,2\n", source.CSVOptions{Types: map[string]arrow.DataType{"a": arrow.PrimitiveTypes.Float32, "b": arrow.BinaryTypes.String}})
		require.NoError(t, err)
		assert.Equal(t, `{"a":1,"b":"2"}`+"\n", rowsText(t, s, m, source.Request{}))

		s, err = open("a,b\n", source.CSVOptions{})
		require.NoError(t, err)
		assert.Empty(t, read(t, s, m, source.Request{}))

		late := "a\n" + strings.Repeat("1\n", 20) + "x\n"
		s, err = open(late, source.CSVOptions{InferRows: 5})
		require.NoError(t, err)
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(t, err)
		_, err = reader.Next(t.Context())
		require.ErrorIs(t, err, source.ErrContents, "a value of another type is not a null")
		require.ErrorContains(t, err, `"x" does not fit the type of its column: give the type in CSVOptions.Types, or infer it from more rows`)
		require.NoError(t, reader.Close())
		s, err = open(late, source.CSVOptions{InferRows: -1})
		require.NoError(t, err)
		assert.Equal(t, "a utf8", schemaText(t, s))

		for name, test := range map[string]struct {
			text      string
			options   source.CSVOptions
			condition error
		}{
			"empty":        {"", source.CSVOptions{}, source.ErrContents},
			"double":       {"a,a\n1,2\n", source.CSVOptions{}, source.ErrContents},
			"delimiter":    {"a\n", source.CSVOptions{Delimiter: '"'}, source.ErrArgument},
			"unknown type": {"a\n1\n", source.CSVOptions{Types: map[string]arrow.DataType{"b": arrow.PrimitiveTypes.Int8}}, buffer.ErrSchema},
			"ragged":       {"a,b\n1,2\n3\n", source.CSVOptions{}, source.ErrContents},
			"quote":        {"a,b\n\"1,2\n", source.CSVOptions{}, source.ErrContents},
		} {
			_, err := open(test.text, test.options)
			require.ErrorIs(t, err, test.condition, name)
			var typed *source.Error
			require.ErrorAs(t, err, &typed)
		}
	})
}

func TestJSON(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	path := write(t, []byte(jsonText), t.TempDir(), "a.jsonl")
	for name, open := range map[string]func() (source.Source, error){
		"file": func() (source.Source, error) { return source.Files{}.JSON([]string{path}, source.JSONOptions{}) },
		"stream": func() (source.Source, error) {
			return source.JSONReader("stream", strings.NewReader(jsonText), source.JSONOptions{})
		},
	} {
		s, err := open()
		require.NoError(t, err)
		assert.Equal(t, "city utf8, price float64, n int64, list list<item: int64, nullable>, in struct<x: bool, y: utf8>, other utf8", schemaText(t, s), name)
		assert.Equal(t, `{"city":"Oslo","in":{"x":true,"y":null},"list":[1,2],"n":1,"other":null,"price":3.5}
{"city":"New\nYork","in":null,"list":null,"n":9007199254740993,"other":null,"price":null}
{"city":null,"in":{"x":null,"y":"z"},"list":[],"n":-2,"other":null,"price":1000}
`, rowsText(t, s, m, source.Request{}))
		s, err = open()
		require.NoError(t, err)
		assert.Equal(t, []int64{1, 9007199254740993, -2}, numbers(t, read(t, s, m, source.Request{Columns: []string{"n"}, BatchRows: 2})))
	}
	for name, text := range map[string]string{"array": `[{"a": 1}]`, "mixed": "{\"a\": 1}\n{\"a\": \"x\"}\n", "cut": `{"a": 1`, "list": `{"a": [1, "x"]}`, "bool": `{"a": [1, true]}`} {
		_, err := source.JSONReader("text", strings.NewReader(text), source.JSONOptions{})
		require.ErrorIs(t, err, source.ErrContents, name)
	}
	for name, text := range map[string]string{"late type": "{\"a\": 1}\n{\"a\": 2.5}\n", "no object": "{\"a\": 1}\nnull\n", "two": "{\"a\": 1}\n{\"a\": 1} {\"a\": 2}\n", "cut": "{\"a\": 1}\n{\"a\": "} {
		s, err := source.JSONReader("text", strings.NewReader(text), source.JSONOptions{InferRows: 1})
		require.NoError(t, err)
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(t, err)
		_, err = reader.Next(t.Context())
		require.ErrorIs(t, err, source.ErrContents, name)
		require.NoError(t, reader.Close())
	}
}

// ipcOf returns records as an Arrow IPC file or stream.
func ipcOf(t testing.TB, file bool, records ...arrow.Record) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.arrow")
	to, err := os.Create(name)
	require.NoError(t, err)
	defer to.Close()
	var writer interface {
		Write(arrow.Record) error
		Close() error
	} = ipc.NewWriter(to, ipc.WithSchema(records[0].Schema()))
	if file {
		writer, err = ipc.NewFileWriter(to, ipc.WithSchema(records[0].Schema()), ipc.WithLZ4())
		require.NoError(t, err)
	}
	for _, record := range records {
		require.NoError(t, writer.Write(record))
	}
	require.NoError(t, writer.Close())
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

func TestIPC(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	for _, file := range []bool{true, false} {
		folder := t.TempDir()
		data := ipcOf(t, file, numbered(0, 30), numbered(30, 20))
		write(t, data, folder, "part=1", "a.arrow")
		write(t, ipcOf(t, file, numbered(50, 50)), folder, "part=2", "b.arrow")
		s, err := source.Files{}.IPC([]string{folder})
		require.NoError(t, err)
		assert.Equal(t, "n int64, text utf8, part int64", schemaText(t, s))
		var counters source.Counters
		assert.Equal(t, count(0, 100), numbers(t, read(t, s, m, source.Request{BatchRows: 7, Counters: &counters})))
		assert.EqualValues(t, 2, counters.Files.Load())
		assert.GreaterOrEqual(t, counters.FileBytes.Load(), int64(len(data)))
		assert.Equal(t, count(50, 50), numbers(t, read(t, s, m, source.Request{Columns: []string{"part", "n"}, Where: []expr.Expr{expr.Col("part").Eq(expr.Lit(2))}})))

		one, err := source.IPCReader("stream", iotest.HalfReader(bytes.NewReader(data)))
		require.NoError(t, err)
		assert.Equal(t, count(0, 50), numbers(t, read(t, one, m, source.Request{})))
		other := write(t, ipcOf(t, file, numbered(0, 1)), folder, "part=3", "c.arrow")
		require.NoError(t, os.WriteFile(other, []byte("no Arrow file at all"), 0o644))
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(t, err, "the list of files was made before")
		require.NoError(t, reader.Close())
		_, err = source.IPCReader("damaged", strings.NewReader("no Arrow file at all"))
		require.ErrorIs(t, err, source.ErrContents)
	}
}

func TestFilesOfOtherColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		folder := t.TempDir()
		write(t, []byte("a,b\n1,2\n"), folder, "1.csv")
		second := write(t, []byte("a,c\n1,2\n"), folder, "2.csv")
		s, err := source.Files{}.CSV([]string{folder}, source.CSVOptions{Strict: true})
		require.NoError(t, err)
		reader, err := s.Open(t.Context(), m, source.Request{})
		require.NoError(t, err)
		_, err = reader.Next(t.Context())
		var typed *source.Error
		require.ErrorAs(t, err, &typed)
		require.ErrorIs(t, err, buffer.ErrSchema)
		assert.Equal(t, second, typed.Path)
		require.NoError(t, reader.Close())
	})
}

// Folders of CSV and JSON lines are read by name: columns in another order, columns that a file does
// not have, types that become wider from file to file, a first file without rows, and empty ones.
func TestFilesAreReadByName(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		folder := t.TempDir()
		write(t, []byte("a,b\n"), folder, "1.csv")
		write(t, []byte("b,a\nx,1\n"), folder, "2.csv")
		write(t, []byte("a,c\n9223372036854775808,2024-05-01\n2,\n"), folder, "3.csv")
		s, err := source.Files{}.CSV([]string{folder}, source.CSVOptions{})
		require.NoError(t, err)
		assert.Equal(t, "a uint64, b utf8, c date32", schemaText(t, s))
		assert.Equal(t, `{"a":1,"b":"x","c":null}
{"a":9223372036854775808,"b":null,"c":"2024-05-01"}
{"a":2,"b":null,"c":null}
`, rowsText(t, s, m, source.Request{}))
		assert.Equal(t, "{\"c\":null}\n{\"c\":\"2024-05-01\"}\n{\"c\":null}\n", rowsText(t, s, m, source.Request{Columns: []string{"c"}}))

		folder = t.TempDir()
		write(t, nil, folder, "1.jsonl")
		write(t, []byte(`{"a":1,"o":{"x":1}}`), folder, "2.jsonl")
		write(t, []byte(`{"o":{"y":"z"},"a":1.5}`), folder, "3.jsonl")
		s, err = source.Files{}.JSON([]string{folder}, source.JSONOptions{})
		require.NoError(t, err)
		assert.Equal(t, "a float64, o struct<x: int64, y: utf8>", schemaText(t, s))
		assert.Equal(t, `{"a":1,"o":{"x":1,"y":null}}`+"\n"+`{"a":1.5,"o":{"x":null,"y":"z"}}`+"\n", rowsText(t, s, m, source.Request{}))
		s, err = source.Files{}.JSON([]string{folder}, source.JSONOptions{Strict: true})
		require.NoError(t, err)
		require.ErrorContains(t, drain(t.Context(), s, m), `member "a" does not occur in the rows that the columns were inferred from`)
	})
}

// TestLateValues: what the rows at the beginning do not show is an error with its line and column.
func TestLateValues(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		ns := &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
		schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: ns, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int8}}, nil)
		csv := func(text string, types map[string]arrow.DataType) func() (source.Source, error) {
			return func() (source.Source, error) {
				return source.CSVReader("text", strings.NewReader(text), source.CSVOptions{InferRows: 1, Types: types})
			}
		}
		lines := func(text string, schema *arrow.Schema) func() (source.Source, error) {
			return func() (source.Source, error) {
				return source.JSONReader("text", strings.NewReader(text), source.JSONOptions{InferRows: 1, Schema: schema})
			}
		}
		for message, open := range map[string]func() (source.Source, error){
			`line 4, column "b" of int64: "x" does not fit`:                                        csv("a,b\n\"1\n2\",3\n4,x\n", nil),
			`line 2, column "d" of timestamp[ns, tz=UTC]: "9999-12-31" does not fit`:               csv("d\n9999-12-31\n", map[string]arrow.DataType{"d": ns}),
			`line 3, column "d" of timestamp[s, tz=UTC]: "2024-05-01 10:00:00.5"`:                  csv("d\n2024-05-01 10:00:00\n2024-05-01 10:00:00.5\n", nil),
			`line 3: member "b" does not occur`:                                                    lines("{\"a\":1}\n\n{\"a\":1,\"b\":2}\n", nil),
			`line 2, column "a.b" of int64: "2.5" does not fit`:                                    lines("{\"a\":{\"b\":1}}\n{\"a\":{\"b\":2.5}}\n", nil),
			`line 1, column "d" of timestamp[ns, tz=UTC]: "\"9999-12-31T00:00:00Z\"" does not fit`: lines(`{"d":"9999-12-31T00:00:00Z","n":1}`, schema),
			`line 1, column "n" of int8: "300" does not fit`:                                       lines(`{"n":300}`, schema),
			`line 2: two members have the name "a"`:                                                lines("{\"a\":1}\n{\"a\":1,\"a\":1}", nil),
		} {
			_, err := modelRead(t, m, open)
			require.ErrorIs(t, err, source.ErrContents, message)
			require.ErrorContains(t, err, message)
		}
		s, err := lines("{\"n\":1,\"other\":[{}]}", schema)()
		require.NoError(t, err)
		assert.Equal(t, "{\"d\":null,\"n\":1}\n", rowsText(t, s, m, source.Request{}), "a schema leaves members out")
	})
}

// TestUndeclaredNullsOfJSON: null and members that an object lacks are nulls in each kind of column,
// also if the schema declares no nulls.
func TestUndeclaredNullsOfJSON(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	never := func(name string, of arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: of} }
	schema := arrow.NewSchema([]arrow.Field{
		never("n", arrow.PrimitiveTypes.Int8), never("s", arrow.BinaryTypes.String), never("d", arrow.FixedWidthTypes.Date32),
		never("o", arrow.StructOf(never("x", arrow.PrimitiveTypes.Int64), never("y", arrow.FixedWidthTypes.Boolean))),
		never("l", arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)),
	}, nil)
	text := `{"n":1,"s":"a","d":"2024-05-01","o":{"x":null},"l":[1,null]}` + "\n" + `{}` + "\n" + `{"n":null,"s":null,"d":null,"o":null,"l":null}` + "\n"
	s, err := source.JSONReader("text", strings.NewReader(text), source.JSONOptions{Schema: schema})
	require.NoError(t, err)
	nulls := `{"d":null,"l":null,"n":null,"o":null,"s":null}` + "\n"
	require.Equal(t, `{"d":"2024-05-01","l":[1,null],"n":1,"o":{"x":null,"y":null},"s":"a"}`+"\n"+nulls+nulls, rowsText(t, s, m, source.Request{}))
	read, err := s.Schema(t.Context())
	require.NoError(t, err)
	for _, field := range slices.Concat(read.Fields(), read.Field(3).Type.(*arrow.StructType).Fields(), []arrow.Field{read.Field(4).Type.(*arrow.ListType).ElemField()}) {
		require.True(t, field.Nullable, field.Name)
	}
}

// TestEscapesInJSON: a text of escapes takes time in proportion to its length.
func TestEscapesInJSON(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	text := `{"s":"` + strings.Repeat(`\n\"`, 1<<20) + `"}`
	s, err := source.JSONReader("text", strings.NewReader(text), source.JSONOptions{})
	require.NoError(t, err)
	values := read(t, s, m, source.Request{})[0].Column(0).(*array.String)
	require.Equal(t, strings.Repeat("\n\"", 1<<20), values.Value(0))
}

// A damaged file after a good one gives an error with its path, in each format.
func TestDamagedSecondFile(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	cut := func(data []byte) []byte { return data[:len(data)-len(data)/3] }
	for name, test := range map[string]struct {
		extension     string
		good, damaged []byte
		open          func(list []string) (source.Source, error)
	}{
		"csv": {".csv", []byte("a,b\n1,2\n"), []byte("a,b\n1,2\n3\n"), func(list []string) (source.Source, error) { return source.Files{}.CSV(list, source.CSVOptions{}) }},
		"json": {".json", []byte("{\"a\":1}\n"), []byte("{\"a\":2}\n{\"a\""), func(list []string) (source.Source, error) {
			return source.Files{}.JSON(list, source.JSONOptions{})
		}},
		"arrow file":   {".arrow", ipcOf(t, true, numbered(0, 30)), cut(ipcOf(t, true, numbered(0, 30))), source.Files{}.IPC},
		"arrow stream": {".arrows", ipcOf(t, false, numbered(0, 30)), cut(ipcOf(t, false, numbered(0, 30))), source.Files{}.IPC},
		"parquet":      {".parquet", parquetOf(t, 10, numbered(0, 30)), cut(parquetOf(t, 10, numbered(0, 30))), source.Files{}.Parquet},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, test.good, folder, "1"+test.extension)
			second := write(t, test.damaged, folder, "2"+test.extension)
			s, err := test.open([]string{folder})
			require.NoError(t, err)
			err = drain(t.Context(), s, m)
			var typed *source.Error
			require.ErrorAs(t, err, &typed)
			require.ErrorIs(t, err, source.ErrContents)
			assert.Equal(t, second, typed.Path)
			require.NoError(t, os.Remove(second))
			err = drain(t.Context(), s, m)
			require.ErrorIs(t, err, fs.ErrNotExist, "a file that has gone")
			require.ErrorAs(t, err, &typed)
			assert.Equal(t, second, typed.Path)
			require.Zero(t, m.Stats().InUse)
		})
	}
}

func TestReadersThatFail(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		broken := errors.New("broken")
		cut := func(data []byte, n int) io.Reader {
			return io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken))
		}
		stream := ipcOf(t, false, numbered(0, 30))
		for name, test := range map[string]struct {
			data []byte
			open func(r io.Reader) (source.Source, error)
		}{
			"csv": {[]byte(csvText), func(r io.Reader) (source.Source, error) {
				return source.CSVReader("r", r, source.CSVOptions{InferRows: 1})
			}},
			"json": {[]byte(jsonText), func(r io.Reader) (source.Source, error) {
				return source.JSONReader("r", r, source.JSONOptions{InferRows: 1})
			}},
			"arrow": {stream, func(r io.Reader) (source.Source, error) { return source.IPCReader("r", r) }},
		} {
			for n := 0; n < len(test.data); n += 1 + len(test.data)/40 {
				s, err := test.open(cut(test.data, n))
				if err == nil {
					var reader buffer.Reader
					reader, err = s.Open(t.Context(), m, source.Request{})
					require.NoError(t, err)
					_, err = reader.Next(t.Context())
					require.NoError(t, reader.Close())
				}
				require.ErrorIs(t, err, broken, "%s after %d bytes", name, n)
				require.NotErrorIs(t, err, source.ErrContents, "%s after %d bytes", name, n)
			}
		}
	})
}
