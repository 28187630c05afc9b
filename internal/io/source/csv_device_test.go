package source_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// Random text is read on devices as the model reads it, in texts of any length.
func TestRandomCSVOnDevices(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		parts := append([]string{"1", "-7", "0.5", "x", ",", ",", "\n", "\n", "\r\n", "\"", "\"\"", "NULL", "null", "NaN", "true", "2024-05-01", " 10:00:00", ".5", "é"}, csvTexts...)
		property.Check(t, func(r *rapid.T) {
			length := rapid.SampledFrom([]int{1, 3, 10, 1 << 20}).Draw(r, "length of texts")
			defer source.SetTexts(true, length, rapid.SampledFrom([]int{1, 2, 7, 1 << 20}).Draw(r, "length of parts"))()
			checkCSV(r, m, t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 25).Draw(r, "parts"), ""))
		})
	})
}

// csvTypes are types of columns that devices decode.
var csvTypes = map[string]arrow.DataType{
	"i8": arrow.PrimitiveTypes.Int8, "u16": arrow.PrimitiveTypes.Uint16, "i32": arrow.PrimitiveTypes.Int32, "i64": arrow.PrimitiveTypes.Int64, "u64": arrow.PrimitiveTypes.Uint64,
	"f32": arrow.PrimitiveTypes.Float32, "f64": arrow.PrimitiveTypes.Float64, "bool": arrow.FixedWidthTypes.Boolean, "d32": arrow.FixedWidthTypes.Date32, "d64": arrow.FixedWidthTypes.Date64,
	"s": &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, "ns": &arrow.TimestampType{Unit: arrow.Nanosecond}, "dec": &arrow.Decimal128Type{Precision: 20, Scale: 3},
	"text": arrow.BinaryTypes.String, "large": arrow.BinaryTypes.LargeString, "wide": &arrow.Decimal128Type{Precision: 38},
}

var csvColumns = []string{"i8", "u16", "text", "i32", "i64", "u64", "f32", "large", "f64", "bool", "d32", "d64", "s", "ns", "dec", "wide"}

// csvPatterns are the values of each type.
var csvPatterns = map[string]string{
	"i8": `-?0{0,2}[0-9]{1,2}|\+1[01][0-9]|-128`, "u16": `0{0,3}[0-9]{1,4}|65535`, "i32": `[-+]?[0-9]{1,9}|-2147483648|2147483647`, "i64": `-?[0-9]{1,18}|-9223372036854775808|9223372036854775807`, "u64": `[0-9]{1,19}|18446744073709551615`,
	"f32": `-?[0-9]{0,9}\.[0-9]{1,30}(e[-+]?[0-2]?[0-9])?|nan|-?inf|Infinity`, "f64": `-?[0-9]{1,25}(\.[0-9]{0,30})?(E-?[01]?[0-9]{1,2})?|NaN|-?Inf|[0-9]{1,3}|5e-324|1e-400|2\.2250738585072011e-308`, "bool": `true|false|True|False`,
	"d32": `[0-9]{4}-0[1-9]-(0[1-9]|[12][0-8])|2024-02-29`, "d64": `[12][0-9]{3}-1[012]-[012][1-8]`, "s": `[0-9]{4}-02-1[0-9]([ T][01][0-9]:[0-5][0-9](:[0-5][0-9](\.0{1,9})?)?(Z|[-+]0[0-9](:?30)?)?)?`,
	"ns":  `19[0-9]{2}-03-1[0-9]([ T][01][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[-+]0[0-9](:?30)?)?)?`,
	"dec": `[-+]?0{0,2}[0-9]{1,16}(\.[0-9]{1,3}0{0,3})?|[0-9]{1,3}e[0-9]|[0-9]{3,5}0e-[0-4]`, "text": `[a-z é0-9]{0,20}|NULL|null`, "large": `[A-Z'\\]{0,9}|x{60,200}`, "wide": `-?[0-9]{1,38}`,
}

