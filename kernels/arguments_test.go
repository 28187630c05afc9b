package kernels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

type (
	price   float64
	flag    bool
	small   int8
	decimal [2]uint64
)

// takes is the signature of parameters of these widths.
func takes(widths ...int) signature {
	s := signature{known: true, parameters: []backend.Parameter{}}
	offset := 0
	for _, width := range widths {
		s.parameters = append(s.parameters, backend.Parameter{Offset: offset, Bytes: width})
		offset += width
	}
	return s
}

// bytesOf returns the first n bytes of an argument.
func (a *arguments) bytesOf(i, n int) []byte {
	var memory []byte
	for _, slot := range a.slots[a.starts[i]:] {
		memory = binary.LittleEndian.AppendUint64(memory, slot)
	}
	return memory[:n]
}

func TestPackWidths(t *testing.T) {
	for _, test := range []struct {
		value any
		want  []byte
	}{
		{int8(-2), []byte{0xfe}},
		{uint8(200), []byte{200}},
		{true, []byte{1}},
		{false, []byte{0}},
		{flag(true), []byte{1}},
		{small(-1), []byte{0xff}},
		{int16(-2), []byte{0xfe, 0xff}},
		{uint16(0x1234), []byte{0x34, 0x12}},
		{int32(-2), []byte{0xfe, 0xff, 0xff, 0xff}},
		{uint32(0x12345678), []byte{0x78, 0x56, 0x34, 0x12}},
		{float32(1), []byte{0, 0, 0x80, 0x3f}},
		{int64(-2), []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{uint64(math.MaxUint64), bytes.Repeat([]byte{0xff}, 8)},
		{float64(1), []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{price(1), []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{device.Pointer(0x1000), []byte{0, 0x10, 0, 0, 0, 0, 0, 0}},
		{complex64(complex(1, 0)), []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0}},
		{complex(1, 1), []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{decimal{1, 2}, []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}},
		{[3]uint8{7, 8, 9}, []byte{7, 8, 9}},
		{[2][2]int16{{1, 2}, {3, 4}}, []byte{1, 0, 2, 0, 3, 0, 4, 0}},
		{memory.Slice[float64]{}, make([]byte, 8)},
	} {
		t.Run(fmt.Sprintf("%T", test.value), func(t *testing.T) {
			var a arguments
			values := []any{uint8(1), test.value, uint8(2)}
			require.NoError(t, a.pack(values, takes(1, len(test.want), 1), false))
			assert.Equal(t, test.want, a.bytesOf(1, len(test.want)))
			assert.Equal(t, []byte{1}, a.bytesOf(0, 1))
			assert.Equal(t, []byte{2}, a.bytesOf(2, 1), "the next argument has a slot of its own")
		})
	}
}

func TestPackRefusals(t *testing.T) {
	number := 1
	for _, test := range []struct {
		name   string
		values []any
		takes  signature
		index  int // -1: not the error of one argument
		text   string
	}{
		{"int", []any{uint8(1), 5}, signature{}, 1, "int has no fixed width: convert it to int32 or int64"},
		{"uint", []any{uint(5)}, signature{}, 0, "uint has no fixed width: convert it to uint32 or uint64"},
		{"uintptr", []any{uintptr(5)}, signature{}, 0, "device.Pointer"},
		{"nil", []any{nil}, signature{}, 0, "device.Pointer(0)"},
		{"go slice", []any{[]float32{1}}, signature{}, 0, "[]float32 is memory of the host"},
		{"go pointer", []any{&number}, signature{}, 0, "*int is memory of the host"},
		{"unsafe pointer", []any{unsafe.Pointer(&number)}, signature{}, 0, "memory of the host"},
		{"string", []any{"text"}, signature{}, 0, "string cannot be passed"},
		{"struct", []any{struct{ A, B int32 }{}}, signature{}, 0, "cannot be passed"},
		{"array of int", []any{[2]int{}}, signature{}, 0, "[2]int cannot be passed"},
		{"empty array", []any{[0]int32{}}, signature{}, 0, "[0]int32 cannot be passed"},
		{"too narrow", []any{uint64(1), uint8(1), int32(1)}, takes(8, 1, 8), 2, "argument 2: a value of 4 bytes (int32), expected 8"},
		{"too wide", []any{1.0}, takes(4), 0, "argument 0: a value of 8 bytes (float64), expected 4"},
		{"too few", []any{1.0}, takes(8, 4), -1, "1 arguments, expected 2, of 8, 4 bytes"},
		{"too many", []any{1.0}, takes(), -1, "1 arguments, expected none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a arguments
			err := a.pack(test.values, test.takes, false)
			require.ErrorIs(t, err, device.ErrInvalidValue)
			assert.ErrorContains(t, err, test.text)
			var argument *ArgumentError
			if test.index < 0 {
				assert.NotErrorAs(t, err, &argument)
				return
			}
			require.ErrorAs(t, err, &argument)
			assert.Equal(t, test.index, argument.Index)
		})
	}
}

func TestPackUnknownSignature(t *testing.T) {
	var a arguments
	require.NoError(t, a.pack([]any{int8(1), 2.0}, signature{}, true))
	assert.Equal(t, []uint32{0, 1}, a.starts)
}

func TestPackRawPointers(t *testing.T) {
	var permissive arguments
	require.NoError(t, permissive.pack([]any{device.Pointer(8), device.Pointer(0), device.Pointer(16)}, signature{}, false))
	assert.EqualValues(t, 2, permissive.unrecorded, "a null pointer is no memory")

	var strict arguments
	require.NoError(t, strict.pack([]any{device.Pointer(0)}, signature{}, true))
	err := strict.pack([]any{device.Pointer(8)}, signature{}, true)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	assert.ErrorContains(t, err, "pass the block or a slice of it")
}

func TestPackRegions(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	values, err := memory.NewSlice[uint32](mgr, 16, memory.AllocateOptions{})
	require.NoError(t, err)
	part, err := values.Slice(4, 8)
	require.NoError(t, err)
	none, err := values.Slice(3, 3)
	require.NoError(t, err)
	block := values.Block()

	var a arguments
	require.NoError(t, a.pack([]any{values, int8(1), part, block, none, memory.Slice[int64]{}}, takes(8, 1, 8, 8, 8, 8), true))
	base := uint64(block.Pointer())
	assert.Equal(t, []uint64{base, 1, base + 16, base, 0, 0}, a.slots)
	assert.Equal(t, []region{{index: 0, block: block}}, a.regions)
	assert.Same(t, block.Stream(), a.stream())

	require.NoError(t, a.hold())
	assert.Equal(t, 2, block.References(), "once, however many arguments lie in it")
	require.NoError(t, a.release(nil))
	assert.Equal(t, 1, block.References())

	require.NoError(t, values.Release())
	var argument *ArgumentError
	require.ErrorAs(t, a.hold(), &argument)
	assert.Zero(t, argument.Index)
	require.ErrorIs(t, argument, memory.ErrReleased)
	require.NoError(t, a.release(nil))

	a = arguments{}
	err = a.pack([]any{int8(1), (*memory.Block)(nil)}, signature{}, false)
	require.ErrorIs(t, err, memory.ErrReleased)
	assert.ErrorContains(t, err, "argument 1: ")
}

// TestPackMatchesMemory compares packed arguments with Go's layout of the values, on a
// machine with a GPU's byte order.
func TestPackMatchesMemory(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("this machine's bytes are in the other order")
	}
	value := rapid.OneOf(
		rapid.Bool().AsAny(), rapid.Int8().AsAny(), rapid.Uint8().AsAny(), rapid.Int16().AsAny(), rapid.Uint16().AsAny(),
		rapid.Int32().AsAny(), rapid.Uint32().AsAny(), rapid.Int64().AsAny(), rapid.Uint64().AsAny(),
		rapid.Float32().AsAny(), rapid.Float64().AsAny(),
		rapid.Custom(func(r *rapid.T) any { return price(rapid.Float64().Draw(r, "price")) }),
		rapid.Custom(func(r *rapid.T) any { return device.Pointer(rapid.Uint32().Draw(r, "pointer")) }),
		rapid.Custom(func(r *rapid.T) any { return [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(r, "bytes")) }),
		rapid.Custom(func(r *rapid.T) any { return [4]uint64(rapid.SliceOfN(rapid.Uint64(), 4, 4).Draw(r, "words")) }),
		rapid.Custom(func(r *rapid.T) any { return [3]int16(rapid.SliceOfN(rapid.Int16(), 3, 3).Draw(r, "halves")) }),
		rapid.Custom(func(r *rapid.T) any {
			return complex(rapid.Float64().Draw(r, "real"), rapid.Float64().Draw(r, "imaginary"))
		}),
	)
	property.Check(t, func(r *rapid.T) {
		values := rapid.SliceOfN(value, 0, 20).Draw(r, "values")
		widths := make([]int, len(values))
		for i, v := range values {
			widths[i] = int(reflect.TypeOf(v).Size())
		}
		a := takeArguments() // one that other launches have used
		defer a.giveBack()
		require.NoError(r, a.pack(values, takes(widths...), false))
		require.Len(r, a.starts, len(values))
		for i, v := range values {
			require.Equal(r, memoryOf(v), a.bytesOf(i, widths[i]), "argument %d, %T", i, v)
		}
		if len(values) > 0 { // one byte off in any parameter is noticed
			wrong := rapid.IntRange(0, len(values)-1).Draw(r, "wrong")
			widths[wrong]++
			var b arguments
			var argument *ArgumentError
			require.ErrorAs(r, b.pack(values, takes(widths...), false), &argument)
			require.Equal(r, wrong, argument.Index)
		}
	})
}

