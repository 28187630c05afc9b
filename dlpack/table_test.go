//go:build cgo && unix && !(386 || arm)

package dlpack_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

var update = flag.Bool("update", false, "write testdata/support.md again")

const supportFile = "testdata/support.md"

// supported is a line of the table of supported types.
type supported struct {
	dlpack    string
	dataType  cabi.DataType
	arrow     arrow.DataType
	direction string // "both", "import", "export" or "none"
	copied    bool
}

// codeNames are DLPack's names of its type codes, in their order.
var codeNames = []string{
	"int", "uint", "float", "opaque handle", "bfloat", "complex", "bool",
	"float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
	"float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
}

// supportTable tries every type of DLPack and reports the results.
func supportTable(t testing.TB, m *memory.Manager) (table []supported) {
	widths := map[int][]uint8{0: {8, 16, 32, 64}, 1: {8, 16, 32, 64}, 2: {16, 32, 64}, 3: {64}, 4: {16}, 5: {32, 64, 128}, 15: {6}, 16: {6}, 17: {4}}
	for code, name := range codeNames {
		bits := widths[code]
		if bits == nil {
			bits = []uint8{8}
		}
		for _, width := range bits {
			line := supported{dlpack: name, dataType: cabi.DataType{Code: uint8(code), Bits: width, Lanes: 1}}
			if len(bits) > 1 || code == cabi.CodeBfloat {
				line.dlpack = fmt.Sprint(name, width)
			}
			line.try(t, m)
			table = append(table, line)
		}
	}
	return table
}

// try imports a tensor of the type, and exports the column.
func (line *supported) try(t testing.TB, m *memory.Manager) {
	pointer := devicetest.Foreign(t, m.Device(), pattern(256))
	p := cabitest.NewProducer(cabi.Tensor{Data: uintptr(pointer), Device: dlDevice(m.Device()), DataType: line.dataType}, []int64{8}, []int64{1})
	defer p.Free()
	line.direction = "none"
	c, err := dlpack.Import(m, unsafe.Pointer(p.Versioned))
	if err != nil {
		require.ErrorIs(t, err, dlpack.ErrUnsupported)
		return
	}
	line.direction, line.arrow = "import", c.Type()
	tensor, err := dlpack.Export(c)
	if err == nil && tensorOf(tensor).DataType == line.dataType {
		line.direction, line.copied = "both", tensor.Copied()
	}
	require.NoError(t, tensor.Release())
	require.NoError(t, c.Release())
}

// refusals are Arrow's types without a counterpart in DLPack.
func refusals(t testing.TB, m *memory.Manager) (names []string) {
	for _, each := range []struct {
		dataType arrow.DataType
		width    int
	}{
		{arrow.FixedWidthTypes.Date32, 4}, {arrow.FixedWidthTypes.Date64, 8}, {arrow.FixedWidthTypes.Time32ms, 4}, {arrow.FixedWidthTypes.Time64us, 8},
		{arrow.FixedWidthTypes.Timestamp_us, 8}, {arrow.FixedWidthTypes.Duration_us, 8},
		{arrow.FixedWidthTypes.MonthInterval, 4}, {arrow.FixedWidthTypes.DayTimeInterval, 8}, {arrow.FixedWidthTypes.MonthDayNanoInterval, 16},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, 16}, {&arrow.Decimal256Type{Precision: 10, Scale: 2}, 32},
		{&arrow.FixedSizeBinaryType{ByteWidth: 4}, 4},
	} {
		c := newColumn(t, m, column.Data{Type: each.dataType, Length: 4}, nil, pattern(4*each.width))
		_, err := dlpack.Export(c)
		require.ErrorIs(t, err, dlpack.ErrUnsupported)
		require.NoError(t, c.Release())
		names = append(names, each.dataType.Name())
	}
	return names
}

func printSupport(table []supported, refused []string) []byte {
	var b bytes.Buffer
	cell := func(known bool, text string) string {
		if !known {
			return "–"
		}
		return text
	}
	fmt.Fprintln(&b, "| DLPack type (code, bits) | Arrow type | import | export | copied? |")
	fmt.Fprintln(&b, "| --- | --- | --- | --- | --- |")
	for _, line := range table {
		known := line.direction != "none"
		name, copied := "–", "no"
		if known {
			name = fmt.Sprint(line.arrow)
			if extension, ok := line.arrow.(arrow.ExtensionType); ok {
				name = fmt.Sprintf("extension `%s` of %v", extension.ExtensionName(), extension.StorageType())
			}
		}
		if line.copied {
			copied = "yes, bytes to bits and back"
		}
		fmt.Fprintf(&b, "| %s (%d, %d) | %s | %s | %s | %s |\n", line.dlpack, line.dataType.Code, line.dataType.Bits, name,
			cell(known, "yes"), cell(line.direction == "both", "yes"), cell(known, copied))
	}
	fmt.Fprintf(&b, "| N dimensions of any of these, compact, N up to %d | nested fixed_size_list | yes | yes | as the items |\n", cabi.MaximumDimensions)
	fmt.Fprintln(&b, "| 2 dimensions of any of these, each column contiguous | several columns (ImportMatrix, ExportMatrix) | yes | yes | export: not where the columns lie at one distance in one block; booleans always |")
	fmt.Fprintln(&b, "| uint8, 8 elements a byte | the validity bitmap of a column of any type (ExportValidity) | – | yes | no |")
	fmt.Fprintf(&b, "| none | %s; binary, text, variable lists, structs, unions, dictionaries | – | refused | – |\n", strings.Join(refused, ", "))
	return b.Bytes()
}

// The table in the documentation matches the package's behaviour.
func TestSupportTable(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		got := printSupport(supportTable(t, m), refusals(t, m))
		requireNothingHeld(t, m)
		if *update {
			require.NoError(t, os.WriteFile(supportFile, got, 0o644))
		}
		want, err := os.ReadFile(supportFile)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "run go test ./dlpack -run TestSupportTable -update")
		t.Logf("\n%s", got)
	})
}