// csvFaults are values that no type or few types hold.
var csvFaults = []string{"128", "-129", "65536", "2147483648", "9223372036854775808", "18446744073709551616", "1e39", "1e400", "TRUE", "2024-02-30", "10000-01-01", "2024-01-01 24:00", "1900-01-01 10:00:00.5", "0.0001", "1_0", "0x1", "--1", "+", "", "1e", "x", `a"b`, `"a"b`, "1\r", "\n"}

// csvLine draws a row. Some values are null, some in quotes, and of a file with faults some do not fit.
func csvLine(r *rapid.T, columns []string, delimiter string, faults bool) string {
	fields := make([]string, len(columns))
	for i, name := range columns {
		kind := rapid.IntRange(0, 9).Draw(r, "kind of a value")
		if faults && kind == 9 && rapid.IntRange(0, 9).Draw(r, "a fault") == 0 {
			fields[i] = rapid.SampledFrom(csvFaults).Draw(r, "fault")
			continue
		}
		value := ""
		if kind > 0 {
			value = rapid.StringMatching(csvPatterns[name]).Draw(r, name)
		}
		text := name == "text" || name == "large"
		if text && kind == 1 {
			value += rapid.SampledFrom([]string{"\n", "\r\n", "\"\"", delimiter, "\"\"\"\"\n\n"}).Draw(r, "special")
		}
		if kind == 1 || kind < 4 && rapid.Bool().Draw(r, "in quotes") {
			value = `"` + value + `"`
		}
		fields[i] = value
	}
	return strings.Join(fields, delimiter)
}

// csvFile draws a file of typed columns.
func csvFile(r *rapid.T, faults bool) (text string, columns []string, options source.CSVOptions) {
	columns = rapid.SliceOfNDistinct(rapid.SampledFrom(csvColumns), 1, 6, rapid.ID).Draw(r, "columns")
	options = source.CSVOptions{Types: map[string]arrow.DataType{}, Delimiter: rapid.SampledFrom([]rune{0, ';', '\t', '|'}).Draw(r, "delimiter"), InferRows: 1}
	if rapid.Bool().Draw(r, "other nulls") {
		options.Nulls = []string{"NULL", "-", ""}
	}
	for _, name := range columns {
		options.Types[name] = csvTypes[name]
	}
	delimiter := ","
	if options.Delimiter != 0 {
		delimiter = string(options.Delimiter)
	}
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "line end")
	lines := []string{strings.Join(columns, delimiter)}
	for range rapid.IntRange(0, 300).Draw(r, "rows") {
		lines = append(lines, csvLine(r, columns, delimiter, faults))
		if rapid.IntRange(0, 30).Draw(r, "an empty line") == 0 {
			lines = append(lines, "")
		}
	}
	text = strings.Join(lines, end)
	if rapid.Bool().Draw(r, "last line end") {
		text += end
	}
	return text, columns, options
}

// csvOutcome reads a text, and returns all its rows, or the error.
func csvOutcome(tb testing.TB, m *memory.Manager, text string, options source.CSVOptions, stream bool) (arrow.Record, error) {
	records, err := modelRead(tb, m, func() (source.Source, error) {
		if stream {
			return source.CSVReader("text", strings.NewReader(text), options)
		}
		return source.Files{}.CSV([]string{write(tb, []byte(text), tb.TempDir(), "text.csv")}, options)
	})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	rows, columns := int64(0), make([]arrow.Array, records[0].NumCols())
	for i := range columns {
		var parts []arrow.Array
		for _, record := range records {
			parts = append(parts, record.Column(i))
		}
		if columns[i], err = array.Concatenate(parts, arrowmemory.DefaultAllocator); err != nil {
			return nil, err
		}
		rows = int64(columns[i].Len())
	}
	return array.NewRecord(records[0].Schema(), columns, rows), nil
}