// memoryOf returns the bytes of a value without pointers.
func memoryOf(value any) []byte {
	v := reflect.New(reflect.TypeOf(value))
	v.Elem().Set(reflect.ValueOf(value))
	return bytes.Clone(unsafe.Slice((*byte)(v.UnsafePointer()), v.Type().Elem().Size()))
}

// FuzzPack looks for values that are packed at a width other than their type's.
func FuzzPack(f *testing.F) {
	f.Add(uint64(1), 1.5, true, uint8(3))
	f.Fuzz(func(t *testing.T, word uint64, float float64, boolean bool, pick uint8) {
		all := []any{word, uint32(word), uint16(word), uint8(word), int64(word), int32(word), int16(word), int8(word),
			float, float32(float), boolean, [2]uint64{word, ^word}, price(float)}
		first, second := all[int(pick)%len(all)], all[int(pick>>4)%len(all)]
		sizes := takes(int(reflect.TypeOf(first).Size()), int(reflect.TypeOf(second).Size()))
		var a arguments
		require.NoError(t, a.pack([]any{first, second}, sizes, true))
		for i, v := range []any{first, second} {
			require.Equal(t, memoryOf(v), a.bytesOf(i, sizes.parameters[i].Bytes))
		}
	})
}

func BenchmarkPack(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	values, err := memory.NewSlice[float64](mgr, 1024, memory.AllocateOptions{})
	require.NoError(b, err)
	defer values.Release()
	eight := []any{values, values, values, values, uint64(1024), uint64(0), 2.5, uint32(7)}
	signature := takes(8, 8, 8, 8, 8, 8, 8, 4)
	b.ReportAllocs()
	for b.Loop() {
		a := takeArguments()
		if err := a.pack(eight, signature, true); err != nil {
			b.Fatal(err)
		}
		a.giveBack()
	}
}
