package source_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// jsonNumbers are numbers of JSON of each type.
var jsonNumbers = map[string]string{
	"i8": `-?[1-9]?[0-9]|-128`, "u16": `[1-9][0-9]{0,3}|65535`, "i32": `-?[1-9][0-9]{0,8}`, "i64": `-?[1-9][0-9]{0,17}|-9223372036854775808`, "u64": `[1-9][0-9]{0,18}`,
	"f32": `-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,12})?([eE][-+]?[012]?[0-9])?`, "f64": `-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,25})?([eE][-+]?1?[0-9]{1,2})?|NaN|-?Infinity`,
	"d32": `-?[1-9][0-9]{0,5}`, "d64": `[1-9][0-9]{0,12}`, "s": `-?[1-9][0-9]{0,10}`, "ns": `-?[1-9][0-9]{0,17}`, "dec": `-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,3}0{0,2})?`, "t32": `[1-9][0-9]{0,6}`, "t64": `[1-9][0-9]{0,12}`, "wide": `-?[1-9][0-9]{0,37}`,
	"text": `-?[1-9][0-9]{0,3}(\.[0-9])?`, "large": `[0-9]|NaN`,
}

// jsonFaults are values that no type or few types hold, and text that is not JSON.
var jsonFaults = []string{"1.5", "-1", "1e400", "128", "65536", "01", "+1", ".5", "1.", "-", "tru", "'a'", `"a`, `"\x"`, `"\u12g4"`, `"1", "i64": 2`, "[1]", `{"a":1}`, `"2024-02-30"`, "\"\t\"", "1 2", "", "nul"}