// requireSameCSV compares a text on a device with the same text on the host: values, or the error.
func requireSameCSV(t require.TestingT, tb testing.TB, host, m *memory.Manager, text string, options source.CSVOptions) {
	want, wantErr := csvOutcome(tb, host, text, options, true)
	for _, stream := range []bool{true, false} {
		got, err := csvOutcome(tb, m, text, options, stream)
		if wantErr != nil {
			require.Error(t, err, "%q", text)
			_, cause, _ := strings.Cut(wantErr.Error(), "text: ")
			require.ErrorContains(t, err, cause)
			continue
		}
		require.NoError(t, err, "%q", text)
		require.Equal(t, want == nil, got == nil, "%q", text)
		if want == nil {
			continue
		}
		require.True(t, want.Schema().Equal(got.Schema()), "%q", text)
		for i := range want.Columns() { // as texts, which have the signs of zeros, and NaN
			require.Equal(t, want.Column(i).String(), got.Column(i).String(), "%q: column %s", text, want.ColumnName(i))
		}
	}
}

// Random files of typed columns have the same values, or the same error, on devices as on the host.
func TestTypedCSVOnDevices(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			text, _, options := csvFile(r, rapid.Bool().Draw(r, "faults"))
			defer source.SetTexts(true, rapid.SampledFrom([]int{100, 1000, 1 << 20}).Draw(r, "length of texts"), rapid.SampledFrom([]int{7, 64, 1 << 20}).Draw(r, "length of parts"))()
			requireSameCSV(r, t, host, m, text, options)
		})
	})
}

// A file that the host reads has no fault on devices.
func TestCSVWithoutFaults(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		decoded := 0
		property.Check(t, func(r *rapid.T) {
			text, columns, options := csvFile(r, false)
			want, err := csvOutcome(t, host, text, options, true)
			require.NoError(r, err, "%q", text)
			if want == nil {
				return
			}
			layout := delimited.Layout{Delimiter: ',', Width: len(columns), Nulls: []string{"", "NULL", "null"}}
			if options.Delimiter != 0 {
				layout.Delimiter = byte(options.Delimiter)
			}
			if options.Nulls != nil {
				layout.Nulls = options.Nulls
			}
			for i, name := range columns {
				layout.Columns = append(layout.Columns, delimited.Column{Type: csvTypes[name], Place: i})
			}
			rows := []byte(text[strings.IndexByte(text, '\n')+1:])
			got, err := delimited.Decode(t.Context(), m, layout, []delimited.Text{{Bytes: rows, Rows: want.NumRows()}}, delimited.Options{})
			require.NoError(r, err, "%q", text)
			for i, c := range got {
				values, err := c.Array(t.Context())
				require.NoError(r, err)
				require.Equal(r, want.Column(i).String(), values.String(), "%q: column %s", text, columns[i])
				values.Release()
			}
			require.NoError(r, release.All(got))
			decoded++
		})
		require.Positive(t, decoded)
	})
}

// Damaged files give the error of the host, or the values of the host.
func TestDamagedCSVOnDevices(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetTexts(true, 500, 64)()
		property.Check(t, func(r *rapid.T) {
			text, _, options := csvFile(r, false)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			changed := []byte(text)
			begin := strings.IndexByte(text, '\n') + 1
			for range rapid.IntRange(1, 3).Draw(r, "changes") {
				if begin > 0 && begin < len(changed) {
					changed[begin+random.IntN(len(changed)-begin)] = "\"\"\n\r,;\t|x0-."[random.IntN(12)]
				}
			}
			requireSameCSV(r, t, host, m, string(changed), options)
			require.Zero(r, m.Stats().InUse)
		})
	})
}

// manyRows is a file of two columns, with texts of growing length.
func manyRows(rows int) string {
	var text strings.Builder
	text.WriteString("n,text\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,%s\n", i, strings.Repeat("x", i%9))
	}
	return text.String()
}

// Files are read in any budget that suffices for few rows: in smaller tables, or decoded on the host.
func TestCSVInLittleMemory(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		text := manyRows(150_000)
		want, err := csvOutcome(t, host, text, source.CSVOptions{}, true)
		require.NoError(t, err)
		for _, budget := range []uint64{100 << 10, 1 << 20, 4 << 20, 16 << 20} {
			m := devicetest.Manager(t, dev, memory.Options{Budget: budget})
			got, err := csvOutcome(t, m, text, source.CSVOptions{}, false)
			require.NoError(t, err)
			requireSame(t, want, got, fmt.Sprint("budget ", budget))
		}
	})
}

// Tables of few rows, the first rows, and parts for several readers are those of the whole file.
func TestPartsOfCSVOnDevices(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		file := write(t, []byte(manyRows(20_000)), t.TempDir(), "text.csv")
		s, err := source.Files{}.CSV([]string{file}, source.CSVOptions{})
		require.NoError(t, err)
		requests := []source.Request{{BatchRows: 4999}, {Limit: 10_001}, {MostRows: 5003}, {Limit: 12_345, BatchRows: 6000, Columns: []string{"n"}}}
		for _, length := range []int{10_000, 1 << 20} {
			reset := source.SetTexts(true, length, 1000)
			for _, request := range requests {
				rows := int64(20_000)
				if request.Limit > 0 {
					rows = request.Limit
				}
				require.Equal(t, count(0, rows), numbers(t, read(t, s, m, request)), "%+v", request)
			}
			rows := int64(0)
			for _, record := range read(t, s, m, source.Request{Columns: []string{}}) {
				rows += record.NumRows()
			}
			require.EqualValues(t, 20_000, rows)
			parts, err := source.Split(t.Context(), s, []*memory.Manager{m, m}, source.Request{Columns: []string{"n"}, BatchRows: 3000}, nil)
			require.NoError(t, err)
			seen := map[int64]bool{}
			for _, part := range parts {
				for {
					table, err := part.Next(t.Context())
					if errors.Is(err, io.EOF) {
						break
					}
					require.NoError(t, err)
					record, err := table.Record(t.Context())
					require.NoError(t, err)
					_, first := part.Batch()
					for i, n := range numbers(t, []arrow.Record{record}) {
						require.Equal(t, first+int64(i), n)
						seen[n] = true
					}
					require.NoError(t, table.Release())
				}
			}
			for _, part := range parts {
				require.NoError(t, part.Close())
			}
			require.Len(t, seen, 20_000)
			reset()
		}
	})
}

// Folders name values of columns, and files of one folder have other columns each.
func TestFoldersOfCSVOnDevices(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		folder := t.TempDir()
		write(t, []byte("a,b\n1,x\n2,\"y\"\n"), folder, "year=2023", "1.csv")
		write(t, []byte("a,b\n3,z"), folder, "year=2024", "1.csv")
		write(t, []byte("c,a\n0.5,4\n"), folder, "year=2024", "2.csv")
		s, err := source.Files{}.CSV([]string{folder}, source.CSVOptions{})
		require.NoError(t, err)
		assert.Equal(t, `{"a":1,"b":"x","c":null,"year":2023}
{"a":2,"b":"y","c":null,"year":2023}
{"a":3,"b":"z","c":null,"year":2024}
{"a":4,"b":null,"c":0.5,"year":2024}
`, rowsText(t, s, m, source.Request{}))
		damaged := write(t, []byte("a,b\n1,2\n\n\"3\n\",4,5\n"), t.TempDir(), "damaged.csv")
		s, err = source.Files{}.CSV([]string{damaged}, source.CSVOptions{InferRows: 1})
		require.NoError(t, err)
		reader, err := s.Open(t.Context(), m, source.Request{Columns: []string{}})
		require.NoError(t, err)
		_, err = reader.Next(t.Context())
		require.ErrorContains(t, err, "line 4 has the wrong number of fields: 3, expected 2")
		require.NoError(t, reader.Close())
		s, err = source.Files{}.CSV([]string{folder}, source.CSVOptions{})
		require.NoError(t, err)
		assert.Equal(t, "{\"year\":2024}\n{\"year\":2024}\n", rowsText(t, s, m, source.Request{Columns: []string{"year"}, Where: []expr.Expr{expr.Col("year").Eq(expr.Lit(2024))}}))
	})
}