// jsonValue draws a value of a column.
func jsonValue(r *rapid.T, name string) string {
	switch kind := rapid.IntRange(0, 9).Draw(r, "kind of a value"); {
	case kind == 0:
		return "null"
	case name == "bool":
		return rapid.SampledFrom([]string{"true", "false"}).Draw(r, "bool")
	case kind < 4:
		return rapid.StringMatching(jsonNumbers[name]).Draw(r, "number")
	case name == "text" || name == "large":
		if kind < 6 {
			return `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "é", "\\n", `\"`, `\\`, `\/`, `\u00e9`, `\u20AC`, `\ud83d\ude00`, `\ud800`, `\udc00`, `\u0000`, "\\b\\f\\r\\t", "{", "}", ",", ":"}), 0, 40).Draw(r, "characters"), "") + `"`
		}
		text, _ := json.Marshal(rapid.StringN(0, 20, -1).Draw(r, "text"))
		return string(text)
	case name == "f64" || name == "f32":
		return `"` + rapid.SampledFrom([]string{"nan", "-inf", "1e3", "0.1"}).Draw(r, "word") + `"`
	}
	return `"` + rapid.StringMatching(csvPatterns[name]).Draw(r, name) + `"`
}

// jsonFile draws JSON lines of typed columns.
func jsonFile(r *rapid.T, faults bool) (text string, columns []string, options source.JSONOptions) {
	columns = rapid.SliceOfNDistinct(rapid.SampledFrom(csvColumns), 1, 6, rapid.ID).Draw(r, "columns")
	fields := make([]arrow.Field, len(columns))
	for i, name := range columns {
		fields[i] = arrow.Field{Name: name, Type: csvTypes[name], Nullable: true}
	}
	options.Schema = arrow.NewSchema(fields, nil)
	space := rapid.SampledFrom([]string{"", "", " ", "\t "}).Draw(r, "space")
	var lines []string
	for range rapid.IntRange(0, 150).Draw(r, "rows") {
		order := columns
		if rapid.IntRange(0, 3).Draw(r, "another order") == 0 {
			order = rapid.Permutation(columns).Draw(r, "order")
		}
		var members []string
		for _, name := range order {
			if rapid.IntRange(0, 9).Draw(r, "left out") == 0 {
				continue
			}
			value := jsonValue(r, name)
			if faults && rapid.IntRange(0, 200).Draw(r, "a fault") == 0 {
				value = rapid.SampledFrom(jsonFaults).Draw(r, "fault")
			}
			members = append(members, `"`+name+`"`+space+":"+space+value)
		}
		if rapid.IntRange(0, 9).Draw(r, "another member") == 0 {
			members = append(members, `"other":`+rapid.SampledFrom([]string{"1", `"x\n"`, "null", "true"}).Draw(r, "other"))
		}
		lines = append(lines, space+"{"+space+strings.Join(members, ","+space)+space+"}"+space)
		if faults && rapid.IntRange(0, 40).Draw(r, "a blank line") == 0 {
			lines = append(lines, rapid.SampledFrom([]string{"", " \t", "\u00a0"}).Draw(r, "blank"))
		}
	}
	text = strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "line end"))
	return text + rapid.SampledFrom([]string{"", "\n", "\n\n \n"}).Draw(r, "end"), columns, options
}

// requireSameJSON compares a text on a device with the same text on the host: values, or the error.
func requireSameJSON(t require.TestingT, tb testing.TB, host, m *memory.Manager, text string, options source.JSONOptions) {
	requireSameOutcome(t, text, func(onHost, stream bool) (arrow.Record, error) {
		on := m
		if onHost {
			on = host
		}
		return outcome(tb, on, func() (source.Source, error) {
			if stream {
				return source.JSONReader("text", strings.NewReader(text), options)
			}
			return source.Files{}.JSON([]string{write(tb, []byte(text), tb.TempDir(), "text.jsonl")}, options)
		})
	})
}

// Random JSON lines of typed columns have the same values, or the same error, on devices as on the host.
func TestTypedJSONOnDevices(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			text, _, options := jsonFile(r, rapid.Bool().Draw(r, "faults"))
			if rapid.Bool().Draw(r, "inferred") {
				options = source.JSONOptions{InferRows: rapid.SampledFrom([]int{-1, 5}).Draw(r, "rows to infer from")}
			}
			defer source.SetTexts(true, rapid.SampledFrom([]int{1, 100, 1000, 1 << 20}).Draw(r, "length of texts"), rapid.SampledFrom([]int{1, 7, 64, 1 << 20}).Draw(r, "length of parts"))()
			requireSameJSON(r, t, host, m, text, options)
		})
	})
}

// Random objects of the model are read on devices as well: those with nested members by the host.
func TestRandomJSONOnDevices(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		property.Check(t, func(r *rapid.T) {
			defer source.SetTexts(true, rapid.SampledFrom([]int{1, 10, 1 << 20}).Draw(r, "length of texts"), 3)()
			checkJSON(r, m, t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(jsonTexts), 1, 4).Draw(r, "lines"), "\n"))
		})
	})
}

// Damaged lines give the error of the host, or the values of the host.
func TestDamagedJSONOnDevices(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetTexts(true, 500, 64)()
		property.Check(t, func(r *rapid.T) {
			text, _, options := jsonFile(r, false)
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			changed := []byte(text)
			for range rapid.IntRange(1, 3).Draw(r, "changes") {
				if len(changed) > 0 {
					changed[random.IntN(len(changed))] = "\"\\\n\r,:{}[] 0-.xu"[random.IntN(16)]
				}
			}
			requireSameJSON(r, t, host, m, string(changed), options)
			require.Zero(r, m.Stats().InUse)
		})
	})
}

// Lines that the host reads have no fault on devices.
func TestJSONWithoutFaults(t *testing.T) {
	host := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		decoded := 0
		property.Check(t, func(r *rapid.T) {
			text, columns, options := jsonFile(r, false)
			want, err := outcome(t, host, func() (source.Source, error) { return source.JSONReader("text", strings.NewReader(text), options) })
			require.NoError(r, err, "%q", text)
			if want == nil {
				return
			}
			layout := delimited.Layout{Members: columns}
			for i, name := range columns {
				layout.Columns = append(layout.Columns, delimited.Column{Type: csvTypes[name], Place: i})
			}
			got, err := delimited.Decode(t.Context(), m, layout, []delimited.Text{{Bytes: []byte(strings.TrimSpace(text)), Rows: want.NumRows()}}, delimited.Options{})
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
